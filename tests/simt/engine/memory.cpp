// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocations of device memory and of pinned host memory.
#include "tests/simt/engine/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/simt/engine/device.h"
#include "tests/simt/engine/sanitizer.h"
#include "tests/simt/engine/stream.h"

namespace simt {
namespace {

// New memory must not look like zeros.
constexpr int kFreshByte = 0xcd;
constexpr std::size_t kAlignment = 256;
// The texture alignment of real devices, which drivers use as pitch alignment.
constexpr std::size_t kPitchAlignment = 512;

// The keys are complements of addresses: a map of the addresses themselves would keep LeakSanitizer from
// finding leaks. They sort from the highest address to the lowest.
using HiddenAddress = std::uintptr_t;
HiddenAddress hide(const void *address) { return ~reinterpret_cast<std::uintptr_t>(address); }
char *reveal(HiddenAddress hidden) { return reinterpret_cast<char *>(~hidden); }

struct Shape {
  std::size_t bytes = 0, pitch_bytes = 0, width_bytes = 0, height = 0;
  Context owner = kNoContext;
};

struct Memory {
  std::map<HiddenAddress, Shape> device, host;
  std::size_t device_bytes = 0;
};

Memory &memory() {
  static auto &instance = *new Memory;
  return instance;
}

Allocation describe(HiddenAddress hidden, const Shape &shape) {
  return {reveal(hidden), shape.bytes, shape.pitch_bytes, shape.width_bytes, shape.height, shape.owner};
}

void hide_padding(const Allocation &a) {
  for (std::size_t y = 0; y < a.height; ++y)
    poison(a.begin + y * a.pitch_bytes + a.width_bytes, a.pitch_bytes - a.width_bytes);
}

cudaError_t allocate(void **pointer, const Shape &shape) {
  *pointer = nullptr;
  if (shape.bytes == 0) return cudaSuccess;
  if (shape.bytes > device().memory_limit - std::min(memory().device_bytes, device().memory_limit) ||
      posix_memalign(pointer, kAlignment, shape.bytes) != 0)
    return cudaErrorMemoryAllocation;
  std::memset(*pointer, kFreshByte, shape.bytes);
  poison(*pointer, shape.bytes);
  Shape &kept = memory().device[hide(*pointer)] = shape;
  kept.owner = current_context();
  memory().device_bytes += shape.bytes;
  ++device().counters.allocations;
  return cudaSuccess;
}

using Blocks = std::map<HiddenAddress, Shape>;

void free_device(Blocks::iterator block) {
  char *begin = reveal(block->first);
  unpoison(begin, block->second.bytes);
  memory().device_bytes -= block->second.bytes;
  memory().device.erase(block);
  std::free(begin);
}

void free_host(Blocks::iterator block) {
  char *begin = reveal(block->first);
  memory().host.erase(block);
  std::free(begin);
}

// The block that contains the address, or end().
Blocks::const_iterator find_block(const Blocks &blocks, const void *address) {
  const auto found = blocks.lower_bound(hide(address));
  if (found == blocks.end()) return found;
  return static_cast<const char *>(address) < reveal(found->first) + found->second.bytes ? found
                                                                                         : blocks.end();
}

}  // namespace

void show_device_memory() {
  for (const auto &[hidden, shape] : memory().device) {
    unpoison(reveal(hidden), shape.bytes);
    hide_padding(describe(hidden, shape));
  }
}

void hide_device_memory() {
  for (const auto &[hidden, shape] : memory().device) poison(reveal(hidden), shape.bytes);
}

Allocation find_allocation(const void *address) {
  const auto found = find_block(memory().device, address);
  return found == memory().device.end() ? Allocation{} : describe(found->first, found->second);
}

PaddingAccess::PaddingAccess(const void *address) : allocation_(find_allocation(address)) {
  if (allocation_.height != 0) unpoison(allocation_.begin, allocation_.bytes);
}

PaddingAccess::~PaddingAccess() { hide_padding(allocation_); }

void count_owned(Context context, Owned *owned) {
  for (const auto &[hidden, shape] : memory().device) owned->allocations += shape.owner == context;
  for (const auto &[hidden, shape] : memory().host) owned->host_allocations += shape.owner == context;
}

void release_memory(Context context) {
  const auto release = [context](Blocks &blocks, void (*free_block)(Blocks::iterator)) {
    for (auto block = blocks.begin(); block != blocks.end();) {
      const auto here = block++;
      if (here->second.owner == context) free_block(here);
    }
  };
  release(memory().device, free_device);
  release(memory().host, free_host);
}

bool count_atomic(const void *address) {
  Counters &counters = device().counters;
  const bool is_global = find_allocation(address).begin != nullptr;
  ++(is_global ? counters.global_atomics : counters.shared_atomics);
  return is_global;
}

std::size_t live_allocations() {
  const std::lock_guard lock(device().mutex);
  return memory().device.size();
}

std::size_t live_bytes() {
  const std::lock_guard lock(device().mutex);
  return memory().device_bytes;
}

std::size_t live_host_allocations() {
  const std::lock_guard lock(device().mutex);
  return memory().host.size();
}

bool is_page_locked(const void *address) {
  const std::lock_guard lock(device().mutex);
  return find_block(memory().host, address) != memory().host.end();
}

}  // namespace simt

