// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram on both backends and cv::calcHist, on a photograph, on noise and on a constant picture.
#include "cuda/histogram/histogram.h"

#include <array>
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

constexpr int kChannels = 3;
// Maximum ratio of the times for a constant picture, the worst case for atomics, and for noise. Private
// tables keep the ratio near 1; the rest is tolerance for a busy machine.
constexpr double kConstantOverNoise = 3;

// A grey picture, whose luma is counted, or packed RGB, whose channels are counted.
struct Case {
  const Picture *picture;
  Size size;
  bool rgb;
  std::string kind;

  int channels() const { return rgb ? kChannels : 1; }
  std::string what() const {
    return std::to_string(size.width) + "x" + std::to_string(size.height) + "/" + kind +
           (rgb ? "/channels" : "/luma");
  }
  double bytes() const { return static_cast<double>(size.width) * size.height * channels(); }
};

using Counts = std::vector<std::uint32_t>;

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

Samples samples_of(const Case &c, ImageView<const std::uint8_t> bytes) {
  if (!c.rgb) return luma_samples(bytes);
  Frame frame{ColorModel::rgb, c.size.width, c.size.height, {}};
  for (int i = 0; i < kChannels; ++i)  // only read, by the histogram
    frame.component[i] = {const_cast<std::uint8_t *>(bytes.data) + i, bytes.pitch_bytes, kChannels, 0, 0};
  return channel_samples(frame, {0, 0, c.size.width, c.size.height});
}

// cv::calcHist counts one channel per call.
void count_with_opencv(const Case &c, std::array<cv::Mat, kChannels> *counts) {
  const cv::Mat image(c.size.height, c.size.width, c.rgb ? CV_8UC3 : CV_8UC1,
                      const_cast<std::uint8_t *>(c.picture->row(0)));
  const int bins = 256;
  const float range[] = {0, 256};
  const float *ranges = range;
  for (int channel = 0; channel < c.channels(); ++channel)
    cv::calcHist(&image, 1, &channel, cv::Mat(), (*counts)[static_cast<std::size_t>(channel)], 1, &bins,
                 &ranges);
}

// Fails the benchmark if the counts differ from OpenCV's.
void check_counts(benchmark::State &state, const Case &c, const Counts &counts) {
  std::array<cv::Mat, kChannels> expected;
  count_with_opencv(c, &expected);
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != static_cast<std::uint32_t>(expected[i / 256].at<float>(static_cast<int>(i % 256))))
      return state.SkipWithError("the counts are not those of cv::calcHist");
}

void measure_opencv(benchmark::State &state, const Case &c, int threads) {
  cv::setNumThreads(threads);
  std::array<cv::Mat, kChannels> counts;
  count_with_opencv(c, &counts);  // allocates them
  for (auto _ : state) {
    count_with_opencv(c, &counts);
    benchmark::ClobberMemory();
  }
  count_frames(state, c.bytes());
}

void measure_cpu(benchmark::State &state, const Case &c, int threads) {
  const Workers workers(threads);
  std::unique_ptr<Histogram> histogram;
  Counts counts(static_cast<std::size_t>(256 * c.channels()));
  const Samples samples = samples_of(c, view_of(*c.picture));
  Status status = make_histogram({Backend::cpu, &workers, nullptr}, &histogram);
  if (status.ok()) status = histogram->run(samples, {}, counts.data());
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_counts(state, c, counts);
  for (auto _ : state) {
    status = histogram->run(samples, {}, counts.data());
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, c.bytes());
}

void add_cpu(Comparison &comparison, const Case &c) {
  for (const int threads : thread_counts()) {
    const Name peer{"cv::calcHist", with_threads(c.what(), threads)},
        ours{"histogram/cpu", with_threads(c.what(), threads)};
    comparison.add(peer, Clock::real, [=](benchmark::State &state) { measure_opencv(state, c, threads); });
    comparison.add(ours, Clock::real, [=](benchmark::State &state) { measure_cpu(state, c, threads); });
    comparison.compare(ours, peer);
  }
}

// Compares the time for each constant picture with that for noise. A ratio beyond kConstantOverNoise fails the run.
void compare_with_noise(Comparison &comparison, const std::vector<Case> &cases, const std::string &who,
                        const std::vector<std::string> &suffixes) {
  for (const Case &c : cases) {
    if (c.kind != "constant") continue;
    Case noise = c;
    noise.kind = "noise";
    for (const std::string &suffix : suffixes)
      comparison.compare({who, c.what() + suffix}, {who, noise.what() + suffix}, 1 / kConstantOverNoise);
  }
}

