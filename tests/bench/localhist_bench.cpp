// SPDX-License-Identifier: LGPL-2.1-or-later
// Local histograms of gradients on both backends, compared with published times and with OpenCV's box
// filters, which compute the same numbers.
#include "cuda/localhist/localhist.h"

#include <cstdio>
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "cuda/gradient/gradient_cpu.h"
#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

constexpr Size kSize{1280, 720};

// Published times: "Algorithm of fast computation of local image histograms on video card" (2019), its table.
// Milliseconds per frame of 1280x720, without copies; one case is also given for a Core i7-6700.
struct Published {
  int window, bins;
  double gtx1050_ms, gtx1060_ms;
};
constexpr Published kPublished[] = {
    {8, 9, 2.6, 1.5},     {16, 9, 3.0, 1.7},     {32, 9, 3.2, 1.8},     {128, 9, 3.3, 1.8},
    {256, 9, 3.2, 1.9},   {8, 30, 12.3, 6.9},    {16, 30, 14.2, 7.5},   {32, 30, 15.2, 7.7},
    {128, 30, 14.3, 7.1}, {256, 30, 11.9, 5.9},  {8, 60, 24.8, 14.0},   {16, 60, 26.3, 14.7},
    {32, 60, 27.0, 14.9}, {128, 60, 25.0, 13.7}, {256, 60, 19.6, 10.8}, {8, 90, 45.2, 25.1},
    {16, 90, 46.1, 27.5}, {32, 90, 46.5, 28.0},  {128, 90, 42.3, 26.6}, {256, 90, 34.8, 21.3}};
constexpr Published kOnCpu{256, 9, 0, 0};
constexpr double kCorei7Ms = 151;

struct Case {
  const Picture *picture;
  LocalHistParams params;
  LocalHistShape shape;

  Case(const Picture &gray, int window, int bins) : picture(&gray) {
    params.window = {window, window};
    params.bins = bins;
    if (!shape_of(gray.size(), params, &shape).ok()) std::abort();  // the table's cases are valid
  }
  std::string what() const {
    return "1280x720/window:" + std::to_string(params.window.width) + "/bins:" + std::to_string(params.bins);
  }
  double bytes() const {
    return static_cast<double>(picture->pixels().size()) + static_cast<double>(shape.histogram_bytes);
  }
  std::uint32_t count(const std::vector<std::uint8_t> &histograms, std::size_t i) const {
    if (shape.element == LocalHistElementType::u32) {
      std::uint32_t value;
      std::memcpy(&value, histograms.data() + 4 * i, sizeof value);
      return value;
    }
    std::uint16_t value;
    std::memcpy(&value, histograms.data() + 2 * i, sizeof value);
    return value;
  }
};

Name cpu_name(const Case &c, int threads) {
  return {"localhist/cpu", c.what() + "/threads:" + std::to_string(threads)};
}
Name cuda_name(const Case &c) { return {"localhist/cuda", c.what()}; }

// Computes the same histograms with a box filter of each bin's map: planes of int32 whose element (x, y) is
// the window that begins there.
void box_filter(const Case &c, const std::vector<cv::Mat> &maps, std::vector<cv::Mat> *planes) {
  const cv::Size window(c.params.window.width, c.params.window.height);
  for (std::size_t bin = 0; bin < maps.size(); ++bin)
    cv::boxFilter(maps[bin], (*planes)[bin], CV_32S, window, cv::Point(0, 0), false);
}

std::vector<cv::Mat> maps_of_bins(const Case &c) {
  std::vector<cv::Mat> maps;
  for (int bin = 0; bin < c.params.bins; ++bin)
    maps.push_back(cv::Mat::zeros(kSize.height, kSize.width, CV_8U));
  GradientRow row(kSize.width);
  const OrientationTable table = make_orientation_table(c.params.bins);
  for (int y = 0; y < kSize.height; ++y) {
    row.compute(view_of(*c.picture), y, c.params.op);
    row.compute_bins(table);
    for (int x = 0; x < kSize.width; ++x)
      if (row.bin()[x] >= 0) maps[static_cast<std::size_t>(row.bin()[x])].at<std::uint8_t>(y, x) = 1;
  }
  return maps;
}

// Fails the benchmark if the counts differ from OpenCV's.
void check_counts(benchmark::State &state, const Case &c, const std::vector<std::uint8_t> &histograms) {
  const std::vector<cv::Mat> maps = maps_of_bins(c);
  std::vector<cv::Mat> planes(maps.size());
  box_filter(c, maps, &planes);
  std::size_t i = 0;
  for (int row = 0; row < c.shape.rows; ++row)
    for (int col = 0; col < c.shape.cols; ++col)
      for (const cv::Mat &plane : planes)
        if (c.count(histograms, i++) != static_cast<std::uint32_t>(plane.at<int>(row, col)))
          return state.SkipWithError("the counts are not those of cv::boxFilter");
}

