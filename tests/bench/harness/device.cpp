// SPDX-License-Identifier: LGPL-2.1-or-later
// Timing on the GPU, and its copy bandwidth as a reference.
#include "tests/bench/harness/device.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cuda/common/probe.h"
#include "tests/bench/harness/comparison.h"

namespace cudavision::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::unique_ptr<Device> Device::find(std::string *why_not) {
  std::unique_ptr<Device> device(new Device);
  const Status status = device->open();
  if (status.ok()) return device;
  *why_not = status.text();
  return nullptr;
}

Status Device::open() {
  int count = 0;
  CUDAVISION_TRY_CUDA(cudaGetDeviceCount(&count));
  if (count == 0) return {Status::Code::no_device, "no CUDA device"};
  CUDAVISION_TRY(probe_kernels());
  cudaDeviceProp properties;
  CUDAVISION_TRY_CUDA(cudaGetDeviceProperties(&properties, 0));
  name_ = properties.name;
  CUDAVISION_TRY_CUDA(cudaDeviceGetAttribute(&cache_bytes_, cudaDevAttrL2CacheSize, 0));
  CUDAVISION_TRY_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  return measure_copies();
}

Status Device::measure_copies() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr int kWarmUp = 3, kCopies = 20;
  DeviceBuffer<std::uint8_t> src, dst;
  CUDAVISION_TRY(src.allocate(kBytes));
  CUDAVISION_TRY(dst.allocate(kBytes));
  CUDAVISION_TRY_CUDA(cudaMemsetAsync(src.data(), 0, kBytes, stream_));
  auto start = std::chrono::steady_clock::now();
  for (int i = -kWarmUp; i < kCopies; ++i) {
    if (i == 0) {
      CUDAVISION_TRY_CUDA(cudaStreamSynchronize(stream_));
      start = std::chrono::steady_clock::now();
    }
    CUDAVISION_TRY_CUDA(cudaMemcpyAsync(dst.data(), src.data(), kBytes, cudaMemcpyDeviceToDevice, stream_));
  }
  CUDAVISION_TRY_CUDA(cudaStreamSynchronize(stream_));
  copy_bandwidth_ = 2.0 * kBytes * kCopies / seconds_since(start);
  return {};
}

int Device::frames_beyond_cache(double bytes_per_frame) const {
  return std::max(2, static_cast<int>(std::ceil(2.0 * cache_bytes_ / bytes_per_frame)));
}

Status Device::upload(const Picture &picture, int count,
                      std::vector<DeviceImage<std::uint8_t>> *images) const {
  *images = std::vector<DeviceImage<std::uint8_t>>(static_cast<std::size_t>(count));
  for (DeviceImage<std::uint8_t> &image : *images) {
    const std::size_t width = static_cast<std::size_t>(picture.width());
    CUDAVISION_TRY(image.allocate(picture.size()));
    CUDAVISION_TRY_CUDA(cudaMemcpy2DAsync(
        image.view().data, static_cast<std::size_t>(image.view().pitch_bytes), picture.row(0), width, width,
        static_cast<std::size_t>(picture.height()), cudaMemcpyHostToDevice, stream_));
  }
  return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(stream_));
}

Status Device::download(ImageView<const std::uint8_t> image, std::vector<std::uint8_t> *bytes) const {
  const std::size_t width = static_cast<std::size_t>(image.width),
                    height = static_cast<std::size_t>(image.height);
  bytes->resize(width * height);
  CUDAVISION_TRY_CUDA(cudaMemcpy2DAsync(bytes->data(), width, image.data,
                                        static_cast<std::size_t>(image.pitch_bytes), width, height,
                                        cudaMemcpyDeviceToHost, stream_));
  return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(stream_));
}

void Device::measure(benchmark::State &state, double bytes_per_frame,
                     const std::function<Status(int i)> &frame) const {
  const benchmark::IterationCount all = state.max_iterations;
  double seconds = 0;
  while (state.KeepRunningBatch(all)) {
    Status status;
    const auto start = std::chrono::steady_clock::now();
    for (benchmark::IterationCount i = 0; i < all && status.ok(); ++i) status = frame(static_cast<int>(i));
    if (status.ok()) status = CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(stream_));
    seconds = seconds_since(start);
    state.SetIterationTime(seconds);
    if (!status.ok()) state.SkipWithError(status.text().c_str());
  }
  count_frames(state, bytes_per_frame);
  state.counters["of copy"] = static_cast<double>(all) * bytes_per_frame / seconds / copy_bandwidth_;
}

std::unique_ptr<Device> find_device(Comparison &comparison) {
  std::string why_not;
  std::unique_ptr<Device> device = Device::find(&why_not);
  if (device == nullptr) {
    comparison.leave_out("the CUDA backend", why_not);
    return nullptr;
  }
  benchmark::AddCustomContext("device", device->name());
  benchmark::AddCustomContext("copies of the device",
                              std::to_string(device->copy_bandwidth() / 1e9) + " GB/s");
  return device;
}

}  // namespace cudavision::bench
