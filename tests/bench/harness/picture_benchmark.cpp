// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmarks of algorithms that turn one picture of bytes into another.
#include "tests/bench/harness/picture_benchmark.h"

#include <cstring>
#include <memory>
#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"

namespace cudavision::bench {
namespace {

// One algorithm at one size: its source and the peer's result.
struct Case {
  const PictureAlgorithm *algorithm;
  Size size;
  cv::Mat src, expected;

  std::string what() const {
    return std::to_string(size.width) + "x" + std::to_string(size.height) + "/" + algorithm->variant;
  }
  double bytes() const {
    return static_cast<double>(size.width) * size.height *
           (algorithm->src_channels + algorithm->dst_channels);
  }
};

cv::Mat picture_of(Size size, int channels) {
  return {size.height, size.width, CV_8UC(channels), cv::Scalar::all(0)};
}

ImageView<std::uint8_t> view_of(cv::Mat &mat) {
  return {mat.data, static_cast<std::ptrdiff_t>(mat.step), mat.cols * mat.channels(), mat.rows};
}

bool same(const cv::Mat &a, const cv::Mat &b) {
  for (int y = 0; y < a.rows; ++y)
    if (std::memcmp(a.ptr(y), b.ptr(y), static_cast<std::size_t>(a.cols * a.channels())) != 0) return false;
  return true;
}

void measure_peer(benchmark::State &state, const Case &c, int threads) {
  cv::setNumThreads(threads);
  cv::Mat dst = picture_of(c.size, c.algorithm->dst_channels);
  for (auto _ : state) {
    c.algorithm->run_peer(c.src, dst);
    benchmark::ClobberMemory();
  }
  count_frames(state, c.bytes());
}

void measure_cpu(benchmark::State &state, const Case &c, int threads) {
  const Workers workers(threads);
  cv::Mat src = c.src, dst = picture_of(c.size, c.algorithm->dst_channels);
  PictureAlgorithm::Run run;
  Status status = c.algorithm->make({Backend::cpu, &workers, nullptr}, c.size, &run);
  if (status.ok()) status = run(view_of(src), view_of(dst));
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  if (!same(dst, c.expected)) return state.SkipWithError("the result is not the peer's");
  for (auto _ : state) {
    status = run(view_of(src), view_of(dst));
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, c.bytes());
}

void add_cpu(Comparison &comparison, const Case &c) {
  for (const int threads : thread_counts()) {
    const std::string what = c.what() + "/threads:" + std::to_string(threads);
    const Name peer{c.algorithm->peer, what}, ours{c.algorithm->name + "/cpu", what};
    comparison.add(peer, Clock::real, [=](benchmark::State &state) { measure_peer(state, c, threads); });
    comparison.add(ours, Clock::real, [=](benchmark::State &state) { measure_cpu(state, c, threads); });
    comparison.compare(ours, peer);
  }
}

#if CUDAVISION_HAVE_CUDA
Picture as_picture(const cv::Mat &mat) {
  Picture picture({mat.cols * mat.channels(), mat.rows});
  for (int y = 0; y < mat.rows; ++y)
    std::memcpy(picture.row(y), mat.ptr(y), static_cast<std::size_t>(picture.width()));
  return picture;
}

void measure_cuda(benchmark::State &state, const Device &device, const Case &c) {
  std::vector<DeviceImage<std::uint8_t>> sources;
  DeviceImage<std::uint8_t> dst;
  PictureAlgorithm::Run run;
  std::vector<std::uint8_t> bytes;
  const auto prepare = [&]() -> Status {
    CUDAVISION_TRY(device.upload(as_picture(c.src), device.frames_beyond_cache(c.bytes()), &sources));
    CUDAVISION_TRY(dst.allocate({c.size.width * c.algorithm->dst_channels, c.size.height}));
    CUDAVISION_TRY(c.algorithm->make(device.execution(), c.size, &run));
    CUDAVISION_TRY(run(sources.front().view(), dst.view()));
    return device.download(dst.view(), &bytes);
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  if (std::memcmp(bytes.data(), c.expected.data, bytes.size()) != 0)
    return state.SkipWithError("the result is not the peer's");
  device.measure(state, c.bytes(), [&](int i) {
    return run(sources[static_cast<std::size_t>(i) % sources.size()].view(), dst.view());
  });
}

void add_cuda(Comparison &comparison, const Device &device, const Case &c) {
  const Name ours{c.algorithm->name + "/cuda", c.what()};
  comparison.add(ours, Clock::manual,
                 [=, &device](benchmark::State &state) { measure_cuda(state, device, c); });
  for (const int threads : thread_counts())
    comparison.compare(ours, {c.algorithm->peer, c.what() + "/threads:" + std::to_string(threads)});
}
#endif

// Sets the source of the case to the video frame, in as many channels as the algorithm reads, and `expected` to the
// peer's result. Returns false, with the reason, if there is no video frame.
bool make_case(const PictureAlgorithm &algorithm, Size size, Case *c, std::string *why_not) {
  const std::vector<std::uint8_t> bytes =
      real_frame(algorithm.src_channels == 1 ? "GRAY8" : "RGB", size, why_not);
  if (bytes.empty()) return false;
  *c = {&algorithm, size, picture_of(size, algorithm.src_channels), picture_of(size, algorithm.dst_channels)};
  const std::size_t pitch = bytes.size() / static_cast<std::size_t>(size.height);
  for (int y = 0; y < size.height; ++y)
    std::memcpy(c->src.ptr(y), bytes.data() + pitch * static_cast<std::size_t>(y),
                static_cast<std::size_t>(size.width * algorithm.src_channels));
  if (algorithm.of_masks) cv::threshold(c->src, c->src, 127, 255, cv::THRESH_BINARY);
  algorithm.run_peer(c->src, c->expected);
  return true;
}

}  // namespace

int run_picture_benchmarks(const std::vector<PictureAlgorithm> &algorithms, int argc, char **argv) {
  Comparison comparison;
  std::vector<Case> cases;
  std::string why_not;
  for (const PictureAlgorithm &algorithm : algorithms)
    for (const Size size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}})
      if (Case c; make_case(algorithm, size, &c, &why_not)) cases.push_back(c);
  if (!why_not.empty()) comparison.leave_out("the real picture", why_not);
  for (const Case &c : cases) add_cpu(comparison, c);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Case &c : cases) add_cuda(comparison, device, c);
  });
}

}  // namespace cudavision::bench
