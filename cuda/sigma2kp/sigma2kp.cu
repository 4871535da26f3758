// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the sigma^2 detector: one kernel finds and lists the keypoints, without a host round
// trip and without a plane of sums; one more thins the list by distance, one more counts orientations.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/buffer.h"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch.h"
#include "cuda/sigma2kp/apart.cuh"
#include "cuda/sigma2kp/collect.cuh"
#include "cuda/sigma2kp/orient.cuh"
#include "cuda/sigma2kp/tile.cuh"

namespace cudavision::sigma2kp {
namespace {

constexpr std::size_t kStaticBytes = 4 << 10;  // of shared memory, at most
constexpr std::size_t kLeastSharedBytes =
    64 << 10;  // that a device has for a block, at most: compute capability 7.5
// Of dynamic shared memory: sums are made in several steps of at least so many rows where one step would take
// more than kStepBytes, which is what the usual tile needs for one step, with five blocks on a
// multiprocessor; and tiles are smaller where they would take more than kTileBytes.
constexpr int kLeastChunk = 8;
constexpr std::size_t kStepBytes = 40 << 10, kTileBytes = 48 << 10;
// Their threads walk over what there is, which the host does not know: of 132 multiprocessors, as a large
// device has them, 2 blocks each, of which the last has less to wait for then, and the 8 that fit.
constexpr int kMostApartBlocks = 2 * 132, kMostOrientBlocks = 8 * 132;

// T: what holds S; kWindow, kCell: 0 for any.
template <typename T, int kWindow, int kCell>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 4 ? 4 : 3)
    find_keypoints_kernel(const __grid_constant__ CollectTask task) {
  CUDAVISION_DYNAMIC_SHARED(unsigned char, shared);
  __shared__ Selection block;
  __shared__ unsigned tile_bits[kMaxTileWords];
  __shared__ int tile_index;
  __shared__ bool is_last;
  __shared__ unsigned keypoints;
  wait_for_kernel_ahead();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) tile_index = static_cast<int>(atomicAdd(&task.progress->next_tile, 1u)), keypoints = 0;
  for (int i = thread; i < task.tile.words(); i += kThreads) tile_bits[i] = 0;
  __syncthreads();
  const Plan &plan = task.plan;
  const int band = tile_index / task.tiles_x;
  const int x = (tile_index - band * task.tiles_x) * task.tile.width, y = band * task.tile.height;
  const Extent has{max(x - plan.before, 0), max(y - plan.before, 0),
                   min(x + task.tile.width + plan.after, plan.map.width),
                   min(y + task.tile.height + plan.after, plan.map.height)};
  auto *strengths = reinterpret_cast<T *>(shared);
  unsigned char *behind = shared + strength_bytes(task.tile, plan);
  auto *sums = reinterpret_cast<Sums *>(behind);
  std::uint8_t *pixels = behind + sum_bytes(task.tile);
  mark_tile(TileWork<T, kWindow, kCell>{plan, task.tile, x, y, has, strengths, sums, pixels, tile_bits},
            task.luma);

  const int words_x = task.tile.width / 32;
  for (int i = thread; i < task.tile.words(); i += kThreads) {
    const int row = i / words_x;
    if (y + row >= plan.map.height) continue;
    task.bits[static_cast<std::ptrdiff_t>(y + row) * task.words_per_row + x / 32 + i - row * words_x] =
        tile_bits[i];
    if (tile_bits[i] != 0) atomicAdd(&keypoints, static_cast<unsigned>(__popc(tile_bits[i])));
  }
  __syncthreads();
  if (thread == 0 && keypoints != 0) atomicAdd(&task.band[band].keypoints, keypoints);
  if (is_last_block(&task.band[band].tiles_done, static_cast<unsigned>(task.tiles_x), &is_last))
    finish_band<kWindow>(task, band, block, &is_last, &keypoints);
}

