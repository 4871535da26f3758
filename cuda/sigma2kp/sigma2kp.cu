// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the sigma^2 detector. One kernel finds and lists the keypoints, without a host round
// trip and without an integral image in global memory; one more applies min_distance, and one more computes
// orientations.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/sigma2kp/keypoint_list.cuh"
#include "cuda/sigma2kp/min_distance.cuh"
#include "cuda/sigma2kp/orient.cuh"
#include "cuda/sigma2kp/sigma2kp_backends.h"
#include "cuda/sigma2kp/tile.cuh"

namespace cudavision::sigma2kp {
namespace {

// Reserved for the static shared memory of find_keypoints_kernel, in bytes.
constexpr std::size_t kStaticBytes = 4 << 10;
// The maximum shared memory of a block on devices of compute capability 7.5, the smallest that is supported.
constexpr std::size_t kSmallestSharedBytes = 64 << 10;
// Column sums are computed in several chunks, of at least kMinChunk rows, if a block would otherwise take more than
// kChunkBytes of shared memory. With the default parameters, a tile takes one chunk, and six blocks fit on a
// multiprocessor.
constexpr int kMinChunk = 8;
constexpr std::size_t kChunkBytes = 40 << 10;
// A smaller tile is chosen if a tile would take more shared memory than this.
constexpr std::size_t kTileBytes = 48 << 10;
// The maximum numbers of blocks of the kernels with grid-stride loops, for 132 multiprocessors (H100); the host does
// not know the number of keypoints. keep_apart_kernel: 2 per multiprocessor, so that its last block waits for few
// others. orient_kernel: as many as fit, which are fewer if gradients are weighted.
constexpr unsigned kMaxMinDistanceBlocks = 2 * 132, kMaxOrientBlocks = 5 * 132,
                   kMaxWeightedOrientBlocks = 4 * 132;

// The dynamic shared memory of find_keypoints_kernel.
inline std::size_t shared_bytes(const TileLayout &tile, const DetectorPlan &plan) {
  const auto pixels = static_cast<std::size_t>(tile.chunk + plan.window - 1);
  return strength_bytes(tile, plan) + sum_bytes(tile) + pixels * static_cast<std::size_t>(tile.pixel_pitch);
}

// The number of blocks of find_keypoints_kernel per multiprocessor that the registers allow. With six, the default
// kernel would spill registers on the architectures that hold 1536 threads.
constexpr int kDefaultBlocksAtOnce = kResidentThreads == 2048 ? 6 : 5;
template <typename T, int kWindow>
constexpr int find_blocks_at_once = resident_blocks(kThreads, kWindow != 0     ? kDefaultBlocksAtOnce
                                                              : sizeof(T) == 4 ? 4
                                                                               : 3);

// Whether the centre pixel of any window of the tile is in a region. (x, y): the first window of the tile.
__device__ inline bool has_searched_windows(const FindTask &task, int x, int y) {
  if (task.places.everywhere()) return true;
  const int left = x + task.plan.window / 2, top = y + task.plan.window / 2;
  bool found = false;
  for (int i = 0; i < task.places.count; ++i) {
    const Region &r = task.places.region[i];
    found |= r.width > 0 && r.height > 0 && left < r.x + r.width && r.x < left + task.tile.width &&
             top < r.y + r.height && r.y < top + task.tile.height;
  }
  return found;
}

// Returns the bits of `marked` whose windows are searched. Bit i stands for the window at (x + i, y).
__device__ inline unsigned searched_bits(const FindTask &task, unsigned marked, int x, int y) {
  if (task.places.everywhere()) return marked;
  unsigned kept = 0;
  for (unsigned left = marked; left != 0; left &= left - 1) {
    const int i = __ffs(static_cast<int>(left)) - 1;
    if (is_searched(task.places, task.plan.window, x + i, y)) kept |= 1u << i;
  }
  return kept;
}

// One block per tile. The template parameters are those of TileWork (tile.cuh).
template <typename T, int kWindow, int kCell>
static __global__ void __launch_bounds__(kThreads, find_blocks_at_once<T, kWindow>)
    find_keypoints_kernel(const __grid_constant__ FindTask task) {
  CUDAVISION_DYNAMIC_SHARED(unsigned char, shared);
  CUDAVISION_SHARED(Selection, block);
  CUDAVISION_SHARED(unsigned[kMaxTileWords], tile_bits);
  CUDAVISION_SHARED(int, tile_index);
  CUDAVISION_SHARED(bool, is_last);
  CUDAVISION_SHARED(unsigned, keypoints);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) tile_index = claim_tile(task), keypoints = 0;
  for (int i = thread; i < task.tile.words(); i += kThreads) tile_bits[i] = 0;
  __syncthreads();
  wait_for_input(task.input);
  const DetectorPlan &plan = task.plan;
  const int band = tile_index / task.tiles_x;
  const int x = (tile_index - band * task.tiles_x) * task.tile.width, y = band * task.tile.height;
  const WindowRange needed{max(x - plan.before, 0), max(y - plan.before, 0),
                           min(x + task.tile.width + plan.after, plan.map.width),
                           min(y + task.tile.height + plan.after, plan.map.height)};
  unsigned char *after_strengths = shared + strength_bytes(task.tile, plan);
  const TileWork<T, kWindow, kCell> work{.plan = plan,
                                         .tile = task.tile,
                                         .x = x,
                                         .y = y,
                                         .needed = needed,
                                         .strengths = reinterpret_cast<T *>(shared),
                                         .sums = reinterpret_cast<Sums *>(after_strengths),
                                         .pixels = after_strengths + sum_bytes(task.tile),
                                         .bits = tile_bits};
  if (has_searched_windows(task, x, y)) mark_tile(work, task.luma);

