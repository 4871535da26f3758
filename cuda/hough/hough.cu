// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the Hough transform: two kernels for lines, four for segments, no host round trip.
//
// 1. list_points: the edge pixels become a list (points.cuh).
// 2. vote: votes in shared memory, peaks, and their order (votes.cuh).
// 3. walk_lines and 4. judge_candidates: segments along the peaks' lines (segments.cuh).
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "cuda/common/buffer.h"
#include "cuda/common/launch.h"
#include "cuda/hough/points.cuh"
#include "cuda/hough/segments.cuh"
#include "cuda/hough/votes.cuh"

namespace cudavision::hough {
namespace {

// Dynamic shared memory of a block that votes: two such blocks fit on the multiprocessors that have most of
// it.
constexpr int kMostVoteBytes = 104 << 10, kStaticVoteBytes = 2 << 10;
constexpr int kLeastCacheKeys = 2048;
constexpr int kGlobalGroupAngles = 8;  // of a group whose rows are too long for shared memory

using VoteKernel = void (*)(const VoteTask);

VoteKernel vote_kernel_for(bool gradient, bool in_shared) {
  static constexpr VoteKernel kKernels[2][2] = {{vote_kernel<false, false>, vote_kernel<false, true>},
                                                {vote_kernel<true, false>, vote_kernel<true, true>}};
  return kKernels[gradient][in_shared];
}

dim3 grid_of(int blocks) { return dim3(static_cast<unsigned>(std::max(blocks, 1))); }

class HoughCuda final : public Hough {
 public:
  HoughCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    int device = 0;
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    CUDAVISION_TRY_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    CUDAVISION_TRY_CUDA(
        cudaDeviceGetAttribute(&vote_bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    vote_bytes_ = std::min(vote_bytes_ - kStaticVoteBytes, kMostVoteBytes);
    for (const bool gradient : {false, true})
      for (const bool in_shared : {false, true})
        CUDAVISION_TRY(allow_shared_bytes(vote_kernel_for(gradient, in_shared),
                                          static_cast<std::size_t>(vote_bytes_)));
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
    const dim3 grid(static_cast<unsigned>(divide_up(votes.width, kListThreads)),
                    static_cast<unsigned>(votes.height));
    return CUDAVISION_LAUNCH(copy_votes_kernel, grid, dim3(kListThreads), execution_.stream, space(), votes);
  }

 private:
  std::size_t pixel_count() const {
    return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  }
  Space space() const { return space_of(*plan_, size_, angles_.data(), votes_.data()); }

  // Makes what these parameters need and the last ones did not.
  Status prepare(const HoughParams &params) {
    if (!plan_ || !same_plan(params, planned_for_)) CUDAVISION_TRY(plan(params));
    grid_ = vote_grid(params.nms_radius);
    if (params.gradient_voting && stretches_.count() == 0) CUDAVISION_TRY(prepare_gradients());
    return params.mode == HoughMode::segments ? prepare_segments(params) : Status();
  }

  Status plan(const HoughParams &params) {
    plan_.reset();
    Plan made;
    CUDAVISION_TRY(make_plan(size_, params, &made));
    // Frees first, which waits: the stream may still read the host's tables, and both sets may not fit.
    angles_ = {}, votes_ = {}, keys_ = {}, stretches_ = {}, groups_done_ = {};
    const std::size_t angles = std::max<std::size_t>(made.angles.size(), 1);
    CUDAVISION_TRY(angles_.allocate(angles));
    CUDAVISION_TRY(groups_done_.allocate(angles));
    CUDAVISION_TRY(votes_.allocate(std::max<std::size_t>(made.cells(), 4)));
    CUDAVISION_TRY(keys_.allocate(std::max<std::size_t>(made.most_peaks(), 1)));
    host_angles_ = made.angles;
    CUDAVISION_TRY_CUDA(cudaMemcpyAsync(angles_.data(), host_angles_.data(),
                                        host_angles_.size() * sizeof(Angle), cudaMemcpyHostToDevice,
                                        execution_.stream));
    plan_ = std::move(made);
    planned_for_ = params;
    return {};
  }

  VoteGrid vote_grid(int nms_radius) const {
    const int angles = static_cast<int>(plan_->angles.size()), row_bytes = plan_->stride * 4;
    VoteGrid grid{};
    in_shared_ = row_bytes <= vote_bytes_;
    const int most =
        std::clamp(in_shared_ ? vote_bytes_ / row_bytes : kGlobalGroupAngles, 1, kMaxGroupAngles);
    grid.group_count = std::max(divide_up(angles, most), 1);
    grid.group_angles = std::max(divide_up(angles, grid.group_count), 1);
    grid.group_count = std::max(divide_up(angles, grid.group_angles), 1);
    grid.share_count = std::max(multiprocessors_ / grid.group_count, 1);
    grid.reach = divide_up(std::max(nms_radius, 1), grid.group_angles);
    const int rows = in_shared_ ? grid.group_angles * row_bytes : 0;
    grid.cache_keys =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(rows) / static_cast<unsigned>(sizeof(Key))));
    grid.cache_keys = std::max(grid.cache_keys, kLeastCacheKeys);
    shared_bytes_ = std::max<std::size_t>(static_cast<std::size_t>(rows),
                                          static_cast<std::size_t>(grid.cache_keys) * sizeof(Key));
    return grid;
  }

