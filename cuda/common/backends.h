// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers that check arguments and choose between the two backends of an algorithm. A build without CUDA has
// only the CPU backend.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"

#if CUDAVISION_HAVE_CUDA
#define CUDAVISION_IF_CUDA(function) function
#else
#define CUDAVISION_IF_CUDA(function) nullptr
#endif
// The two backends of a function, as arguments of run_on_backend() or make_on_backend().
#define CUDAVISION_BACKENDS(function) function##_cpu, CUDAVISION_IF_CUDA(function##_cuda)

namespace cudavision {

constexpr int kMaxSide = 16384;  // the largest width and height of a frame, in pixels

inline Status no_cuda_in_this_build() { return {Status::Code::no_device, "this build has no CUDA backend"}; }

// A function that constructs one backend of an algorithm for images of one size.
template <typename Algorithm>
using Maker = Status (*)(const Execution &, Size, std::unique_ptr<Algorithm> *);

inline std::string to_string(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

// Fails unless the image called `name` has the size that its algorithm was constructed for.
inline Status check_size(const char *name, Size size, Size made_for) {
  if (size == made_for) return {};
  return invalid_argument(std::string(name) + " has " + to_string(size) + " pixels instead of " +
                          to_string(made_for));
}

// Fails unless each side of a picture has 1 to kMaxSide pixels.
inline Status check_sides(Size size) {
  if (size.width >= 1 && size.height >= 1 && size.width <= kMaxSide && size.height <= kMaxSide) return {};
  return invalid_argument(to_string(size) + " pixels: each side must be between 1 and " +
                          std::to_string(kMaxSide));
}

// Fails if the region to draw on is empty or leaves a frame of this size.
inline Status check_region(Region region, Size frame) {
  if (region.width >= 1 && region.height >= 1 && lies_within(region, frame)) return {};
  return invalid_argument("the region to draw on leaves the frame");
}

// Calls cpu or cuda, whichever belongs to execution.backend, with execution and the remaining arguments. cuda
// is null in a build without CUDA; then a call for the CUDA backend fails with no_device.
template <typename... Arguments>
Status run_on_backend(const Execution &execution, Status (*cpu)(const Execution &, Arguments...),
                      std::type_identity_t<Status (*)(const Execution &, Arguments...)> cuda,
                      std::type_identity_t<Arguments>... arguments) {
  const auto function = execution.backend == Backend::cpu ? cpu : cuda;
  if (function == nullptr) return no_cuda_in_this_build();
  return catch_bad_alloc([&] { return function(execution, arguments...); });
}

// Constructs an algorithm with the Maker of execution.backend. Each side of the image must have 1 to kMaxSide pixels.
template <typename Algorithm>
Status make_on_backend(const Execution &execution, Size size, std::unique_ptr<Algorithm> *algorithm,
                       std::type_identity_t<Maker<Algorithm>> cpu,
                       std::type_identity_t<Maker<Algorithm>> cuda) {
  CUDAVISION_TRY(check_sides(size));
  return run_on_backend(execution, cpu, cuda, size, algorithm);
}

// Constructs a Made, which is one backend of an Algorithm, and calls its allocate(), for scratch memory, if it has one.
template <typename Made, typename Algorithm, typename... Arguments>
Status make_as(std::unique_ptr<Algorithm> *algorithm, const Arguments &...arguments) {
  auto made = std::make_unique<Made>(arguments...);
  if constexpr (requires { made->allocate(); }) CUDAVISION_TRY(made->allocate());
  *algorithm = std::move(made);
  return {};
}

}  // namespace cudavision
