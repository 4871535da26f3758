// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPU that benchmarks run on; only in builds with CUDA.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/execution.h"
#include "tests/bench/harness/comparison.h"
#include "tests/bench/harness/real_picture.h"

namespace cudavision::bench {

class Device {
 public:
  // Finds the first device; null, with the reason, if there is none that this build has kernels for.
  static std::unique_ptr<Device> find(std::string *why_not);
  ~Device() { (void)cudaStreamDestroy(stream_); }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const std::string &name() const { return name_; }
  Execution execution() const { return {Backend::cuda, nullptr, stream_}; }
  // Bytes read plus bytes written per second by copies within the device, of buffers larger than its cache.
  double copy_bandwidth() const { return copy_bandwidth_; }

  // How many frames of this size to use in turn, so that none is still in the cache when it is used again.
  int frames_beyond_cache(double bytes_per_frame) const;
  Status upload(const Picture &picture, int count, std::vector<DeviceImage<std::uint8_t>> *images) const;
  Status download(ImageView<const std::uint8_t> image, std::vector<std::uint8_t> *bytes) const;

  // Measures frame(i), which enqueues the work of one frame, i = 0, 1, 2 ... The stream is synchronised only before and
  // after all of them, so that the time per frame is the device's, unless launching takes longer. Counters are those of
  // count_frames, and "of copy": the minimum traffic, bytes_per_frame, relative to copy_bandwidth().
  void measure(benchmark::State &state, double bytes_per_frame,
               const std::function<Status(int i)> &frame) const;

 private:
  Device() = default;
  Status open();
  Status measure_copies();

  std::string name_;
  cudaStream_t stream_ = nullptr;
  int cache_bytes_ = 0;
  double copy_bandwidth_ = 0;
};

// The device. Its name and bandwidth are printed in the head of the report. Returns null, and prints the
// reason, if there is none.
std::unique_ptr<Device> find_device(Comparison &comparison);

}  // namespace cudavision::bench
