// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the Hough transform: five kernels for lines and nine for segments, without a host round
// trip.
//
// 1. list_points_kernel lists the edge pixels (points.cuh).
// 2. vote_kernel counts votes in shared memory (votes.cuh).
// 3. find_peaks_kernel lists the peaks, 4. sort_peaks_kernel sorts parts of the list, and 5. place_peaks_kernel puts
//    every peak in its place (peaks.cuh).
// 6. walk_lines_kernel and 7. judge_candidates_kernel find segments along the lines of the peaks, and
//    8. sort_segments_kernel and 9. place_segments_kernel sort them (segments.cuh).
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/hough/hough_backends.h"
#include "cuda/hough/peaks.cuh"
#include "cuda/hough/points.cuh"
#include "cuda/hough/segments.cuh"
#include "cuda/hough/votes.cuh"

namespace cudavision::hough {
namespace {

// The dynamic shared memory of a block of vote_kernel, in bytes. With kVoteBytes each, kMinVoteBlocks blocks fit on a
// multiprocessor with 228 KiB of shared memory and leave room for the L1 cache. A block for a single, longer row of the
// accumulator may use up to kMaxVoteBytes.
constexpr int kVoteBytes = 56 << 10, kMaxVoteBytes = 104 << 10;
// Reserved for the static shared memory of vote_kernel, in bytes.
constexpr int kStaticVoteBytes = 2 << 10;
// The minimum number of pixels per share of the points (VoteGrid): fewer have too few edges for the threads of a block.
constexpr int kPixelsOfShare = 65536;
// The maximum number of angles per group (VoteGrid) if a row of the accumulator is too long for shared memory.
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
    CUDAVISION_TRY(vote(params));
    CUDAVISION_TRY(find_peaks(params, list));
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
    vote_launch_ = vote_launch();
    if (params.gradient_voting && gradient_intervals_.count() == 0) CUDAVISION_TRY(prepare_gradients());
    return params.mode == HoughMode::segments ? prepare_segments(params) : Status();
  }

  Status prepare_accumulator(const HoughParams &params) {
    plan_.reset();
    AccumulatorPlan made;
    CUDAVISION_TRY(make_accumulator_plan(size_, params, &made));
    // Frees the old buffers first, because they may not fit beside the new ones. Freeing also waits until the stream no
    // longer reads the tables on the host.
    angles_ = {}, votes_ = {}, found_keys_ = {}, keys_ = {}, gradient_intervals_ = {};
    const std::size_t angles = std::max<std::size_t>(made.angles.size(), 1);
    CUDAVISION_TRY(angles_.allocate(angles));
    CUDAVISION_TRY(votes_.allocate(std::max<std::size_t>(made.cells(), 4)));
    CUDAVISION_TRY(found_keys_.allocate(std::max<std::size_t>(made.max_peaks(), 1)));
    host_angles_ = made.angles;
    CUDAVISION_TRY_CUDA(cudaMemcpyAsync(angles_.data(), host_angles_.data(),
                                        host_angles_.size() * sizeof(Angle), cudaMemcpyHostToDevice,
                                        execution_.stream));
    plan_ = std::move(made);
    planned_for_ = params;
    return {};
  }

  VoteLaunch vote_launch() const {
    const int angles = static_cast<int>(plan_->angles.size()), row_bytes = plan_->stride * 4;
    VoteLaunch launch;
    VoteGrid &grid = launch.grid;
    launch.in_shared = row_bytes <= vote_bytes_;
    // Few groups of angles read the points less often; few shares of the points add to the accumulator less often.
    const int blocks = kMinVoteBlocks * multiprocessors_;
    const int shares = std::clamp(static_cast<int>(pixel_count()) / kPixelsOfShare, 1, blocks);
    const int most =
        launch.in_shared ? std::max(std::min(kVoteBytes, vote_bytes_) / row_bytes, 1) : kGlobalGroupAngles;
    grid.group_angles =
        std::clamp(divide_up(angles, divide_up(blocks, shares)), 1, std::min(most, kMaxGroupAngles));
    grid.group_count = std::max(divide_up(angles, grid.group_angles), 1);
    grid.share_count = std::clamp(blocks / grid.group_count, 1, shares);
    launch.shared_bytes = launch.in_shared ? static_cast<std::size_t>(grid.group_angles * row_bytes) : 0;
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
    const std::size_t lines = std::min(static_cast<std::size_t>(params.max_lines), found_keys_.count());
    const std::size_t most = lines * static_cast<std::size_t>(max_runs_of_line(size_, params.min_length));
    if (keys_.count() < lines) CUDAVISION_TRY(keys_.allocate(lines));
    if (candidates_.count() >= most && segments_.count() >= most) return {};
    CUDAVISION_TRY(candidates_.allocate(most));
    return segments_.allocate(most);
  }

