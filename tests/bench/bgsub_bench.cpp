// SPDX-License-Identifier: LGPL-2.1-or-later
// Background subtraction on both backends and cv::BackgroundSubtractorMOG2, on frames of a street video and on noise.
#include "cuda/bgsub/bgsub.h"

#include <algorithm>
#include <cstring>
#include <opencv2/video/background_segm.hpp>

#include "tests/bench/harness/comparison.h"
#include "tests/support/decode.h"
#include "tests/support/pictures.h"
#if CUDAVISION_HAVE_CUDA
#include "tests/bench/harness/device.h"
#endif

namespace cudavision::bench {
namespace {

using test::Picture;

// What the model learns before it is measured, so that it has the modes of a stream that has run for some time.
constexpr int kLearnt = 48;

// Frames that are used in turn. A row holds `channels` bytes per pixel.
struct Scene {
  std::vector<Picture> frames;
  int channels;
  std::string what;

  Size size() const { return {frames[0].width() / channels, frames[0].height()}; }
  const Picture &frame(int i) const { return frames[static_cast<std::size_t>(i) % frames.size()]; }
  // Of the picture and the mask. What a model reads and writes depends on its modes.
  double bytes() const { return (channels + 1.0) * size().width * size().height; }
};

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

BgsubPicture picture_of(const Scene &scene, ImageView<const std::uint8_t> bytes) {
  return {bytes.data,     bytes.pitch_bytes,  scene.channels,
          scene.channels, scene.size().width, scene.size().height};
}

class OpenCv {
 public:
  explicit OpenCv(const Scene &scene) : scene_(scene) {}
  void learn(int i) {
    const Picture &frame = scene_.frame(i);
    mog_->apply(cv::Mat(frame.height(), scene_.size().width, CV_8UC(scene_.channels),
                        const_cast<std::uint8_t *>(frame.row(0))),
                mask_);
  }
  const cv::Mat &mask() const { return mask_; }

 private:
  const Scene &scene_;
  cv::Ptr<cv::BackgroundSubtractorMOG2> mog_ = cv::createBackgroundSubtractorMOG2();
  cv::Mat mask_;
};

void measure_opencv(benchmark::State &state, const Scene &scene, int threads) {
  cv::setNumThreads(threads);
  OpenCv peer(scene);
  int i = 0;
  while (i < kLearnt) peer.learn(i++);
  for (auto _ : state) peer.learn(i++);
  count_frames(state, scene.bytes());
}

// Fails the benchmark if the mask after kLearnt frames is not OpenCV's.
void check(benchmark::State &state, const Scene &scene, const std::uint8_t *mask) {
  OpenCv peer(scene);
  for (int i = 0; i < kLearnt; ++i) peer.learn(i);
  if (!std::equal(mask, mask + peer.mask().total(), peer.mask().data))
    state.SkipWithError("the mask is not that of cv::BackgroundSubtractorMOG2");
}

void measure_cpu(benchmark::State &state, const Scene &scene, int threads) {
  const Workers workers(threads);
  std::unique_ptr<BackgroundSubtractor> subtractor;
  Picture mask(scene.size());
  Status status = make_bgsub({Backend::cpu, &workers, nullptr}, scene.size(), scene.channels, 5, &subtractor);
  const auto learn = [&](int i) {
    const Picture &frame = scene.frame(i);
    if (status.ok())
      status =
          subtractor->run(picture_of(scene, {frame.row(0), frame.width(), frame.width(), frame.height()}), {},
                          {}, {mask.row(0), mask.width(), mask.width(), mask.height()});
  };
  int i = 0;
  while (i < kLearnt) learn(i++);
  check(state, scene, mask.row(0));
  for (auto _ : state) learn(i++);
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, scene.bytes());
}

void add_cpu(Comparison &comparison, const Scene &scene) {
  for (const int threads : thread_counts()) {
    const Name peer{"cv::BackgroundSubtractorMOG2", with_threads(scene.what, threads)},
        ours{"bgsub/cpu", with_threads(scene.what, threads)};
    comparison.add(peer, Clock::real, [=, &scene](auto &state) { measure_opencv(state, scene, threads); });
    comparison.add(ours, Clock::real, [=, &scene](auto &state) { measure_cpu(state, scene, threads); });
    comparison.compare(ours, peer);
  }
}

#if CUDAVISION_HAVE_CUDA
void measure_cuda(benchmark::State &state, const Device &device, const Scene &scene) {
  std::vector<std::vector<DeviceImage<std::uint8_t>>> frames(scene.frames.size());
  DeviceBuffer<std::uint8_t> mask;
  std::vector<std::uint8_t> bytes;
  std::unique_ptr<BackgroundSubtractor> subtractor;
  const auto [width, height] = scene.size();
  ImageView<std::uint8_t> view{};
  const auto learn = [&](int i) {
    return subtractor->run(
        picture_of(scene, frames[static_cast<std::size_t>(i) % frames.size()].front().view()), {}, {}, view);
  };
  const auto prepare = [&]() -> Status {
    for (std::size_t i = 0; i < frames.size(); ++i)
      CUDAVISION_TRY(device.upload(scene.frames[i], 1, &frames[i]));
    CUDAVISION_TRY(mask.allocate(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)));
    view = {mask.data(), width, width, height};
    CUDAVISION_TRY(make_bgsub(device.execution(), scene.size(), scene.channels, 5, &subtractor));
    for (int i = 0; i < kLearnt; ++i) CUDAVISION_TRY(learn(i));
    return device.download(view, &bytes);
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, scene, bytes.data());
  device.measure(state, scene.bytes(), [&](int i) { return learn(kLearnt + i); });
}

