// SPDX-License-Identifier: LGPL-2.1-or-later
// The Hough transform on both backends, alone and after Canny, compared with cv::HoughLines and
// cv::HoughLinesP, on a photograph.
#include "cuda/hough/hough.h"

#include <memory>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "cuda/canny/canny.h"
#include "cuda/common/owned_memory.h"
#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"

namespace cudavision::bench {
namespace {

constexpr double kLow = 100, kHigh = 200;  // Canny's thresholds
// Published frames per second of the seed work on 400x400 pixels, including Canny: C on an i7-5500U, OpenCL
// on a GeForce 940M.
constexpr Size kSeedSize{400, 400};
constexpr double kSeedC = 12.9, kSeedOpenCl = 153.7;

enum class Kind { hough, canny_and_hough, segments };

struct Case {
  const Picture *luma;
  Kind kind;
  HoughParams params;
  std::string what;  // without the number of threads

  std::string ours() const { return kind == Kind::canny_and_hough ? "canny+hough" : "hough"; }
  std::string peer() const {
    return kind == Kind::hough      ? "cv::HoughLines"
           : kind == Kind::segments ? "cv::HoughLinesP"
                                    : "cv::Canny+cv::HoughLines";
  }
};

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

cv::Mat mat_of(const Picture &picture) {
  return {picture.height(), picture.width(), CV_8UC1, const_cast<std::uint8_t *>(picture.row(0))};
}

void count_seed(benchmark::State &state, const Case &c) {
  count_frames(state, 0);
  if (c.luma->size() != kSeedSize || c.kind != Kind::canny_and_hough) return;
  const double frames = static_cast<double>(state.iterations());
  state.counters["of the published C"] = benchmark::Counter(frames / kSeedC, benchmark::Counter::kIsRate);
  state.counters["of the published OpenCL"] =
      benchmark::Counter(frames / kSeedOpenCl, benchmark::Counter::kIsRate);
}

// --- OpenCV ---

struct OpenCv {
  cv::Mat edges;
  std::vector<cv::Vec3f> lines;
  std::vector<cv::Vec4i> segments;

  void find_edges(const Case &c) { cv::Canny(mat_of(*c.luma), edges, kLow, kHigh); }
  void run(const Case &c) {
    if (c.kind == Kind::canny_and_hough) find_edges(c);
    if (c.kind == Kind::segments)
      cv::HoughLinesP(edges, segments, c.params.rho, c.params.theta, c.params.threshold, c.params.min_length,
                      c.params.max_gap);
    else
      cv::HoughLines(edges, lines, c.params.rho, c.params.theta, c.params.threshold);
  }
};

void measure_opencv(benchmark::State &state, const Case &c, int threads) {
  cv::setNumThreads(threads);
  OpenCv opencv;
  opencv.find_edges(c);
  state.counters["points"] = cv::countNonZero(opencv.edges);
  for (auto _ : state) {
    opencv.run(c);
    benchmark::ClobberMemory();
  }
  state.counters["found"] = static_cast<double>(opencv.lines.size() + opencv.segments.size());
  count_seed(state, c);
}

// --- this project, on either backend ---

class Ours {
 public:
  Status make(const Execution &execution, const Case &c) {
    execution_ = execution, case_ = c;
    const Size size = c.luma->size();
    CUDAVISION_TRY(luma_.allocate(execution, size));
    CUDAVISION_TRY(edges_.allocate(execution, size));
    CUDAVISION_TRY(
        lines_.allocate(execution, sizeof(HoughLine) * static_cast<std::size_t>(c.params.max_lines)));
    CUDAVISION_TRY(count_.allocate(execution, sizeof(HoughCount)));
    CUDAVISION_TRY(make_canny(execution, size, &canny_));
    CUDAVISION_TRY(make_hough(execution, size, &hough_));
    for (int y = 0; y < size.height; ++y)
      CUDAVISION_TRY(copy_from_host(execution, luma_.view().row(y), c.luma->row(y),
                                    static_cast<std::size_t>(size.width)));
    CUDAVISION_TRY(find_edges());
    return run();
  }
  Status run() {
    if (case_.kind == Kind::canny_and_hough) CUDAVISION_TRY(find_edges());
    return hough_->run(edges_.view(), luma_.view(), case_.params, list());
  }
  // Enqueues the download. `lines` must stay valid until the stream is synchronised.
  Status fetch(std::vector<HoughLine> *lines, HoughCount *count) const {
    lines->resize(static_cast<std::size_t>(case_.params.max_lines));
    CUDAVISION_TRY(copy_to_host(execution_, lines->data(), list().lines, lines->size() * sizeof(HoughLine)));
    return copy_to_host(execution_, count, list().count, sizeof *count);
  }