  const int words_x = task.tile.width / 32;
  for (int i = thread; i < task.tile.words(); i += kThreads) {
    const int row = i / words_x, word_x = x / 32 + i - row * words_x;
    if (y + row >= plan.map.height) continue;
    const unsigned bits = searched_bits(task, tile_bits[i], 32 * word_x, y + row);
    task.bits[static_cast<std::ptrdiff_t>(y + row) * task.words_per_row + word_x] = bits;
    if (bits != 0) atomicAdd(&keypoints, static_cast<unsigned>(__popc(bits)));
  }
  __syncthreads();
  if (thread == 0 && keypoints != 0) atomicAdd(&task.band[band].keypoints, keypoints);
  if (!is_last_block(&task.band[band].tiles_done, static_cast<unsigned>(task.tiles_x), &is_last)) return;
  wait_for_kernel_ahead();
  let_next_kernel_start();  // the next frame may use the bits and bands of the frame before this one
  finish_band<kWindow>(task, band, block, &is_last, &keypoints);
}

constexpr int kDefaultWindow = Sigma2KpParams{}.window, kDefaultCell = Sigma2KpParams{}.cell;
// One kernel is specialised for the default window and cell with grids.
constexpr auto find_default_keypoints = find_keypoints_kernel<std::uint32_t, kDefaultWindow, kDefaultCell>;
constexpr auto find_narrow_keypoints = find_keypoints_kernel<std::uint32_t, 0, 0>;
constexpr auto find_wide_keypoints = find_keypoints_kernel<std::uint64_t, 0, 0>;
constexpr std::array kFindKernels{find_default_keypoints, find_narrow_keypoints, find_wide_keypoints};

auto find_kernel_of(const DetectorPlan &plan) {
  if (plan.is_wide()) return find_wide_keypoints;
  const bool is_default = !plan.dense && plan.window == kDefaultWindow && plan.cell == kDefaultCell;
  return is_default ? find_default_keypoints : find_narrow_keypoints;
}

// Writes an empty list, because no cell fits in the image or because no region is searched.
static __global__ void list_nothing_kernel(Sigma2KpCount *count, Progress *progress) {
  *count = {0, 0};
  progress->found = 0;
}

constexpr int odd(int n) { return n | 1; }

// The layout of tiles of this size (in windows), with as few chunks as kChunkBytes allows.
TileLayout make_tile_layout(const DetectorPlan &plan, Size size) {
  const int columns = size.width + plan.before + plan.after, rows = size.height + plan.before + plan.after,
            pixels = columns + plan.window - 1;
  TileLayout tile{.width = size.width,
                  .height = size.height,
                  .strength_pitch = odd(columns),
                  .sum_pitch = odd(pixels),
                  .pixel_pitch = divide_up(pixels + kWordBytes - 1, kWordBytes) * kWordBytes,
                  .chunk = rows};
  while (tile.chunk > kMinChunk && shared_bytes(tile, plan) > kChunkBytes)
    tile.chunk = divide_up(tile.chunk, 2);
  return tile;
}

// Returns the largest tile that takes at most kTileBytes, or the smallest tile.
TileLayout largest_tile(const DetectorPlan &plan) {
  TileLayout tile{};
  for (const Size size : {Size{64, 32}, Size{64, 16}, Size{32, 32}, Size{32, 16}, Size{32, 8}}) {
    tile = make_tile_layout(plan, size);
    if (shared_bytes(tile, plan) <= kTileBytes) break;
  }
  return tile;
}

class Sigma2KpCuda final : public Sigma2Kp {
 public:
  Sigma2KpCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    int most = 0;
    CUDAVISION_TRY(max_shared_bytes(&most));
    // Limited to what the smallest device has, so that parameters which work on one device work on all devices.
    dynamic_bytes_ = std::min(static_cast<std::size_t>(most), kSmallestSharedBytes) - kStaticBytes;
    for (const auto kernel : kFindKernels) CUDAVISION_TRY(allow_shared_bytes(kernel, dynamic_bytes_));
    for (const auto kernel : {orient_kernel<true>, orient_kernel<false>})
      CUDAVISION_TRY(allow_shared_bytes(kernel, dynamic_bytes_));
    CUDAVISION_TRY(progress_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(progress_.data(), 0, sizeof(Progress), execution_.stream));
  }

