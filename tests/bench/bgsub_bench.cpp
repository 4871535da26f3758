// SPDX-License-Identifier: LGPL-2.1-or-later
// Background subtraction on both backends and cv::BackgroundSubtractorMOG2, on frames of a street video and on noise.
#include "cuda/bgsub/bgsub.h"

#include <algorithm>
#include <cstring>
#include <opencv2/video/background_segm.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/support/decode.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

using test::Picture;

// The number of frames that a model learns before it is measured, so that it has as many modes as after a long stream.
constexpr int kLearnt = 48;
constexpr int kMixtures = 5;

// Frames that are used in turn. A row holds `channels` bytes per pixel.
struct Scene {
  std::vector<Picture> frames;
  int channels;
  std::string what;
  double bytes = 0;  // the minimum traffic of a frame: floor_bytes()

  Size size() const { return {frames[0].width() / channels, frames[0].height()}; }
  const Picture &frame(int i) const { return frames[static_cast<std::size_t>(i) % frames.size()]; }
};

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

BgsubPicture picture_of(const Scene &scene, ImageView<const std::uint8_t> bytes) {
  return {bytes.data,     bytes.pitch_bytes,  scene.channels,
          scene.channels, scene.size().width, scene.size().height};
}

// Runs the algorithm on the CPU.
class OnCpu {
 public:
  OnCpu(const Scene &scene, int threads) : scene_(scene), workers_(threads), mask_(scene.size()) {
    status_ =
        make_bgsub({Backend::cpu, &workers_, nullptr}, scene.size(), scene.channels, kMixtures, &subtractor_);
  }
  void learn(int i) {
    const Picture &frame = scene_.frame(i);
    if (status_.ok())
      status_ =
          subtractor_->run(picture_of(scene_, {frame.row(0), frame.width(), frame.width(), frame.height()}),
                           {}, {}, {mask_.row(0), mask_.width(), mask_.width(), mask_.height()});
  }
  void fetch(BgsubState *state) {
    if (status_.ok()) status_ = subtractor_->fetch(state);
  }
  const Status &status() const { return status_; }
  const Picture &mask() const { return mask_; }

 private:
  const Scene &scene_;
  const Workers workers_;
  Picture mask_;
  std::unique_ptr<BackgroundSubtractor> subtractor_;
  Status status_;
};

// The bytes that one pixel of a frame must move, computed from its modes before and after the frame. Read or written:
// the picture, the mask, the number of modes and the weights of all modes. Read: the variances and means up to the mode
// that learns, or of all modes if none learns. Written: the variances and means that change.
double bytes_of_pixel(const BgsubShape &shape, const BgsubState &before, const BgsubState &after,
                      const std::uint8_t *pixel, int x, int y) {
  const std::size_t count_at = shape.count_at(x, y), field_at = shape.field_at(x, y), pitch = shape.pitch();
  const auto field = [&](const BgsubState &state, int mode, int index) {
    return state.modes[field_at + static_cast<std::size_t>(mode * shape.fields() + index) * pitch];
  };
  const int old_count = before.counts[count_at], new_count = after.counts[count_at];
  double bytes = shape.channels + 1 + 1 + (old_count != new_count);
  bytes += sizeof(float) * (old_count + new_count);
  int read = 0;
  for (bool learns = false; read < old_count && !learns; ++read) {
    float distance = 0;
    for (int c = 0; c < shape.channels; ++c) {
      const float difference = field(before, read, 2 + c) - static_cast<float>(pixel[c]);
      distance += difference * difference;
    }
    learns = distance < static_cast<float>(BgsubParams{}.var_threshold_gen) * field(before, read, 1);
  }
  bytes += static_cast<double>(sizeof(float)) * read * (1 + shape.channels);
  for (int mode = 0; mode < new_count; ++mode)
    for (int index = 1; index < shape.fields(); ++index)
      if (mode >= old_count || field(before, mode, index) != field(after, mode, index))
        bytes += sizeof(float);
  return bytes;
}

// The bytes that a frame must read and write: the mean over kCounted frames after the kLearnt ones.
double floor_bytes(const Scene &scene) {
  constexpr int kCounted = 3;
  OnCpu ours(scene, 1);
  int i = 0;
  while (i < kLearnt) ours.learn(i++);
  BgsubState before, after;
  ours.fetch(&before);
  double bytes = 0;
  const BgsubShape shape{scene.size(), scene.channels, kMixtures};
  for (; i < kLearnt + kCounted && ours.status().ok(); ++i, std::swap(before, after)) {
    ours.learn(i);
    ours.fetch(&after);
    for (int y = 0; y < shape.size.height; ++y)
      for (int x = 0; x < shape.size.width; ++x)
        bytes += bytes_of_pixel(shape, before, after, scene.frame(i).row(y) + x * scene.channels, x, y);
  }
  return bytes / kCounted;
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
  count_frames(state, scene.bytes);
}

// Fails the benchmark if the mask after kLearnt frames is not OpenCV's.
void check(benchmark::State &state, const Scene &scene, const std::uint8_t *mask) {
  OpenCv peer(scene);
  for (int i = 0; i < kLearnt; ++i) peer.learn(i);
  if (!std::equal(mask, mask + peer.mask().total(), peer.mask().data))
    state.SkipWithError("the mask is not that of cv::BackgroundSubtractorMOG2");
}

void measure_cpu(benchmark::State &state, const Scene &scene, int threads) {
  OnCpu ours(scene, threads);
  int i = 0;
  while (i < kLearnt) ours.learn(i++);
  check(state, scene, ours.mask().row(0));
  for (auto _ : state) ours.learn(i++);
  if (!ours.status().ok()) state.SkipWithError(ours.status().text().c_str());
  count_frames(state, scene.bytes);
  state.counters["bytes/pixel"] = scene.bytes / scene.size().width / scene.size().height;
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
    CUDAVISION_TRY(make_bgsub(device.execution(), scene.size(), scene.channels, kMixtures, &subtractor));
    for (int i = 0; i < kLearnt; ++i) CUDAVISION_TRY(learn(i));
    return device.download(view, &bytes);
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, scene, bytes.data());
  device.measure(state, scene.bytes, [&](int i) { return learn(kLearnt + i); });
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
    auto street = std::make_unique<Scene>(Scene{{}, channels, "1920x1080/street/" + suffix, 0});
    auto noise = std::make_unique<Scene>(Scene{{}, channels, "1920x1080/noise/" + suffix, 0});
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
  for (const auto &scene : scenes) scene->bytes = floor_bytes(*scene);
  return scenes;
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::string why_not;
  const std::vector<std::unique_ptr<Scene>> scenes = make_scenes(&why_not);
  if (!why_not.empty()) comparison.leave_out("the street", why_not);
  for (const auto &scene : scenes) add_cpu(comparison, *scene);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const auto &scene : scenes) add_cuda(comparison, device, *scene);
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
