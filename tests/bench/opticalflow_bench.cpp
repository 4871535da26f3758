// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow on both backends, compared with OpenCV's PyrLK, Farneback and DIS, on known
// motion. Each row states the average endpoint error, because speed alone is not comparable.
#include "cuda/opticalflow/opticalflow.h"

#include <cmath>
#include <functional>
#include <opencv2/video/tracking.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/motion.h"

namespace cudavision::bench {
namespace {

// Two frames, which are used alternately, and the motion from the first to the second.
struct Scene {
  Picture frames[2];
  test::Motion motion;
  std::string what;

  Size size() const { return frames[0].size(); }
};

struct Variant {
  std::string name;
  OpticalFlowParams params;
};

std::vector<Variant> variants() {
  Variant dense{"dense", {}}, sparse{"stride8", {}}, fast{"fast", {}};
  sparse.params.stride = 8;
  apply_preset(OpticalFlowPreset::fast, &fast.params);
  return {dense, sparse, fast};
}

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

// The mean distance of the vectors from the true motion, without the borders of the picture.
class EndpointError {
 public:
  explicit EndpointError(const Scene &scene) : scene_(scene) {}
  void add(float x, float y, FlowVector d) {
    constexpr float kBorder = 20;
    if (x < kBorder || y < kBorder || x >= static_cast<float>(scene_.size().width) - kBorder ||
        y >= static_cast<float>(scene_.size().height) - kBorder)
      return;
    const FlowVector exact = scene_.motion.at(x, y);
    sum_ += std::hypot(double{d.x} - exact.x, double{d.y} - exact.y);
    ++count_;
  }
  void report(benchmark::State &state) const { state.counters["error px"] = sum_ / count_; }

 private:
  const Scene &scene_;
  double sum_ = 0, count_ = 0;
};

void report_error(benchmark::State &state, const Scene &scene, int stride, Size size,
                  const std::vector<FlowVector> &vectors, const std::vector<std::uint8_t> &valid) {
  EndpointError error(scene);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x);
      if (valid[at] != 0)
        error.add(static_cast<float>(x * stride), static_cast<float>(y * stride), vectors[at]);
    }
  error.report(state);
}

// Minimum traffic: the frame is read, and vectors and their validity are written.
double bytes_per_frame(const Scene &scene, int stride) {
  const Size size = flow_size(scene.size(), stride);
  return 1.0 * scene.size().width * scene.size().height + 9.0 * size.width * size.height;
}

void measure_cpu(benchmark::State &state, const Scene &scene, const OpticalFlowParams &params, int threads) {
  const Workers workers(threads);
  const Size size = flow_size(scene.size(), params.stride);
  std::vector<FlowVector> vectors(static_cast<std::size_t>(size.width) *
                                  static_cast<std::size_t>(size.height));
  std::vector<std::uint8_t> valid(vectors.size());
  const ImageView<FlowVector> vector_view{
      vectors.data(), size.width * static_cast<std::ptrdiff_t>(sizeof(FlowVector)), size.width, size.height};
  const ImageView<std::uint8_t> valid_view{valid.data(), size.width, size.width, size.height};
  std::unique_ptr<OpticalFlow> flow;
  Status status = make_opticalflow({Backend::cpu, &workers, nullptr}, scene.size(), &flow);
  const auto run = [&](int i) {
    if (status.ok()) status = flow->run(view_of(scene.frames[i % 2]), params, vector_view, valid_view);
  };
  run(0);
  run(1);
  if (status.ok()) report_error(state, scene, params.stride, size, vectors, valid);
  int i = 0;
  for (auto _ : state) run(i++);
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, bytes_per_frame(scene, params.stride));
}

// --- OpenCV ---

cv::Mat mat_of(const Picture &picture) {
  return cv::Mat(picture.height(), picture.width(), CV_8UC1, const_cast<std::uint8_t *>(picture.row(0)));
}