constexpr int kUsualWindow = 5, kUsualCell = 4;  // the defaults
constexpr auto find_usual_keypoints = find_keypoints_kernel<std::uint32_t, kUsualWindow, kUsualCell>;
constexpr auto find_narrow_keypoints = find_keypoints_kernel<std::uint32_t, 0, 0>;
constexpr auto find_wide_keypoints = find_keypoints_kernel<std::uint64_t, 0, 0>;

auto find_kernel_of(const Plan &plan) {
  if (plan.is_wide()) return find_wide_keypoints;
  const bool usual = !plan.dense && plan.window == kUsualWindow && plan.cell == kUsualCell;
  return usual ? find_usual_keypoints : find_narrow_keypoints;
}

// No square fits: there is nothing to find.
__global__ void list_nothing_kernel(Sigma2Count *count, Progress *progress) {
  *count = {0, 0};
  progress->found = 0;
}

constexpr int odd(int n) { return n | 1; }

// The largest tile that leaves room for other blocks, or the smallest one.
Tile make_tile(const Plan &plan) {
  Tile tile{};
  for (const Size size : {Size{64, 32}, Size{64, 16}, Size{32, 32}, Size{32, 16}, Size{32, 8}}) {
    const int columns = size.width + plan.before + plan.after, rows = size.height + plan.before + plan.after;
    tile = {size.width, size.height, odd(columns), odd(columns + plan.window - 1), rows};
    while (tile.chunk > kLeastChunk && shared_bytes(tile, plan) > kStepBytes)
      tile.chunk = divide_up(tile.chunk, 2);
    if (shared_bytes(tile, plan) <= kTileBytes) break;
  }
  return tile;
}

