// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the Hough transform: two kernels for lines and four for segments, without a host round
// trip.
//
// 1. list_points_kernel lists the edge pixels (points.cuh).
// 2. vote_kernel counts votes in shared memory, extracts the peaks and sorts them (votes.cuh).
// 3. walk_lines_kernel and 4. judge_candidates_kernel find segments along the lines of the peaks
//    (segments.cuh).
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "cuda/common/buffer.h"
#include "cuda/common/device_limits.h"
#include "cuda/common/grid.h"
#include "cuda/common/launch.h"
#include "cuda/hough/hough_backends.h"
#include "cuda/hough/points.cuh"
#include "cuda/hough/segments.cuh"
#include "cuda/hough/votes.cuh"

namespace cudavision::hough {
namespace {

// The maximum dynamic shared memory of a block of vote_kernel, in bytes: two blocks fit on a multiprocessor
// with 228 KiB of shared memory.
constexpr int kMaxVoteBytes = 104 << 10;
// Reserved for the static shared memory of vote_kernel, in bytes.
constexpr int kStaticVoteBytes = 2 << 10;
constexpr int kMinCacheKeys = 2048;
// The number of angles per group if a row is too long for shared memory.
constexpr int kGlobalGroupAngles = 8;

using VoteKernel = void (*)(const VoteTask);

VoteKernel vote_kernel_for(bool gradient, bool in_shared) {
  static constexpr VoteKernel kKernels[2][2] = {{vote_kernel<false, false>, vote_kernel<false, true>},
                                                {vote_kernel<true, false>, vote_kernel<true, true>}};
  return kKernels[gradient][in_shared];
}

// How vote_kernel is launched.
struct VoteLaunch {
  VoteGrid grid{};
  bool in_shared = true;  // votes are counted in shared memory, otherwise in global memory
  std::size_t shared_bytes = 0;
};

class HoughCuda final : public Hough {
 public:
  HoughCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors_));
    CUDAVISION_TRY(max_shared_bytes(&vote_bytes_));
    vote_bytes_ = std::min(vote_bytes_ - kStaticVoteBytes, kMaxVoteBytes);
    for (const bool gradient : {false, true})
      for (const bool in_shared : {false, true})
        CUDAVISION_TRY(
            allow_shared_bytes(vote_kernel_for(gradient, in_shared), static_cast<std::size_t>(vote_bytes_)));
    CUDAVISION_TRY(points_.allocate(pixel_count()));
    CUDAVISION_TRY(counters_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(counters_.data(), 0, sizeof(Counters), execution_.stream));
  }

  Status run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
             const HoughParams &params, const HoughList &list) override {
    CUDAVISION_TRY(check_run(edges, luma, size_, params));
    CUDAVISION_TRY(prepare(params));
    CUDAVISION_TRY(list_points(edges, luma, params));
    CUDAVISION_TRY(vote(params, list));
    return params.mode == HoughMode::segments ? find_segments(edges, params, list) : Status();
  }

  Status copy_votes(ImageView<std::uint32_t> votes) override {
    CUDAVISION_TRY(check_votes(votes, plan_ ? &*plan_ : nullptr));
    if (votes.width == 0 || votes.height == 0) return {};
    const dim3 grid = grid_2d(votes.width, votes.height, kListThreads, 1);
    return CUDAVISION_LAUNCH(copy_votes_kernel, grid, dim3(kListThreads), execution_.stream, accumulator(),
                             votes);
  }

 private:
  std::size_t pixel_count() const {
    return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  }
  Accumulator accumulator() const { return accumulator_of(*plan_, size_, angles_.data(), votes_.data()); }

  // Makes the tables and buffers that these parameters need and that do not exist yet.
  Status prepare(const HoughParams &params) {
    if (!plan_ || !same_plan(params, planned_for_)) CUDAVISION_TRY(prepare_accumulator(params));
    vote_launch_ = vote_launch(params.nms_radius);
    if (params.gradient_voting && gradient_intervals_.count() == 0) CUDAVISION_TRY(prepare_gradients());
    return params.mode == HoughMode::segments ? prepare_segments(params) : Status();
  }

  Status prepare_accumulator(const HoughParams &params) {
    plan_.reset();
    AccumulatorPlan made;
    CUDAVISION_TRY(make_accumulator_plan(size_, params, &made));
    // Frees the old buffers first, because both sets may not fit. Freeing also waits until the stream no
    // longer reads the tables on the host.
    angles_ = {}, votes_ = {}, keys_ = {}, gradient_intervals_ = {}, groups_done_ = {};
    const std::size_t angles = std::max<std::size_t>(made.angles.size(), 1);
    CUDAVISION_TRY(angles_.allocate(angles));
    CUDAVISION_TRY(groups_done_.allocate(angles));
    CUDAVISION_TRY(votes_.allocate(std::max<std::size_t>(made.cells(), 4)));
    CUDAVISION_TRY(keys_.allocate(std::max<std::size_t>(made.max_peaks(), 1)));
    host_angles_ = made.angles;
    CUDAVISION_TRY_CUDA(cudaMemcpyAsync(angles_.data(), host_angles_.data(),
                                        host_angles_.size() * sizeof(Angle), cudaMemcpyHostToDevice,
                                        execution_.stream));
    plan_ = std::move(made);
    planned_for_ = params;
    return {};
  }

  VoteLaunch vote_launch(int nms_radius) const {
    const int angles = static_cast<int>(plan_->angles.size()), row_bytes = plan_->stride * 4;
    VoteLaunch launch;
    VoteGrid &grid = launch.grid;
    launch.in_shared = row_bytes <= vote_bytes_;
    const int max_group_angles =
        std::clamp(launch.in_shared ? vote_bytes_ / row_bytes : kGlobalGroupAngles, 1, kMaxGroupAngles);
    grid.group_count = std::max(divide_up(angles, max_group_angles), 1);
    grid.group_angles = std::max(divide_up(angles, grid.group_count), 1);
    grid.group_count = std::max(divide_up(angles, grid.group_angles), 1);
    grid.share_count = std::max(multiprocessors_ / grid.group_count, 1);
    grid.reach = divide_up(std::max(nms_radius, 1), grid.group_angles);
    const int rows = launch.in_shared ? grid.group_angles * row_bytes : 0;
    grid.cache_keys =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(rows) / static_cast<unsigned>(sizeof(Key))));
    grid.cache_keys = std::max(grid.cache_keys, kMinCacheKeys);
    launch.shared_bytes = std::max<std::size_t>(static_cast<std::size_t>(rows),
                                                static_cast<std::size_t>(grid.cache_keys) * sizeof(Key));
    return launch;
  }

  Status prepare_gradients() {
    if (directions_.count() == 0) CUDAVISION_TRY(directions_.allocate(pixel_count()));
    host_gradient_intervals_ = gradient_intervals_of(*plan_);
    CUDAVISION_TRY(gradient_intervals_.allocate(host_gradient_intervals_.size()));
    const Status copied = CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(
        gradient_intervals_.data(), host_gradient_intervals_.data(),
        host_gradient_intervals_.size() * sizeof(AngleIntervals), cudaMemcpyHostToDevice, execution_.stream));
    if (!copied.ok()) gradient_intervals_ = {};
    return copied;
  }

  // Allocates memory for the largest possible number of candidates.
  Status prepare_segments(const HoughParams &params) {
    if (owners_.count() == 0) CUDAVISION_TRY(owners_.allocate(pixel_count()));
    const std::size_t lines = std::min(static_cast<std::size_t>(params.max_lines), keys_.count());
    const std::size_t most = lines * static_cast<std::size_t>(max_runs_of_line(size_, params.min_length));
    if (candidates_.count() >= most && segments_.count() >= most) return {};
    CUDAVISION_TRY(candidates_.allocate(most));
    return segments_.allocate(most);
  }

  Status list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                     const HoughParams &params) {
    const bool segments = params.mode == HoughMode::segments;
    const ClearTask to_clear{.votes = reinterpret_cast<uint4 *>(votes_.data()),
                             .votes_count = plan_->cells() / 4,
                             .groups_done = groups_done_.data(),
                             .group_count = vote_launch_.grid.group_count,
                             .owners = segments ? owners_.data() : nullptr,
                             .owner_count = segments ? owners_.count() : 0};
    const int chunks = chunks_of_row(edges.width) * edges.height;
    const unsigned blocks =
        std::min(blocks_for(chunks, kListThreads), static_cast<unsigned>(8 * multiprocessors_));
    CUDAVISION_TRY(CUDAVISION_LAUNCH(list_points_kernel, dim3(blocks), dim3(kListThreads), execution_.stream,
                                     edges, luma, list_of(params), counters_.data(), turn_, to_clear));
    turn_ = 1 - turn_;
    return {};
  }

  PointList list_of(const HoughParams &params) const {
    return {points_.data(), params.gradient_voting ? directions_.data() : nullptr};
  }

  Status vote(const HoughParams &params, const HoughList &list) {
    const VoteGrid &grid = vote_launch_.grid;
    const VoteTask task{.accumulator = accumulator(),
                        .grid = grid,
                        .list = list_of(params),
                        .intervals = gradient_intervals_.data(),
                        .counters = counters_.data(),
                        .turn = 1 - turn_,
                        .groups_done = groups_done_.data(),
                        .keys = keys_.data(),
                        .threshold = static_cast<std::uint32_t>(params.threshold),
                        .nms_radius = params.nms_radius,
                        .max_lines = params.max_lines,
                        .write_lines = params.mode == HoughMode::lines,
                        .list_out = list};
    const dim3 blocks(static_cast<unsigned>(grid.group_count), static_cast<unsigned>(grid.share_count));
    return CUDAVISION_LAUNCH_NAMED(
        "vote_kernel", vote_kernel_for(params.gradient_voting, vote_launch_.in_shared), blocks,
        BlockSize(dim3(kVoteThreads), vote_launch_.shared_bytes), execution_.stream, task);
  }

  Status find_segments(ImageView<const std::uint8_t> edges, const HoughParams &params,
                       const HoughList &list) {
    const SegmentTask task{.accumulator = accumulator(),
                           .edges = edges,
                           .keys = keys_.data(),
                           .counters = counters_.data(),
                           .owners = owners_.data(),
                           .candidates = candidates_.data(),
                           .segments = segments_.data(),
                           .max_lines = params.max_lines,
                           .min_length = params.min_length,
                           .max_gap = params.max_gap,
                           .list_out = list};
    const auto multiprocessors = static_cast<unsigned>(multiprocessors_);
    CUDAVISION_TRY(CUDAVISION_LAUNCH(walk_lines_kernel, dim3(4 * multiprocessors), dim3(kWalkThreads),
                                     execution_.stream, task));
    return CUDAVISION_LAUNCH(judge_candidates_kernel, dim3(multiprocessors), dim3(kJudgeThreads),
                             execution_.stream, task);
  }

  Execution execution_;
  Size size_;
  int multiprocessors_ = 1;
  int vote_bytes_ = 0;  // the limit of the dynamic shared memory of vote_kernel
  int turn_ = 0;        // the element of Counters::points that the next frame uses
  DeviceBuffer<unsigned> points_;
  DeviceBuffer<Counters> counters_;

  // The plan and its buffers. The host's copies must stay until the stream has copied them.
  std::optional<AccumulatorPlan> plan_;
  HoughParams planned_for_;
  VoteLaunch vote_launch_;
  std::vector<Angle> host_angles_;
  DeviceBuffer<Angle> angles_;
  DeviceBuffer<std::uint32_t> votes_;
  DeviceBuffer<unsigned> groups_done_;
  DeviceBuffer<Key> keys_;

  // Made when gradient voting or segments are first requested.
  std::vector<AngleIntervals> host_gradient_intervals_;
  DeviceBuffer<AngleIntervals> gradient_intervals_;
  DeviceBuffer<std::uint16_t> directions_;
  DeviceBuffer<unsigned> owners_;
  DeviceBuffer<Key> candidates_, segments_;
};

}  // namespace

Status make_hough_cuda(const Execution &execution, Size size, std::unique_ptr<Hough> *hough) {
  auto made = std::make_unique<HoughCuda>(execution, size);
  CUDAVISION_TRY(made->allocate());
  *hough = std::move(made);
  return {};
}

}  // namespace cudavision::hough