// PyrLK with its default parameters, which are also this element's, at every 8th pixel.
void measure_pyrlk(benchmark::State &state, const Scene &scene, int threads) {
  cv::setNumThreads(threads);
  std::vector<cv::Point2f> from, to;
  std::vector<std::uint8_t> status;
  for (int y = 0; y < scene.size().height; y += 8)
    for (int x = 0; x < scene.size().width; x += 8)
      from.emplace_back(static_cast<float>(x), static_cast<float>(y));
  const auto run = [&](int i) {
    cv::calcOpticalFlowPyrLK(mat_of(scene.frames[i % 2]), mat_of(scene.frames[1 - i % 2]), from, to, status,
                             cv::noArray());
  };
  run(0);
  EndpointError error(scene);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (status[i] != 0) error.add(from[i].x, from[i].y, {to[i].x - from[i].x, to[i].y - from[i].y});
  error.report(state);
  int i = 0;
  for (auto _ : state) run(i++);
  count_frames(state, 0);
}

using DenseFlow = std::function<void(const cv::Mat &first, const cv::Mat &second, cv::Mat &flow)>;

void measure_dense(benchmark::State &state, const Scene &scene, int threads, const DenseFlow &estimate) {
  cv::setNumThreads(threads);
  cv::Mat flow;
  const auto run = [&](int i) {
    estimate(mat_of(scene.frames[i % 2]), mat_of(scene.frames[1 - i % 2]), flow);
  };
  run(0);
  EndpointError error(scene);
  for (int y = 0; y < flow.rows; ++y)
    for (int x = 0; x < flow.cols; ++x) {
      const cv::Vec2f d = flow.at<cv::Vec2f>(y, x);
      error.add(static_cast<float>(x), static_cast<float>(y), {d[0], d[1]});
    }
  error.report(state);
  int i = 0;
  for (auto _ : state) run(i++);
  count_frames(state, 0);
}

void farneback(const cv::Mat &first, const cv::Mat &second, cv::Mat &flow) {
  cv::calcOpticalFlowFarneback(first, second, flow, 0.5, 4, 21, 3, 5, 1.1, 0);
}

void add_cpu(Comparison &comparison, const Scene &scene) {
  for (const int threads : thread_counts()) {
    const std::string what = with_threads(scene.what, threads);
    const Name pyrlk{"cv::calcOpticalFlowPyrLK, every 8th pixel", what},
        dense{"cv::calcOpticalFlowFarneback", what}, dis{"cv::DISOpticalFlow", what};
    comparison.add(pyrlk, Clock::real, [=, &scene](auto &state) { measure_pyrlk(state, scene, threads); });
    comparison.add(dense, Clock::real,
                   [=, &scene](auto &state) { measure_dense(state, scene, threads, farneback); });
    comparison.add(dis, Clock::real, [=, &scene](auto &state) {
      const cv::Ptr<cv::DISOpticalFlow> estimator = cv::DISOpticalFlow::create();
      measure_dense(state, scene, threads, [&](const cv::Mat &first, const cv::Mat &second, cv::Mat &flow) {
        estimator->calc(first, second, flow);
      });
    });
    for (const Variant &v : variants())
      comparison.add({"opticalflow/cpu/" + v.name, what}, Clock::real,
                     [=, &scene](auto &state) { measure_cpu(state, scene, v.params, threads); });
    const Name own{"opticalflow/cpu/dense", what};
    comparison.compare(own, dense);
    comparison.compare(own, dis);
    comparison.compare({"opticalflow/cpu/stride8", what}, pyrlk);
    comparison.compare({"opticalflow/cpu/fast", what}, dis);
  }
}

#if CUDAVISION_HAVE_CUDA
// Vectors and validity on the device.
struct DeviceFlow {
  DeviceBuffer<FlowVector> vectors;
  DeviceBuffer<std::uint8_t> valid;
  Size size;