void measure_opencv(benchmark::State &state, const Case &c, int threads) {
  cv::setNumThreads(threads);
  const std::vector<cv::Mat> maps = maps_of_bins(c);
  std::vector<cv::Mat> planes(maps.size());
  box_filter(c, maps, &planes);  // allocates them
  for (auto _ : state) {
    box_filter(c, maps, &planes);
    benchmark::ClobberMemory();
  }
  count_frames(state, c.bytes());
}

void measure_cpu(benchmark::State &state, const Case &c, int threads) {
  const Workers workers(threads);
  std::unique_ptr<LocalHist> histogram;
  std::vector<std::uint8_t> histograms(c.shape.histogram_bytes);
  const LocalHistOutput output{histograms.data(), nullptr, nullptr};
  Status status = make_localhist({Backend::cpu, &workers, nullptr}, kSize, c.params, &histogram);
  if (status.ok()) status = histogram->run(view_of(*c.picture), output, nullptr);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_counts(state, c, histograms);
  for (auto _ : state) {
    status = histogram->run(view_of(*c.picture), output, nullptr);
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, c.bytes());
}

void add_cpu(Comparison &comparison, const Case &c) {
  for (const int threads : thread_counts()) {
    const Name ours = cpu_name(c, threads), peer{"cv::boxFilter of each bin", ours.what};
    comparison.add(ours, Clock::real, [=](benchmark::State &state) { measure_cpu(state, c, threads); });
    if (c.params.bins != 9) continue;
    comparison.add(peer, Clock::real, [=](benchmark::State &state) { measure_opencv(state, c, threads); });
    comparison.compare(ours, peer);
  }
}

#if CUDAVISION_HAVE_CUDA
void measure_cuda(benchmark::State &state, const Device &device, const Case &c) {
  std::unique_ptr<LocalHist> histogram;
  std::vector<DeviceImage<std::uint8_t>> images;
  DeviceBuffer<std::uint8_t> histograms;
  std::vector<std::uint8_t> bytes;
  LocalHistOutput output;
  const auto prepare = [&]() -> Status {
    CUDAVISION_TRY(device.upload(*c.picture, device.frames_beyond_cache(c.bytes()), &images));
    CUDAVISION_TRY(histograms.allocate(c.shape.histogram_bytes));
    output.histograms = histograms.data();
    CUDAVISION_TRY(make_localhist(device.execution(), kSize, c.params, &histogram));
    CUDAVISION_TRY(histogram->run(images.front().view(), output, nullptr));
    const int row_bytes = static_cast<int>(c.shape.histogram_bytes / static_cast<std::size_t>(c.shape.rows));
    return device.download({histograms.data(), row_bytes, row_bytes, c.shape.rows}, &bytes);
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  check_counts(state, c, bytes);
  device.measure(state, c.bytes(), [&](int i) {
    return histogram->run(images[static_cast<std::size_t>(i) % images.size()].view(), output, nullptr);
  });
}
#endif

// Prints a time in ms and its speed relative to the published time.
void print_cell(std::optional<double> seconds, double published_ms) {
  if (!seconds) return void(std::printf(" | %17s", ""));
  if (published_ms > 0)
    std::printf(" | %8.3f (%5.1fx)", 1e3 * *seconds, published_ms / (1e3 * *seconds));
  else
    std::printf(" | %8.3f %8s", 1e3 * *seconds, "");
}

void print_table(const Comparison &comparison, const std::vector<Case> &cases) {
  std::printf(
      "\nms a frame of 1280x720 beside the published ones; (x): the published time / ours, of the GTX 1060 "
      "for\n"
      "CUDA, of the Core i7-6700 for the CPU\nwindow   bins | GTX 1050 | GTX 1060 | i7-6700 | %17s",
      "CUDA");
  for (const int threads : thread_counts()) std::printf(" | %9d threads", threads);
  std::printf("\n");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Published &p = kPublished[i];
    const bool on_cpu = p.window == kOnCpu.window && p.bins == kOnCpu.bins;
    std::printf("%3dx%-3d %5d | %8.1f | %8.1f | %7s", p.window, p.window, p.bins, p.gtx1050_ms, p.gtx1060_ms,
                on_cpu ? "151" : "");
    print_cell(comparison.seconds(cuda_name(cases[i])), p.gtx1060_ms);
    for (const int threads : thread_counts())
      print_cell(comparison.seconds(cpu_name(cases[i], threads)), on_cpu ? kCorei7Ms : 0);
    std::printf("\n");
  }
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::string why_not;
  Picture picture = real_picture(kSize, &why_not);
  if (picture.size() != kSize) {
    comparison.leave_out("the real picture", why_not + "; smooth noise instead");
    picture = test::smooth_noise(kSize, 3, 1);
  }
  std::vector<Case> cases;
  for (const Published &p : kPublished) cases.emplace_back(picture, p.window, p.bins);
  for (const Case &c : cases) add_cpu(comparison, c);
  const int status = run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Case &c : cases)
      comparison.add(cuda_name(c), Clock::manual,
                     [c, &device](benchmark::State &state) { measure_cuda(state, device, c); });
  });
  print_table(comparison, cases);
  return status;
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