class Sigma2KpCuda final : public Sigma2Kp {
 public:
  Sigma2KpCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    int device = 0;
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    int most = 0;
    CUDAVISION_TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    // Whatever works on one device works on every one.
    dynamic_bytes_ = std::min(static_cast<std::size_t>(most), kLeastSharedBytes) - kStaticBytes;
    for (const auto kernel : {find_usual_keypoints, find_narrow_keypoints, find_wide_keypoints})
      CUDAVISION_TRY(allow_shared_bytes(kernel, dynamic_bytes_));
    CUDAVISION_TRY(progress_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(progress_.data(), 0, sizeof(Progress), execution_.stream));
  }

  Status run(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params,
             const Sigma2List &list) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params));
    CUDAVISION_TRY(prepare(params));
    CUDAVISION_TRY(find(luma, params, list));
    if (params.min_distance > 0 && plan_.map.width > 0) CUDAVISION_TRY(keep_apart(params, list));
    return params.orientation ? orient(luma, params, list) : Status();
  }

 private:
  // Makes what these parameters need and the last ones did not.
  Status prepare(const Sigma2KpParams &params) {
    if (!is_made_ || !same_squares(params, made_for_)) CUDAVISION_TRY(prepare_squares(params));
    if (params.min_distance > 0 && kept_.count() == 0 && plan_.map.width > 0) {
      CUDAVISION_TRY(row_begins_.allocate(static_cast<std::size_t>(plan_.map.height) + 1));
      CUDAVISION_TRY(kept_.allocate(strengths_.count()));
    }
    if (params.orientation && table_.bins != params.orientation_bins)
      table_ = make_orientation_table(params.orientation_bins);
    return {};
  }

  Status prepare_squares(const Sigma2KpParams &params) {
    is_made_ = false;
    // Frees first: both sets may not fit.
    bits_ = {}, bands_ = {}, strengths_ = {}, places_ = {}, row_begins_ = {}, kept_ = {};
    plan_ = make_plan(size_, params);
    made_for_ = params;
    if (plan_.map.width > 0) {
      tile_ = make_tile(plan_);
      if (shared_bytes(tile_, plan_) > dynamic_bytes_)
        return invalid_argument("window, cell and tau need " + std::to_string(shared_bytes(tile_, plan_)) +
                                " bytes of shared memory, and the device has " +
                                std::to_string(dynamic_bytes_));
      tiles_x_ = divide_up(plan_.map.width, tile_.width);
      band_count_ = divide_up(plan_.map.height, tile_.height);
      CUDAVISION_TRY(bits_.allocate(static_cast<std::size_t>(words_per_row()) *
                                    static_cast<std::size_t>(plan_.map.height)));
      CUDAVISION_TRY(bands_.allocate(static_cast<std::size_t>(band_count_)));
      CUDAVISION_TRY_CUDA(cudaMemsetAsync(
          bands_.data(), 0, static_cast<std::size_t>(band_count_) * sizeof(Band), execution_.stream));
      const std::size_t most = most_keypoints(plan_);
      CUDAVISION_TRY(strengths_.allocate(most));
      CUDAVISION_TRY(places_.allocate(most));
    }
    is_made_ = true;
    return {};
  }

  int words_per_row() const { return tiles_x_ * (tile_.width / 32); }
  AllKeypoints all(const Sigma2KpParams &params) const {
    return {strengths_.data(), places_.data(), params.min_distance > 0 ? row_begins_.data() : nullptr};
  }

  Status find(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2List &list) {
    if (plan_.map.width == 0)
      return CUDAVISION_LAUNCH(list_nothing_kernel, dim3(1), dim3(1), execution_.stream, list.count,
                               progress_.data());
    const CollectTask task{luma,
                           plan_,
                           tile_,
                           tiles_x_,
                           band_count_,
                           bits_.data(),
                           words_per_row(),
                           bands_.data(),
                           progress_.data(),
                           all(params),
                           list,
                           params.max_keypoints,
                           params.min_distance == 0};
    return CUDAVISION_LAUNCH_EARLY(
        "find_keypoints_kernel", find_kernel_of(plan_), dim3(static_cast<unsigned>(tiles_x_ * band_count_)),
        BlockSize(dim3(kThreads), shared_bytes(tile_, plan_)), execution_.stream, task);
  }

  Status keep_apart(const Sigma2KpParams &params, const Sigma2List &list) {
    const ApartTask task{all(params),         kept_.data(),         progress_.data(), plan_.map.height,
                         params.min_distance, params.max_keypoints, plan_.is_wide(),  list};
    const std::size_t most = (strengths_.count() + kThreads - 1) / kThreads;
    const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(most, 1, kMostApartBlocks));
    return CUDAVISION_LAUNCH_EARLY("keep_apart_kernel", keep_apart_kernel, dim3(blocks), dim3(kThreads),
                                   execution_.stream, task);
  }

  Status orient(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2List &list) {
    const int blocks = std::clamp(divide_up(params.max_keypoints, kOrientWarps), 1, kMostOrientBlocks);
    const std::size_t bytes = static_cast<std::size_t>(kOrientWarps * table_.bins) * sizeof(unsigned);
    return CUDAVISION_LAUNCH_EARLY("orient_kernel", orient_kernel, dim3(static_cast<unsigned>(blocks)),
                                   BlockSize(dim3(kOrientThreads), bytes), execution_.stream, luma, list,
                                   params.window, params.orientation_window, params.op, params.weight,
                                   table_);
  }

  Execution execution_;
  Size size_;
  std::size_t dynamic_bytes_ = 0;
  DeviceBuffer<Progress> progress_;  // all 0 between frames, but found
  OrientationTable table_;

  // Made for the squares of these parameters.
  bool is_made_ = false;
  Sigma2KpParams made_for_;
  Plan plan_{};
  Tile tile_{};
  int tiles_x_ = 0, band_count_ = 0;
  DeviceBuffer<unsigned> bits_;
  DeviceBuffer<Band> bands_;  // all 0 between frames
  DeviceBuffer<std::uint64_t> strengths_;
  DeviceBuffer<std::uint32_t> places_;
  DeviceBuffer<std::uint32_t> row_begins_;  // with min_distance
  DeviceBuffer<std::uint8_t> kept_;
};

}  // namespace

Status make_sigma2kp_cuda(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *room) {
  auto made = std::make_unique<Sigma2KpCuda>(execution, size);
  CUDAVISION_TRY(made->allocate());
  *room = std::move(made);
  return {};
}

}  // namespace cudavision::sigma2kp