void add_cuda(Comparison &comparison, const Device &device, const Scene &scene) {
  const Name ours{"bgsub/cuda", scene.what};
  comparison.add(ours, Clock::manual,
                 [=, &device, &scene](auto &state) { measure_cuda(state, device, scene); });
  for (const int threads : thread_counts())
    comparison.compare(ours, {"cv::BackgroundSubtractorMOG2", with_threads(scene.what, threads)});
}
#endif

// A picture repeated until it fills the size.
Picture tiled(const Picture &picture, int channels, Size size) {
  Picture filled({size.width * channels, size.height});
  for (int y = 0; y < filled.height(); ++y)
    for (int x = 0; x < filled.width(); x += picture.width())
      std::copy_n(picture.row(y % picture.height()), std::min(picture.width(), filled.width() - x),
                  filled.row(y) + x);
  return filled;
}

std::vector<std::unique_ptr<Scene>> make_scenes(std::string *why_not) {
  constexpr int kFrames = 16, kStep = 3;  // every third frame of the video
  constexpr Size kSize{1920, 1080};
  std::vector<std::unique_ptr<Scene>> scenes;
  for (const int channels : {1, 3}) {
    const std::string suffix = channels == 1 ? "luma" : "colour";
    auto street = std::make_unique<Scene>(Scene{{}, channels, "1920x1080/street/" + suffix});
    auto noise = std::make_unique<Scene>(Scene{{}, channels, "1920x1080/noise/" + suffix});
    for (int i = 0; i < kFrames; ++i) {
      const test::Photo &photo =
          channels == 1 ? test::gray_photo("vtest.avi", kStep * i) : test::rgb_photo("vtest.avi", kStep * i);
      if (photo.ok())
        street->frames.push_back(tiled(photo.pixels, channels, kSize));
      else
        *why_not = photo.why_not;
      noise->frames.push_back(test::noise({kSize.width * channels, kSize.height}, static_cast<unsigned>(i)));
    }
    if (!street->frames.empty()) scenes.push_back(std::move(street));
    scenes.push_back(std::move(noise));
  }
  return scenes;
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::string why_not;
  const std::vector<std::unique_ptr<Scene>> scenes = make_scenes(&why_not);
  if (!why_not.empty()) comparison.leave_out("the street", why_not);
  for (const auto &scene : scenes) add_cpu(comparison, *scene);
#if CUDAVISION_HAVE_CUDA
  const std::unique_ptr<Device> device = find_device(comparison);
  if (device != nullptr) {
    for (const auto &scene : scenes) add_cuda(comparison, *device, *scene);
  }
#else
  comparison.leave_out("the CUDA backend", "this build has none");
#endif
  return comparison.run(argc, argv);
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
