// SPDX-License-Identifier: LGPL-2.1-or-later
// What a frame costs on the GPU, in device memory: with frames back to back on one stream, and with sixteen
// streams of one context, which fill the idle parts of the card for one another.
//
// "one" enqueues frames as an element does; the host may then be the limit. "replayed" and "sixteen" replay a graph of
// frames on each stream; each stream has an instance, a picture and results of its own.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "cuda/canny/canny.h"
#include "cuda/common/owned_memory.h"
#include "cuda/histogram/histogram.h"
#include "cuda/hog/hog.h"
#include "cuda/hough/hough.h"
#include "cuda/localhist/localhist.h"
#include "cuda/sigma2kp/sigma2kp.h"
#include "tests/bench/harness/device.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

constexpr int kStreams = 16;
// Even, because Hough uses two counters in turn: each replay of a graph must begin with the same one.
constexpr int kFramesOfGraph = 8;
constexpr double kSeconds = 0.1;  // of each measurement
constexpr Size k400{400, 400}, k432{768, 432}, k720{1280, 720}, k1080{1920, 1080};

// An instance of an algorithm with its picture and results. run() enqueues a frame.
class Work {
 public:
  virtual ~Work() = default;
  virtual Status make(const Execution &execution) = 0;
  virtual Status run() = 0;
};

Picture picture_of(Size size) {
  std::string why_not;
  Picture picture = real_picture(size, &why_not);
  if (picture.size() == size) return picture;
  std::fprintf(stderr, "smooth noise instead of a real picture: %s\n", why_not.c_str());
  return test::smooth_noise(size, 3, 1);
}

Status upload(const Execution &execution, Size size, OwnedImage *image) {
  CUDAVISION_TRY(image->allocate(execution, size));
  const Picture picture = picture_of(size);
  for (int y = 0; y < size.height; ++y)
    CUDAVISION_TRY(copy_from_host(execution, image->view().row(y), picture.row(y),
                                  static_cast<std::size_t>(size.width)));
  return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(execution.stream));
}

class CannyWork final : public Work {
 public:
  explicit CannyWork(Size size, CannyParams params = {}) : size_(size), params_(params) {}
  Status make(const Execution &execution) override {
    CUDAVISION_TRY(upload(execution, size_, &luma_));
    CUDAVISION_TRY(edges_.allocate(execution, size_));
    return make_canny(execution, size_, &canny_);
  }
  Status run() override { return canny_->run(luma_.view(), edges_.view(), params_, Input::complete); }
  ImageView<const std::uint8_t> luma() const { return luma_.view(); }
  ImageView<const std::uint8_t> edges() const { return edges_.view(); }

 private:
  Size size_;
  CannyParams params_;
  OwnedImage luma_, edges_;
  std::unique_ptr<Canny> canny_;
};

class HistogramWork final : public Work {
 public:
  Status make(const Execution &execution) override {
    CUDAVISION_TRY(upload(execution, k1080, &luma_));
    CUDAVISION_TRY(counts_.allocate(execution, kMaxBins * sizeof(std::uint32_t)));
    return make_histogram(execution, &histogram_);
  }
  Status run() override {
    return histogram_->run(luma_samples(luma_.view()), {}, static_cast<std::uint32_t *>(counts_.data()),
                           Input::complete);
  }

 private:
  OwnedImage luma_;
  OwnedBytes counts_;
  std::unique_ptr<Histogram> histogram_;
};

class LocalHistWork final : public Work {
 public:
  LocalHistWork(Size size, const LocalHistParams &params) : size_(size), params_(params) {}
  Status make(const Execution &execution) override {
    LocalHistShape shape;
    CUDAVISION_TRY(shape_of(size_, params_, &shape));
    CUDAVISION_TRY(upload(execution, size_, &luma_));
    CUDAVISION_TRY(histograms_.allocate(execution, shape.histogram_bytes));
    return make_localhist(execution, size_, params_, &localhist_);
  }
  Status run() override {
    return localhist_->run(luma_.view(), {.histograms = histograms_.data()}, nullptr, Input::complete);
  }

 private:
  Size size_;
  LocalHistParams params_;
  OwnedImage luma_;
  OwnedBytes histograms_;
  std::unique_ptr<LocalHist> localhist_;
};

// The Hough transform of Canny's edges. with_canny: each frame includes Canny; otherwise Canny runs once, in make().
class HoughWork final : public Work {
 public:
  HoughWork(Size size, const HoughParams &params, bool with_canny)
      : size_(size),
        params_(params),
        with_canny_(with_canny),
        canny_(size, {.low_threshold = 100, .high_threshold = 200}) {}
  Status make(const Execution &execution) override {
    CUDAVISION_TRY(canny_.make(execution));
    CUDAVISION_TRY(canny_.run());
    CUDAVISION_TRY(
        lines_.allocate(execution, sizeof(HoughLine) * static_cast<std::size_t>(params_.max_lines)));
    CUDAVISION_TRY(count_.allocate(execution, sizeof(HoughCount)));
    return make_hough(execution, size_, &hough_);
  }
  Status run() override {
    if (with_canny_) CUDAVISION_TRY(canny_.run());
    return hough_->run(canny_.edges(), canny_.luma(), params_,
                       {static_cast<HoughLine *>(lines_.data()), static_cast<HoughCount *>(count_.data())});
  }

