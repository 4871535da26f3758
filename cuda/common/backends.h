// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses between the two implementations of a room. A build without CUDA has only the CPU's.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

#if CUDAVISION_HAVE_CUDA
#define CUDAVISION_IF_CUDA(function) function
#else
#define CUDAVISION_IF_CUDA(function) nullptr
#endif

namespace cudavision {

constexpr int kMaxSide = 16384;  // of a frame, in pixels

// Calls function and turns a lack of host memory, which the C++ library throws, into a Status.
template <typename Function>
Status catch_bad_alloc(const Function &function) {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return out_of_memory("the host has no memory left for it");
  }
}

inline Status no_cuda_in_this_build() { return {Status::Code::no_device, "this build has no CUDA backend"}; }

template <typename Room>
using Maker = Status (*)(const Execution &, Size, std::unique_ptr<Room> *);

inline std::string to_string(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

// Refuses an image called name whose size is not the one that its room was made for.
inline Status check_size(const char *name, Size size, Size made_for) {
  if (size == made_for) return {};
  return invalid_argument(std::string(name) + " has " + to_string(size) + " pixels instead of " +
                          to_string(made_for));
}

// Refuses a region to draw on that is empty or leaves a frame of this size.
inline Status check_region(Region region, Size frame) {
  if (region.x >= 0 && region.y >= 0 && region.width >= 1 && region.height >= 1 &&
      region.width <= frame.width - region.x && region.height <= frame.height - region.y)
    return {};
  return invalid_argument("the region to draw on leaves the frame");
}

// Calls the function of execution's backend with the other arguments.
template <typename... Arguments>
Status run_on_backend(const Execution &execution, Status (*cpu)(const Execution &, Arguments...),
                      std::type_identity_t<Status (*)(const Execution &, Arguments...)> cuda,
                      std::type_identity_t<Arguments>... arguments) {
  const auto function = execution.backend == Backend::cpu ? cpu : cuda;
  if (function == nullptr) return no_cuda_in_this_build();
  return catch_bad_alloc([&] { return function(execution, arguments...); });
}

// Calls the maker of execution's backend for pictures of 1 to kMaxSide pixels a side.
template <typename Room>
Status make_on_backend(const Execution &execution, Size size, std::unique_ptr<Room> *room,
                       std::type_identity_t<Maker<Room>> cpu, std::type_identity_t<Maker<Room>> cuda) {
  if (size.width < 1 || size.height < 1 || size.width > kMaxSide || size.height > kMaxSide)
    return invalid_argument(to_string(size) + " pixels: each side must be between 1 and " +
                            std::to_string(kMaxSide));
  return run_on_backend(execution, cpu, cuda, size, room);
}

}  // namespace cudavision