  Status prepare_gradients() {
    if (directions_.count() == 0) CUDAVISION_TRY(directions_.allocate(pixel_count()));
    host_stretches_ = stretches_of(*plan_);
    CUDAVISION_TRY(stretches_.allocate(host_stretches_.size()));
    const Status copied = CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(stretches_.data(), host_stretches_.data(),
                                                                host_stretches_.size() * sizeof(Stretches),
                                                                cudaMemcpyHostToDevice, execution_.stream));
    if (!copied.ok()) stretches_ = {};
    return copied;
  }

  // Room for every candidate that there can be.
  Status prepare_segments(const HoughParams &params) {
    if (owners_.count() == 0) CUDAVISION_TRY(owners_.allocate(pixel_count()));
    const std::size_t lines = std::min(static_cast<std::size_t>(params.max_lines), keys_.count());
    const std::size_t most = lines * static_cast<std::size_t>(most_runs_of_line(size_, params.min_length));
    if (candidates_.count() >= most && segments_.count() >= most) return {};
    CUDAVISION_TRY(candidates_.allocate(most));
    return segments_.allocate(most);
  }

  Status list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                     const HoughParams &params) {
    const bool segments = params.mode == HoughMode::segments;
    const Cleared cleared{reinterpret_cast<uint4 *>(votes_.data()),
                          plan_->cells() / 4,
                          groups_done_.data(),
                          grid_.group_count,
                          segments ? owners_.data() : nullptr,
                          segments ? owners_.count() : 0};
    const int chunks = chunks_of_row(edges.width) * edges.height;
    const int blocks = std::min(divide_up(chunks, kListThreads), 8 * multiprocessors_);
    CUDAVISION_TRY(CUDAVISION_LAUNCH(list_points_kernel, grid_of(blocks), dim3(kListThreads),
                                     execution_.stream, edges, luma, list_of(params), counters_.data(), turn_,
                                     cleared));
    turn_ = 1 - turn_;
    return {};
  }

  PointList list_of(const HoughParams &params) const {
    return {points_.data(), params.gradient_voting ? directions_.data() : nullptr};
  }

  Status vote(const HoughParams &params, const HoughList &list) {
    const VoteTask task{space(),
                        grid_,
                        list_of(params),
                        stretches_.data(),
                        counters_.data(),
                        1 - turn_,
                        groups_done_.data(),
                        keys_.data(),
                        static_cast<std::uint32_t>(params.threshold),
                        params.nms_radius,
                        params.max_lines,
                        params.mode == HoughMode::lines,
                        list};
    const dim3 blocks(static_cast<unsigned>(grid_.group_count), static_cast<unsigned>(grid_.share_count));
    return CUDAVISION_LAUNCH_NAMED("vote_kernel", vote_kernel_for(params.gradient_voting, in_shared_), blocks,
                                   BlockSize(dim3(kVoteThreads), shared_bytes_), execution_.stream, task);
  }

  Status find_segments(ImageView<const std::uint8_t> edges, const HoughParams &params,
                       const HoughList &list) {
    const SegmentTask task{space(),
                           edges,
                           keys_.data(),
                           counters_.data(),
                           owners_.data(),
                           candidates_.data(),
                           segments_.data(),
                           params.max_lines,
                           params.min_length,
                           params.max_gap,
                           list};
    CUDAVISION_TRY(CUDAVISION_LAUNCH(walk_lines_kernel, grid_of(4 * multiprocessors_), dim3(kWalkThreads),
                                     execution_.stream, task));
    return CUDAVISION_LAUNCH(judge_candidates_kernel, grid_of(multiprocessors_), dim3(kJudgeThreads),
                             execution_.stream, task);
  }

  Execution execution_;
  Size size_;
  int multiprocessors_ = 1, vote_bytes_ = 0, turn_ = 0;
  DeviceBuffer<unsigned> points_;
  DeviceBuffer<Counters> counters_;

  // Of the plan. The host's tables stay for the copies that the stream makes of them.
  std::optional<Plan> plan_;
  HoughParams planned_for_;
  VoteGrid grid_{};
  mutable bool in_shared_ = true;
  mutable std::size_t shared_bytes_ = 0;
  std::vector<Angle> host_angles_;
  DeviceBuffer<Angle> angles_;
  DeviceBuffer<std::uint32_t> votes_;
  DeviceBuffer<unsigned> groups_done_;
  DeviceBuffer<Key> keys_;

  // Of gradients and of segments, when they are first asked for.
  std::vector<Stretches> host_stretches_;
  DeviceBuffer<Stretches> stretches_;
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