#if CUDAVISION_HAVE_CUDA
Status make_cuda(const Device &device, const Case &c, std::unique_ptr<Histogram> *histogram,
                 std::vector<DeviceImage<std::uint8_t>> *images, DeviceBuffer<std::uint32_t> *counts) {
  CUDAVISION_TRY(device.upload(*c.picture, device.frames_beyond_cache(c.bytes()), images));
  CUDAVISION_TRY(counts->allocate(static_cast<std::size_t>(256 * c.channels())));
  CUDAVISION_TRY(make_histogram(device.execution(), histogram));
  return (*histogram)->run(samples_of(c, images->front().view()), {}, counts->data());
}

// Downloads the counts as an image of bytes.
Status read_counts(const Device &device, const DeviceBuffer<std::uint32_t> &buffer, Counts *counts) {
  const int size = static_cast<int>(buffer.count() * sizeof(std::uint32_t));
  std::vector<std::uint8_t> bytes;
  CUDAVISION_TRY(device.download({reinterpret_cast<std::uint8_t *>(buffer.data()), size, size, 1}, &bytes));
  counts->resize(buffer.count());
  std::memcpy(counts->data(), bytes.data(), bytes.size());
  return {};
}

void measure_cuda(benchmark::State &state, const Device &device, const Case &c) {
  std::unique_ptr<Histogram> histogram;
  std::vector<DeviceImage<std::uint8_t>> images;
  DeviceBuffer<std::uint32_t> buffer;
  Counts counts;
  Status status = make_cuda(device, c, &histogram, &images, &buffer);
  if (status.ok()) status = read_counts(device, buffer, &counts);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_counts(state, c, counts);
  device.measure(state, c.bytes(), [&](int i) {
    const std::size_t turn = static_cast<std::size_t>(i) % images.size();
    return histogram->run(samples_of(c, images[turn].view()), {}, buffer.data());
  });
}

void add_cuda(Comparison &comparison, const Device &device, const Case &c) {
  const Name ours{"histogram/cuda", c.what()};
  comparison.add(ours, Clock::manual,
                 [=, &device](benchmark::State &state) { measure_cuda(state, device, c); });
  for (const int threads : thread_counts())
    comparison.compare(ours, {"cv::calcHist", with_threads(c.what(), threads)});
}
#endif

// The bytes of a picture of that size in grey or RGB; rows of RGB are three times as wide.
Picture real_bytes(Size size, bool rgb, std::string *why_not) {
  if (!rgb) return real_picture(size, why_not);
  const std::vector<std::uint8_t> frame = real_frame("RGB", size, why_not);
  Picture picture({kChannels * size.width, size.height});
  const std::size_t stride = static_cast<std::size_t>((kChannels * size.width + 3) / 4 * 4);
  if (frame.size() < stride * static_cast<std::size_t>(size.height)) return {};
  for (int y = 0; y < size.height; ++y)
    std::memcpy(picture.row(y), frame.data() + stride * static_cast<std::size_t>(y),
                static_cast<std::size_t>(picture.width()));
  return picture;
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<std::unique_ptr<Picture>> pictures;
  std::vector<Case> cases;
  std::string why_not;
  for (const Size size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}})
    for (const bool rgb : {false, true}) {
      const auto add = [&](Picture picture, const std::string &kind) {
        pictures.push_back(std::make_unique<Picture>(std::move(picture)));
        cases.push_back({pictures.back().get(), size, rgb, kind});
      };
      const Size bytes{rgb ? kChannels * size.width : size.width, size.height};
      if (Picture real = real_bytes(size, rgb, &why_not); real.size() == bytes) add(std::move(real), "real");
      add(test::noise(bytes, 1), "noise");
      add(test::constant(bytes, 100), "constant");
    }
  if (!why_not.empty()) comparison.leave_out("the real picture", why_not);
  for (const Case &c : cases) add_cpu(comparison, c);
  std::vector<std::string> threads;
  for (const int count : thread_counts()) threads.push_back("/threads:" + std::to_string(count));
  compare_with_noise(comparison, cases, "histogram/cpu", threads);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Case &c : cases) add_cuda(comparison, device, c);
    compare_with_noise(comparison, cases, "histogram/cuda", {""});
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