  Status list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
                     const HoughParams &params) {
    const bool segments = params.mode == HoughMode::segments;
    const ClearTask to_clear{.votes = reinterpret_cast<uint4 *>(votes_.data()),
                             .votes_count = plan_->cells() / 4,
                             .owners = segments ? owners_.data() : nullptr,
                             .owner_count = segments ? owners_.count() : 0};
    const int chunks = chunks_of_row(edges.width) * edges.height;
    const unsigned blocks =
        std::min(blocks_for(chunks, kListThreads), static_cast<unsigned>(8 * multiprocessors_));
    // Launched with Start::in_order: clears memory that the kernels of the previous frame may still read.
    CUDAVISION_TRY(CUDAVISION_LAUNCH(list_points_kernel, dim3(blocks), dim3(kListThreads), execution_.stream,
                                     edges, luma, list_of(params), counters_.data(), turn_, to_clear));
    turn_ = 1 - turn_;
    return {};
  }

  PointList list_of(const HoughParams &params) const {
    return {points_.data(), params.gradient_voting ? directions_.data() : nullptr};
  }

  Status vote(const HoughParams &params) {
    const VoteGrid &grid = vote_launch_.grid;
    const VoteTask task{.accumulator = accumulator(),
                        .grid = grid,
                        .list = list_of(params),
                        .intervals = gradient_intervals_.data(),
                        .counters = counters_.data(),
                        .turn = 1 - turn_};
    const dim3 blocks(static_cast<unsigned>(grid.group_count), static_cast<unsigned>(grid.share_count));
    return CUDAVISION_LAUNCH_PDL(
        "vote_kernel", vote_kernel_for(params.gradient_voting, vote_launch_.in_shared), blocks,
        BlockSize(dim3(kVoteThreads), vote_launch_.shared_bytes), execution_.stream, task);
  }

  Status find_peaks(const HoughParams &params, const HoughList &list) {
    const PeakTask task{.accumulator = accumulator(),
                        .counters = counters_.data(),
                        .found = found_keys_.data(),
                        .sorted = keys_.data(),
                        .threshold = static_cast<std::uint32_t>(params.threshold),
                        .nms_radius = params.nms_radius,
                        .max_lines = params.max_lines,
                        .write_lines = params.mode == HoughMode::lines,
                        .list_out = list};
    const int quads = static_cast<int>(plan_->angles.size()) * (plan_->stride / 4);
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("find_peaks_kernel", find_peaks_kernel,
                                         dim3(std::max(blocks_for(quads, kListThreads), 1u)),
                                         dim3(kListThreads), execution_.stream, task));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("sort_peaks_kernel", sort_peaks_kernel,
                                         blocks_for_keys(found_keys_.count(), kSmallTile), dim3(kTileThreads),
                                         execution_.stream, task));
    return CUDAVISION_LAUNCH_PDL("place_peaks_kernel", place_peaks_kernel,
                                 blocks_for_keys(found_keys_.count(), kTileThreads), dim3(kTileThreads),
                                 execution_.stream, task);
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
    const dim3 blocks(static_cast<unsigned>(kSegmentBlocks * multiprocessors_));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("walk_lines_kernel", walk_lines_kernel, blocks, dim3(kWalkThreads),
                                         execution_.stream, task));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("judge_candidates_kernel", judge_candidates_kernel, blocks,
                                         dim3(kJudgeThreads), execution_.stream, task));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("sort_segments_kernel", sort_segments_kernel,
                                         blocks_for_keys(segments_.count(), kSmallTile), dim3(kTileThreads),
                                         execution_.stream, task));
    return CUDAVISION_LAUNCH_PDL("place_segments_kernel", place_segments_kernel,
                                 blocks_for_keys(segments_.count(), kTileThreads), dim3(kTileThreads),
                                 execution_.stream, task);
  }

  // The number of blocks for a list of at most most_keys keys. The host does not know the length of the list; a
  // grid-stride loop covers long lists.
  dim3 blocks_for_keys(std::size_t most_keys, int keys_of_block) const {
    const std::size_t blocks = (most_keys - 1) / static_cast<std::size_t>(keys_of_block) + 1;
    return dim3(static_cast<unsigned>(std::min(blocks, 2 * static_cast<std::size_t>(multiprocessors_))));
  }

  Execution execution_;
  Size size_;
  int multiprocessors_ = 1;
  int vote_bytes_ = 0;  // the limit of the dynamic shared memory of vote_kernel
  int turn_ = 0;        // the element of Counters::points that the next frame uses
  DeviceBuffer<unsigned> points_;
  DeviceBuffer<Counters> counters_;

  // The plan and its buffers. The copies on the host must stay unchanged until the stream has copied them.
  std::optional<AccumulatorPlan> plan_;
  HoughParams planned_for_;
  VoteLaunch vote_launch_;
  std::vector<Angle> host_angles_;
  DeviceBuffer<Angle> angles_;
  DeviceBuffer<std::uint32_t> votes_;
  DeviceBuffer<Key> found_keys_;  // the keys of all peaks

  // Made when gradient voting or segments are first requested.
  std::vector<AngleIntervals> host_gradient_intervals_;
  DeviceBuffer<AngleIntervals> gradient_intervals_;
  DeviceBuffer<std::uint16_t> directions_;
  DeviceBuffer<unsigned> owners_;
  DeviceBuffer<Key> keys_;  // the keys of the lines, sorted
  DeviceBuffer<Key> candidates_, segments_;
};

}  // namespace

Status make_hough_cuda(const Execution &execution, Size size, std::unique_ptr<Hough> *hough) {
  return make_as<HoughCuda>(hough, execution, size);
}

}  // namespace cudavision::hough