 private:
  Size size_;
  HoughParams params_;
  bool with_canny_;
  CannyWork canny_;
  OwnedBytes lines_, count_;
  std::unique_ptr<Hough> hough_;
};

class Sigma2KpWork final : public Work {
 public:
  explicit Sigma2KpWork(bool orientation) { params_.orientation = orientation; }
  Status make(const Execution &execution) override {
    CUDAVISION_TRY(upload(execution, k1080, &luma_));
    CUDAVISION_TRY(
        list_.allocate(execution, sizeof(Sigma2Keypoint) * static_cast<std::size_t>(params_.max_keypoints)));
    CUDAVISION_TRY(count_.allocate(execution, sizeof(Sigma2KpCount)));
    return make_sigma2kp(execution, k1080, &detector_);
  }
  Status run() override {
    return detector_->run(
        luma_.view(), params_,
        {static_cast<Sigma2Keypoint *>(list_.data()), static_cast<Sigma2KpCount *>(count_.data())},
        Input::complete);
  }

 private:
  Sigma2KpParams params_;
  OwnedImage luma_;
  OwnedBytes list_, count_;
  std::unique_ptr<Sigma2Kp> detector_;
};

// Blocks of a frame in BGR, as in a video of that format.
class HogWork final : public Work {
 public:
  explicit HogWork(Size size) : size_(size), pitch_(divide_up(3 * size.width, 4) * 4) {}
  Status make(const Execution &execution) override {
    std::string why_not;
    std::vector<std::uint8_t> frame = real_frame("BGR", size_, &why_not);
    frame.resize(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(size_.height));
    CUDAVISION_TRY(bytes_.allocate(execution, frame.size()));
    CUDAVISION_TRY(copy_from_host(execution, bytes_.data(), frame.data(), frame.size()));
    CUDAVISION_TRY_CUDA(cudaStreamSynchronize(execution.stream));
    HogShape shape;
    CUDAVISION_TRY(hog_shape(size_, {}, &shape));
    CUDAVISION_TRY(blocks_.allocate(execution, shape.count() * sizeof(float)));
    return make_hog(execution, size_, 3, {}, &hog_);
  }
  Status run() override {
    HogPicture picture{3, size_.width, size_.height, {}};
    for (int c = 0; c < 3; ++c)
      picture.component[c] = {static_cast<std::uint8_t *>(bytes_.data()) + 2 - c, pitch_, 3, 0, 0};
    return hog_->run(picture, static_cast<float *>(blocks_.data()), Input::complete);
  }

 private:
  Size size_;
  int pitch_;
  OwnedBytes bytes_, blocks_;
  std::unique_ptr<Hog> hog_;
};

// --- measurements ---

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Measures the seconds of one call of frames(), which enqueues work. It is called repeatedly for at least kSeconds; the
// device is synchronised before the first call and after the last one.
template <typename Frames>
Status measure(const Frames &frames, double *seconds) {
  for (int repetitions = 1;; repetitions *= 2) {
    CUDAVISION_TRY_CUDA(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repetitions; ++i) CUDAVISION_TRY(frames());
    CUDAVISION_TRY_CUDA(cudaDeviceSynchronize());
    *seconds = seconds_since(start) / repetitions;
    if (*seconds * repetitions >= kSeconds) return {};
  }
}