  Status allocate(Size flow) {
    size = flow;
    const auto count = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    CUDAVISION_TRY(vectors.allocate(count));
    return valid.allocate(count);
  }
  ImageView<FlowVector> vector_view() const {
    return {vectors.data(), size.width * static_cast<std::ptrdiff_t>(sizeof(FlowVector)), size.width,
            size.height};
  }
  ImageView<std::uint8_t> valid_view() const { return {valid.data(), size.width, size.width, size.height}; }
  Status download(const Execution &execution, std::vector<FlowVector> *xy,
                  std::vector<std::uint8_t> *ok) const {
    xy->resize(vectors.count()), ok->resize(valid.count());
    CUDAVISION_TRY_CUDA(cudaMemcpyAsync(xy->data(), vectors.data(), xy->size() * sizeof(FlowVector),
                                        cudaMemcpyDeviceToHost, execution.stream));
    CUDAVISION_TRY_CUDA(
        cudaMemcpyAsync(ok->data(), valid.data(), ok->size(), cudaMemcpyDeviceToHost, execution.stream));
    return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(execution.stream));
  }
};

void measure_cuda(benchmark::State &state, const Device &device, const Scene &scene,
                  const OpticalFlowParams &params) {
  std::vector<DeviceImage<std::uint8_t>> images[2];
  const int turns = device.frames_beyond_cache(2 * bytes_per_frame(scene, params.stride));
  std::unique_ptr<OpticalFlow> flow;
  DeviceFlow found;
  std::vector<FlowVector> vectors;
  std::vector<std::uint8_t> valid;
  const auto frame = [&](int i) {
    const std::vector<DeviceImage<std::uint8_t>> &of = images[i % 2];
    return flow->run(of[static_cast<std::size_t>(i / 2) % of.size()].view(), params, found.vector_view(),
                     found.valid_view());
  };
  const auto prepare = [&]() -> Status {
    for (int i = 0; i < 2; ++i) CUDAVISION_TRY(device.upload(scene.frames[i], turns, &images[i]));
    CUDAVISION_TRY(found.allocate(flow_size(scene.size(), params.stride)));
    CUDAVISION_TRY(make_opticalflow(device.execution(), scene.size(), &flow));
    CUDAVISION_TRY(frame(0));
    CUDAVISION_TRY(frame(1));
    return found.download(device.execution(), &vectors, &valid);
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  report_error(state, scene, params.stride, found.size, vectors, valid);
  device.measure(state, bytes_per_frame(scene, params.stride), frame);
}

void add_cuda(Comparison &comparison, const Device &device, const Scene &scene) {
  for (const Variant &v : variants())
    comparison.add({"opticalflow/cuda/" + v.name, scene.what}, Clock::manual,
                   [=, &device, &scene](auto &state) { measure_cuda(state, device, scene, v.params); });
  const Name own{"opticalflow/cuda/dense", scene.what};
  for (const int threads : thread_counts())
    for (const char *peer : {"cv::calcOpticalFlowFarneback", "cv::DISOpticalFlow"})
      comparison.compare(own, {peer, with_threads(scene.what, threads)});
}
#endif

int run(int argc, char **argv) {
  Comparison comparison;
  benchmark::AddCustomContext("the source, 400x400", "1.01 frames/s in C, 96.9 in OpenCL on a GeForce 940M");
  std::vector<std::unique_ptr<Scene>> scenes;
  std::string why_not;
  for (const Size size : {Size{400, 400}, Size{640, 360}, Size{1280, 720}, Size{1920, 1080}}) {
    const Picture picture = real_picture(size, &why_not);
    if (picture.size() != size) continue;
    for (const test::Motion &motion : test::motions(size)) {
      const std::string what =
          std::to_string(size.width) + "x" + std::to_string(size.height) + "/" + motion.name;
      scenes.push_back(
          std::make_unique<Scene>(Scene{{test::frame_before(picture, motion), picture}, motion, what}));
      if (size.height > 400) break;  // large frames: one motion only
    }
  }
  if (!why_not.empty()) comparison.leave_out("the real picture", why_not);
  for (const auto &scene : scenes) add_cpu(comparison, *scene);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const auto &scene : scenes) add_cuda(comparison, device, *scene);
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