  Status run(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2KpList &list,
             Input input, const Places &places) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params));
    CUDAVISION_TRY(check_places(places, size_));
    CUDAVISION_TRY(prepare(params));
    if (places.count == 0) return list_nothing(list);
    CUDAVISION_TRY(find(luma, params, list, input, places));
    if (params.min_distance > 0 && plan_.map.width > 0) CUDAVISION_TRY(keep_apart(params, list));
    return params.orientation ? orient(luma, params, list) : Status();
  }

 private:
  // Makes the plan and the buffers that these parameters need and that do not exist yet.
  Status prepare(const Sigma2KpParams &params) {
    if (!is_made_ || !same_plan(params, made_for_)) CUDAVISION_TRY(prepare_plan(params));
    if (params.min_distance > 0 && kept_.count() == 0 && plan_.map.width > 0) {
      CUDAVISION_TRY(row_begins_.allocate(static_cast<std::size_t>(plan_.map.height) + 1));
      CUDAVISION_TRY(kept_.allocate(strengths_.count()));
    }
    if (params.orientation && table_.bins != params.orientation_bins)
      table_ = make_orientation_table(params.orientation_bins);
    return {};
  }

  Status prepare_plan(const Sigma2KpParams &params) {
    is_made_ = false;
    // Frees the old buffers first, because they may not fit beside the new ones.
    bits_ = {}, bands_ = {}, strengths_ = {}, places_ = {}, row_begins_ = {}, kept_ = {};
    plan_ = make_detector_plan(size_, params);
    made_for_ = params;
    if (plan_.map.width > 0) {
      tile_ = largest_tile(plan_);
      if (shared_bytes(tile_, plan_) > dynamic_bytes_)
        return invalid_argument("window, cell and tau need " + std::to_string(shared_bytes(tile_, plan_)) +
                                " bytes of shared memory, and the device has " +
                                std::to_string(dynamic_bytes_));
      tiles_x_ = divide_up(plan_.map.width, tile_.width);
      band_count_ = divide_up(plan_.map.height, tile_.height);
      CUDAVISION_TRY(bits_.allocate(2 * bit_words()));
      CUDAVISION_TRY(bands_.allocate(2 * static_cast<std::size_t>(band_count_)));
      CUDAVISION_TRY_CUDA(
          cudaMemsetAsync(bands_.data(), 0, bands_.count() * sizeof(Band), execution_.stream));
      const std::size_t most = max_keypoint_count(plan_);
      CUDAVISION_TRY(strengths_.allocate(most));
      CUDAVISION_TRY(places_.allocate(most));
    }
    is_made_ = is_first_ = true;
    return {};
  }

  int words_per_row() const { return tiles_x_ * (tile_.width / 32); }
  std::size_t bit_words() const {  // of one frame
    return static_cast<std::size_t>(words_per_row()) * static_cast<std::size_t>(plan_.map.height);
  }
  AllKeypoints all(const Sigma2KpParams &params) const {
    return {strengths_.data(), places_.data(), params.min_distance > 0 ? row_begins_.data() : nullptr};
  }

  Status list_nothing(const Sigma2KpList &list) const {
    return CUDAVISION_LAUNCH(list_nothing_kernel, dim3(1), dim3(1), execution_.stream, list.count,
                             progress_.data());
  }

  Status find(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2KpList &list,
              Input input, const Places &places) {
    if (plan_.map.width == 0) return list_nothing(list);
    const bool second = !second_;
    const FindTask task{.luma = luma,
                        .plan = plan_,
                        .tile = tile_,
                        .tiles_x = tiles_x_,
                        .bands = band_count_,
                        .bits = bits_.data() + (second ? bit_words() : 0),
                        .words_per_row = words_per_row(),
                        .band = bands_.data() + (second ? band_count_ : 0),
                        .progress = progress_.data(),
                        .all = all(params),
                        .list = list,
                        .max_keypoints = params.max_keypoints,
                        .publish = params.min_distance == 0,
                        .input = is_first_ ? Input::in_stream_order : input,
                        .places = places};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL(
        "find_keypoints_kernel", find_kernel_of(plan_), dim3(static_cast<unsigned>(tiles_x_ * band_count_)),
        BlockSize(dim3(kThreads), shared_bytes(tile_, plan_)), execution_.stream, task));
    second_ = second, is_first_ = false;
    return {};
  }

  Status keep_apart(const Sigma2KpParams &params, const Sigma2KpList &list) {
    const MinDistanceTask task{.all = all(params),
                               .kept = kept_.data(),
                               .progress = progress_.data(),
                               .map_height = plan_.map.height,
                               .min_distance = params.min_distance,
                               .max_keypoints = params.max_keypoints,
                               .wide = plan_.is_wide(),
                               .list = list};
    const std::size_t most = (strengths_.count() + kThreads - 1) / kThreads;
    const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(most, 1, kMaxMinDistanceBlocks));
    return CUDAVISION_LAUNCH_PDL("keep_apart_kernel", keep_apart_kernel, dim3(blocks), dim3(kThreads),
                                 execution_.stream, task);
  }

  Status orient(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2KpList &list) {
    const bool counts = params.weight == GradientWeight::count;
    const unsigned most = counts ? kMaxOrientBlocks : kMaxWeightedOrientBlocks,
                   blocks = std::min(blocks_for(params.max_keypoints, kOrientWarps), most);
    const auto words = static_cast<std::size_t>(orient_words(params.orientation_window, table_.bins));
    const auto kernel = counts ? orient_kernel<true> : orient_kernel<false>;
    return CUDAVISION_LAUNCH_PDL("orient_kernel", kernel, dim3(blocks),
                                 BlockSize(dim3(kOrientThreads), kOrientWarps * words * sizeof(unsigned)),
                                 execution_.stream, luma, list, params.window, params.orientation_window,
                                 params.op, params.weight, table_);
  }

  Execution execution_;
  Size size_;
  std::size_t dynamic_bytes_ = 0;
  DeviceBuffer<Progress> progress_;
  OrientationTable table_;

  // The plan and its buffers, valid if is_made_.
  bool is_made_ = false;
  Sigma2KpParams made_for_;
  DetectorPlan plan_{};
  TileLayout tile_{};
  int tiles_x_ = 0, band_count_ = 0;
  // bits_ and bands_ have two halves, which frames use in turn: a frame is marked while the previous one is listed.
  DeviceBuffer<unsigned> bits_;
  DeviceBuffer<Band> bands_;  // a half is all 0 when a frame begins to use it
  bool second_ = false;       // whether the last enqueued frame uses the second halves
  bool is_first_ = true;      // no frame of this plan is enqueued: the next one waits until bands_ is cleared
  DeviceBuffer<std::uint64_t> strengths_;
  DeviceBuffer<std::uint32_t> places_;
  // Made when min_distance is first requested.
  DeviceBuffer<std::uint32_t> row_begins_;
  DeviceBuffer<std::uint8_t> kept_;
};

}  // namespace

Status make_sigma2kp_cuda(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *sigma2kp) {
  return make_as<Sigma2KpCuda>(sigma2kp, execution, size);
}

}  // namespace cudavision::sigma2kp