 private:
  Status find_edges() {
    CannyParams params;
    params.low_threshold = kLow, params.high_threshold = kHigh;
    return canny_->run(luma_.view(), edges_.view(), params);
  }
  HoughList list() const {
    return {static_cast<HoughLine *>(lines_.data()), static_cast<HoughCount *>(count_.data())};
  }

  Execution execution_;
  Case case_;
  OwnedImage luma_, edges_;
  OwnedBytes lines_, count_;
  std::unique_ptr<Canny> canny_;
  std::unique_ptr<Hough> hough_;
};

// Fails the benchmark if the lines differ from OpenCV's.
void check_lines(benchmark::State &state, const Case &c, const std::vector<HoughLine> &lines,
                 const HoughCount &count) {
  state.counters["found"] = count.found;
  if (c.kind == Kind::segments) return;  // OpenCV's definition of segments differs
  OpenCv opencv;
  opencv.find_edges(c);
  opencv.run(c);
  bool same = count.found == static_cast<int>(opencv.lines.size());
  for (std::size_t i = 0; same && i < static_cast<std::size_t>(count.listed); ++i)
    same = lines[i].rho == opencv.lines[i][0] && lines[i].theta == opencv.lines[i][1] &&
           static_cast<float>(lines[i].votes) == opencv.lines[i][2];
  if (!same) state.SkipWithError("the lines are not those of cv::HoughLines");
}

void measure_cpu(benchmark::State &state, const Case &c, int threads) {
  const Workers workers(threads);
  Ours ours;
  std::vector<HoughLine> lines;
  HoughCount count{};
  Status status = ours.make({Backend::cpu, &workers, nullptr}, c);
  if (status.ok()) status = ours.fetch(&lines, &count);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_lines(state, c, lines, count);
  for (auto _ : state) {
    status = ours.run();
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_seed(state, c);
}

void add_cpu(Comparison &comparison, const Case &c) {
  for (const int threads : thread_counts()) {
    const Name peer{c.peer(), with_threads(c.what, threads)},
        ours{c.ours() + "/cpu", with_threads(c.what, threads)};
    comparison.add(peer, Clock::real, [=](benchmark::State &state) { measure_opencv(state, c, threads); });
    comparison.add(ours, Clock::real, [=](benchmark::State &state) { measure_cpu(state, c, threads); });
    // Required for 1080p: at least as fast as OpenCV, with a tolerance for a busy machine.
    const bool wanted = c.kind == Kind::hough && c.luma->height() == 1080;
    comparison.compare(ours, peer, wanted ? 0.9 : 0);
  }
}

#if CUDAVISION_HAVE_CUDA
// All iterations use one frame, which stays in the device's cache, as edges do just after Canny.
void measure_cuda(benchmark::State &state, const Device &device, const Case &c) {
  Ours ours;
  std::vector<HoughLine> lines;
  HoughCount count{};
  Status status = ours.make(device.execution(), c);
  if (status.ok()) status = ours.fetch(&lines, &count);
  if (status.ok()) status = CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(device.execution().stream));
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_lines(state, c, lines, count);
  device.measure(state, static_cast<double>(c.luma->width()) * c.luma->height(),
                 [&](int) { return ours.run(); });
  count_seed(state, c);
}

void add_cuda(Comparison &comparison, const Device &device, const Case &c) {
  const Name ours{c.ours() + "/cuda", c.what};
  comparison.add(ours, Clock::manual,
                 [=, &device](benchmark::State &state) { measure_cuda(state, device, c); });
  for (const int threads : thread_counts())
    comparison.compare(ours, {c.peer(), with_threads(c.what, threads)});
}
#endif

std::vector<Case> make_cases(const Picture &luma) {
  std::vector<Case> cases;
  const std::string size = std::to_string(luma.width()) + "x" + std::to_string(luma.height()) + "/real/";
  for (const double degrees : {1.0, 0.25}) {
    HoughParams params;
    params.theta = degrees * std::numbers::pi / 180;
    params.max_lines = 100000;
    const std::string theta = degrees == 1 ? "theta:1" : "theta:0.25";
    for (const Kind kind : {Kind::hough, Kind::canny_and_hough})
      cases.push_back({&luma, kind, params, size + theta});
    params.mode = HoughMode::segments;
    params.max_lines = 4096;
    if (degrees == 1) cases.push_back({&luma, Kind::segments, params, size + theta + "/segments"});
  }
  return cases;
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<std::unique_ptr<Picture>> pictures;
  std::vector<Case> cases;
  std::string why_not;
  for (const Size size : {kSeedSize, Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    Picture real = real_picture(size, &why_not);
    if (real.size() != size) continue;
    pictures.push_back(std::make_unique<Picture>(std::move(real)));
    for (Case &c : make_cases(*pictures.back())) cases.push_back(std::move(c));
  }
  if (!why_not.empty()) comparison.leave_out("the real picture", why_not);
  for (const Case &c : cases) add_cpu(comparison, c);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Case &c : cases) add_cuda(comparison, device, c);
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