// A stream with its work and the graph of kFramesOfGraph frames.
class Lane {
 public:
  Lane() = default;
  ~Lane() {
    work_.reset();
    if (graph_ != nullptr) (void)cudaGraphExecDestroy(graph_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  Status make(std::unique_ptr<Work> work) {
    work_ = std::move(work);
    CUDAVISION_TRY_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CUDAVISION_TRY(work_->make({Backend::cuda, nullptr, stream_}));
    // Twice before the capture, so that everything is allocated.
    for (int i = 0; i < 2; ++i) CUDAVISION_TRY(work_->run());
    CUDAVISION_TRY_CUDA(cudaStreamSynchronize(stream_));
    CUDAVISION_TRY_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    Status status;
    for (int i = 0; i < kFramesOfGraph && status.ok(); ++i) status = work_->run();
    cudaGraph_t graph = nullptr;
    CUDAVISION_TRY_CUDA(cudaStreamEndCapture(stream_, &graph));
    if (status.ok()) status = CUDAVISION_CHECK_CUDA(cudaGraphInstantiate(&graph_, graph, 0));
    (void)cudaGraphDestroy(graph);
    return status;
  }
  Status run() { return work_->run(); }
  Status replay() { return CUDAVISION_CHECK_CUDA(cudaGraphLaunch(graph_, stream_)); }

 private:
  std::unique_ptr<Work> work_;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

struct Row {
  std::string name;
  std::function<std::unique_ptr<Work>()> make;
  bool sixteen = true;
};

struct Times {
  double one = 0, replayed = 0, sixteen = 0;  // seconds a frame
};

Status measure_row(const Row &row, Times *times) {
  std::vector<Lane> lanes(row.sixteen ? kStreams : 1);
  for (Lane &lane : lanes) CUDAVISION_TRY(lane.make(row.make()));
  const auto one_graph = [&] { return lanes[0].replay(); };
  CUDAVISION_TRY(measure(one_graph, &times->replayed));
  times->replayed /= kFramesOfGraph;
  if (row.sixteen) {
    const auto all_graphs = [&]() -> Status {
      for (Lane &lane : lanes) CUDAVISION_TRY(lane.replay());
      return {};
    };
    CUDAVISION_TRY(measure(all_graphs, &times->sixteen));
    times->sixteen /= kStreams * kFramesOfGraph;
  }
  // Measured last: after an odd number of frames, the graphs would use the wrong one of Hough's two counters.
  const auto one_frame = [&] { return lanes[0].run(); };
  return measure(one_frame, &times->one);
}

LocalHistParams gradients(int window, int bins) {
  LocalHistParams params;
  params.window = {window, window}, params.bins = bins;
  return params;
}

// The parameters of hough_bench.
HoughParams lines(double degrees, HoughMode mode = HoughMode::lines) {
  HoughParams params;
  params.theta = degrees * std::numbers::pi / 180, params.mode = mode;
  params.max_lines = mode == HoughMode::lines ? 100000 : 4096;
  return params;
}

std::vector<Row> rows() {
  std::vector<Row> rows{{"canny 1920x1080", [] { return std::make_unique<CannyWork>(k1080); }},
                        {"histogram luma 1920x1080", [] { return std::make_unique<HistogramWork>(); }}};
  const auto add_localhist = [&](const std::string &name, Size size, const LocalHistParams &params,
                                 bool sixteen) {
    rows.push_back(
        {"localhist " + name, [=] { return std::make_unique<LocalHistWork>(size, params); }, sixteen});
  };
  for (const int window : {8, 16, 32, 256})
    add_localhist("1280x720 9 bins window " + std::to_string(window), k720, gradients(window, 9), true);
  for (const int bins : {30, 60, 90})
    add_localhist("1280x720 " + std::to_string(bins) + " bins window 16", k720, gradients(16, bins), true);
  LocalHistParams brightness = gradients(16, 256);
  brightness.feature = LocalHistFeature::brightness;
  add_localhist("brightness 1920x1080 256 bins", k1080, brightness, false);
  const auto add_hough = [&](const std::string &name, Size size, const HoughParams &params, bool with_canny) {
    rows.push_back({"hough " + name, [=] { return std::make_unique<HoughWork>(size, params, with_canny); }});
  };
  add_hough("lines 1920x1080 1 degree", k1080, lines(1), false);
  add_hough("lines 1920x1080 0.25 degrees", k1080, lines(0.25), false);
  add_hough("segments 1920x1080 1 degree", k1080, lines(1, HoughMode::segments), false);
  add_hough("canny and lines 400x400", k400, lines(1), true);
  for (const bool oriented : {false, true})
    rows.push_back({oriented ? "sigma2kp 1920x1080 oriented" : "sigma2kp 1920x1080",
                    [=] { return std::make_unique<Sigma2KpWork>(oriented); }});
  rows.push_back({"hog blocks 1920x1080", [] { return std::make_unique<HogWork>(k1080); }});
  rows.push_back({"hog blocks 768x432", [] { return std::make_unique<HogWork>(k432); }});
  return rows;
}

// argv[1], if given: only rows whose name contains this text are measured.
int run(int argc, char **argv) {
  std::string why_not;
  const std::unique_ptr<Device> device = Device::find(&why_not);
  if (device == nullptr) {
    std::printf("skipped: %s\n", why_not.c_str());
    return 77;
  }
  std::printf("%s, copies of the device %.2f TB/s\n%-40s %10s %10s %10s\n", device->name().c_str(),
              device->copy_bandwidth() / 1e12, "us a frame", "one", "replayed", "sixteen");
  int failed = 0;
  for (const Row &row : rows()) {
    if (argc > 1 && row.name.find(argv[1]) == std::string::npos) continue;
    Times times;
    const Status status = measure_row(row, &times);
    if (status.ok())
      std::printf("%-40s %10.2f %10.2f %10.2f\n", row.name.c_str(), 1e6 * times.one, 1e6 * times.replayed,
                  1e6 * times.sixteen);
    else
      std::printf("%-40s failed: %s\n", row.name.c_str(), status.text().c_str()), ++failed;
    std::fflush(stdout);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