using simt::api;
using simt::Call;

cudaError_t cudaMemGetInfo(std::size_t *free_bytes, std::size_t *total_bytes) {
  return api({Call::query, __func__}, [=] {
    *total_bytes = simt::device().memory_limit;
    *free_bytes = *total_bytes - std::min(simt::memory().device_bytes, *total_bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc(void **pointer, std::size_t bytes) {
  return api({Call::allocation, __func__}, [=] { return simt::allocate(pointer, {.bytes = bytes}); });
}

cudaError_t cudaMallocPitch(void **pointer, std::size_t *pitch_bytes, std::size_t width_bytes,
                            std::size_t height) {
  return api({Call::allocation, __func__}, [=] {
    if (width_bytes == 0 || height == 0) return cudaErrorInvalidValue;
    // At least one whole unit of padding, so that the pitch never equals the width and accesses beyond it are detected.
    const std::size_t unit = simt::kPitchAlignment;
    const std::size_t pitch = (width_bytes + unit - 1) / unit * unit + unit;
    *pitch_bytes = pitch;
    return simt::allocate(pointer, {pitch * height, pitch, width_bytes, height, simt::kNoContext});
  });
}

cudaError_t cudaFree(void *pointer) {
  return api({Call::free, __func__}, [=] {
    if (pointer == nullptr) return cudaSuccess;
    auto &allocations = simt::memory().device;
    const auto found = allocations.find(simt::hide(pointer));
    if (found == allocations.end())
      return simt::complain(cudaErrorInvalidValue, "cudaFree: %p is not the begin of an allocation", pointer);
    if (const cudaError_t error = simt::check_owner(simt::Object::device_memory, found->second.owner);
        error != cudaSuccess)
      return error;
    // A real cudaFree also waits for the device.
    simt::drain_all();
    simt::free_device(found);
    ++simt::device().counters.frees;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void **pointer, std::size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }

cudaError_t cudaHostAlloc(void **pointer, std::size_t bytes, unsigned) {
  return api({Call::host_allocation, __func__}, [=] {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (posix_memalign(pointer, simt::kAlignment, bytes) != 0) return cudaErrorMemoryAllocation;
    std::memset(*pointer, simt::kFreshByte, bytes);
    simt::memory().host[simt::hide(*pointer)] = {.bytes = bytes, .owner = simt::current_context()};
    ++simt::device().counters.host_allocations;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void *pointer) {
  return api({Call::free, __func__}, [=] {
    if (pointer == nullptr) return cudaSuccess;
    auto &allocations = simt::memory().host;
    const auto found = allocations.find(simt::hide(pointer));
    if (found == allocations.end())
      return simt::complain(cudaErrorInvalidValue, "cudaFreeHost: %p is not pinned host memory", pointer);
    if (const cudaError_t error = simt::check_owner(simt::Object::host_memory, found->second.owner);
        error != cudaSuccess)
      return error;
    // A real cudaFreeHost also waits for the device.
    simt::drain_all();
    simt::free_host(found);
    ++simt::device().counters.host_frees;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  return api({Call::query, __func__}, [=] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    // The runtime returns this for memory that CUDA does not know.
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void *>(pointer)};
    const auto &memory = simt::memory();
    if (simt::find_block(memory.device, pointer) != memory.device.end())
      *attributes = {cudaMemoryTypeDevice, 0, const_cast<void *>(pointer), nullptr};
    else if (simt::find_block(memory.host, pointer) != memory.host.end())
      *attributes = {cudaMemoryTypeHost, 0, const_cast<void *>(pointer), const_cast<void *>(pointer)};
    return cudaSuccess;
  });
}
