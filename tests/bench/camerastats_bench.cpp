// SPDX-License-Identifier: LGPL-2.1-or-later
// The camera's statistics on both backends, and the calls of OpenCV that compute the same.
#include "cuda/camerastats/camerastats.h"

#include <cstring>
#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

constexpr int kNoise = 8;

struct Case {
  const Picture *now, *before;
  std::string kind;

  Size size() const { return now->size(); }
  std::string what() const {
    return std::to_string(size().width) + "x" + std::to_string(size().height) + "/" + kind;
  }
  double bytes() const { return static_cast<double>(size().width) * size().height; }
};

std::string with_threads(const Case &c, int threads) {
  return c.what() + "/threads:" + std::to_string(threads);
}

cv::Mat mat_of(const Picture &picture) {
  return {picture.height(), picture.width(), CV_8U, const_cast<std::uint8_t *>(picture.row(0))};
}

// What OpenCV computes: all but the product of two Laplacians.
struct Peer {
  cv::Mat laplacian, difference, changed, cells, counts;
  cv::Scalar mean, deviation;
  int changed_count = 0;

  void run(const Case &c) {
    const cv::Mat now = mat_of(*c.now);
    cv::Laplacian(now, laplacian, CV_16S, 1);
    cv::meanStdDev(laplacian, mean, deviation);
    const int channel = 0, bins = 256;
    const float range[] = {0, 256};
    const float *ranges = range;
    cv::calcHist(&now, 1, &channel, cv::Mat(), counts, 1, &bins, &ranges);
    cv::absdiff(now, mat_of(*c.before), difference);
    changed_count = cv::countNonZero(difference > kNoise);
    const Size size = camera_cells(c.size());
    cv::resize(now, cells, {size.width, size.height}, 0, 0, cv::INTER_AREA);
  }
};

// Fails the benchmark if the numbers differ from OpenCV's.
void check(benchmark::State &state, const Case &c, const CameraNumbers &numbers) {
  Peer peer;
  peer.run(c);
  if (static_cast<double>(numbers.sums.laplacian_square) != cv::norm(peer.laplacian, cv::NORM_L2SQR) ||
      numbers.sums.changed != peer.changed_count)
    state.SkipWithError("the numbers are not those of OpenCV");
}

void measure_opencv(benchmark::State &state, const Case &c, int threads) {
  cv::setNumThreads(threads);
  Peer peer;
  peer.run(c);  // allocates the pictures
  for (auto _ : state) {
    peer.run(c);
    benchmark::ClobberMemory();
  }
  count_frames(state, c.bytes());
}

void measure_cpu(benchmark::State &state, const Case &c, int threads) {
  const Workers workers(threads);
  std::unique_ptr<CameraStats> stats;
  CameraNumbers numbers;
  const Size size = camera_cells(c.size());
  Picture cells(size);
  const auto run = [&](const Picture &picture) {
    return stats->run(view_of(picture), kNoise, &numbers, cells.row(0));
  };
  Status status = make_camerastats({Backend::cpu, &workers, nullptr}, c.size(), &stats);
  if (status.ok()) status = run(*c.before);
  if (status.ok()) status = run(*c.now);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, c, numbers);
  for (auto _ : state) {
    status = run(*c.now);
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, c.bytes());
}

void add_cpu(Comparison &comparison, const Case &c) {
  for (const int threads : thread_counts()) {
    const Name peer{"OpenCV", with_threads(c, threads)}, ours{"camerastats/cpu", with_threads(c, threads)};
    comparison.add(peer, Clock::real, [=](benchmark::State &state) { measure_opencv(state, c, threads); });
    comparison.add(ours, Clock::real, [=](benchmark::State &state) { measure_cpu(state, c, threads); });
    comparison.compare(ours, peer);
  }
}

#if CUDAVISION_HAVE_CUDA
// The buffers of one object on the device.
struct OnDevice {
  std::vector<DeviceImage<std::uint8_t>> before, now;
  DeviceBuffer<std::uint8_t> numbers, cells;
  std::unique_ptr<CameraStats> stats;

  Status run(ImageView<const std::uint8_t> luma) const {
    return stats->run(luma, kNoise, reinterpret_cast<CameraNumbers *>(numbers.data()), cells.data());
  }
  Status make(const Device &device, const Case &c) {
    const Size size = camera_cells(c.size());
    CUDAVISION_TRY(device.upload(*c.before, 1, &before));
    CUDAVISION_TRY(device.upload(*c.now, device.frames_beyond_cache(c.bytes()), &now));
    CUDAVISION_TRY(numbers.allocate(sizeof(CameraNumbers)));
    CUDAVISION_TRY(
        cells.allocate(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height)));
    CUDAVISION_TRY(make_camerastats(device.execution(), c.size(), &stats));
    CUDAVISION_TRY(run(before.front().view()));
    return run(now.front().view());
  }
};

void measure_cuda(benchmark::State &state, const Device &device, const Case &c) {
  OnDevice own;
  std::vector<std::uint8_t> bytes;
  constexpr int kBytes = sizeof(CameraNumbers);
  Status status = own.make(device, c);
  if (status.ok()) status = device.download({own.numbers.data(), kBytes, kBytes, 1}, &bytes);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  CameraNumbers numbers;
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  check(state, c, numbers);
  device.measure(state, c.bytes(), [&](int i) {
    return own.run(own.now[static_cast<std::size_t>(i) % own.now.size()].view());
  });
}

void add_cuda(Comparison &comparison, const Device &device, const Case &c) {
  const Name ours{"camerastats/cuda", c.what()};
  comparison.add(ours, Clock::manual,
                 [=, &device](benchmark::State &state) { measure_cuda(state, device, c); });
  for (const int threads : thread_counts()) comparison.compare(ours, {"OpenCV", with_threads(c, threads)});
}
#endif

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<std::unique_ptr<Picture>> pictures;
  std::vector<Case> cases;
  std::string why_not;
  for (const Size size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    const auto add = [&](Picture picture, const std::string &kind) {
      Picture before(size);  // it is shifted by a column
      for (int y = 0; y < size.height; ++y)
        std::memcpy(before.row(y), picture.row(y) + 1, static_cast<std::size_t>(size.width - 1));
      pictures.push_back(std::make_unique<Picture>(std::move(picture)));
      pictures.push_back(std::make_unique<Picture>(std::move(before)));
      cases.push_back({pictures.end()[-2].get(), pictures.back().get(), kind});
    };
    if (Picture real = real_picture(size, &why_not); real.size() == size) add(std::move(real), "real");
    add(test::noise(size, 1), "noise");
    add(test::constant(size, 100), "constant");
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
