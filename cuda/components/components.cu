// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of connected components: four kernels whose work depends little on the mask.
//
// 1. label_tiles: a block finds the components of a tile of 64 x 64 pixels and makes each of them a node. For each
//    pixel of the tile's sides, it writes the node that the pixel belongs to.
// 2. join_tiles: unites the nodes that touch across the sides of tiles (union-find).
// 3. gather: adds the area, the box and the sums of each node to the root of its set.
// 4. list: collects the roots that are large enough; the last block sorts them and writes the list.
#include <cuda_runtime.h>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/last_block.cuh"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/pixel_bits_rules.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/union_find.cuh"
#include "cuda/components/components_backends.h"
#include "cuda/components/components_rules.h"

namespace cudavision::components {
namespace {

constexpr int kTile = 64;  // side of a tile in pixels; one thread works on one row
constexpr int kRowRuns = kTile / 2;
constexpr int kRuns = kTile * kRowRuns;  // the most runs of a tile, and the most components of it
constexpr unsigned kNoNode = ~0u;
enum Side { kTop, kBottom, kLeft, kRight, kSides };

// A node is a component of a tile. Arrays of nodes have kRuns entries per tile; the first node_count[tile] are used.
struct Nodes {
  unsigned *parent;  // of the union-find forest
  unsigned *area, *first, *left, *right, *bottom;
  unsigned long long *sum_x, *sum_y;
  int *node_count;
  unsigned *side;  // the node of each pixel of the sides of a tile, or kNoNode: kSides * kTile per tile
  int tiles_x, tiles_y;

  __device__ unsigned *side_of(int tile, Side which) const { return side + (tile * kSides + which) * kTile; }
};

struct Numbers {
  unsigned area, first, left, right, bottom;
  unsigned long long sum_x, sum_y;
};
__device__ void set_node(const Nodes &nodes, unsigned node, const Numbers &n) {
  nodes.area[node] = n.area, nodes.first[node] = n.first, nodes.left[node] = n.left;
  nodes.right[node] = n.right, nodes.bottom[node] = n.bottom;
  nodes.sum_x[node] = n.sum_x, nodes.sum_y[node] = n.sum_y;
}
__device__ void add_to_node(const Nodes &nodes, unsigned node, const Numbers &n) {
  atomicAdd(&nodes.area[node], n.area);
  atomicMin(&nodes.first[node], n.first);
  atomicMin(&nodes.left[node], n.left);
  atomicMax(&nodes.right[node], n.right);
  atomicMax(&nodes.bottom[node], n.bottom);
  atomicAdd(&nodes.sum_x[node], n.sum_x);
  atomicAdd(&nodes.sum_y[node], n.sum_y);
}

// A tile in shared memory. Run i of row y, the i-th sequence of adjacent set pixels, has the index kRowRuns * y + i.
struct Tile {
  unsigned long long bits[kTile];  // the set pixels of each row
  unsigned parent[kRuns];
  unsigned short node[kRuns];  // the index of the component in the tile, in the entry of its root
  int node_count;
};

// The first pixels of the runs of a row, as bits.
__device__ unsigned long long starts_of(unsigned long long bits) { return bits & ~(bits << 1); }
// The index in its row of the run that pixel x belongs to.
__device__ int run_at(unsigned long long bits, int x) {
  return __popcll(starts_of(bits) & (~0ull >> (63 - x))) - 1;
}

// Calls visit(run, begin, end) for each run of a row: its index in the tile, and its columns [begin, end).
template <typename Visit>
__device__ void for_each_run(unsigned long long bits, int row, const Visit &visit) {
  for (unsigned run = static_cast<unsigned>(row * kRowRuns); bits != 0; ++run) {
    const int begin = __ffsll(static_cast<long long>(bits)) - 1;
    const unsigned long long behind = ~bits & ~0ull << begin;
    const int end = behind == 0 ? kTile : __ffsll(static_cast<long long>(behind)) - 1;
    visit(run, begin, end);
    bits = end == kTile ? 0 : bits & ~0ull << end;
  }
}

static __global__ void __launch_bounds__(kTile)
    label_tiles_kernel(ImageView<const std::uint8_t> mask, bool eight, Nodes nodes, ComponentCount *count) {
  CUDAVISION_SHARED(Tile, tile);
  const int row = static_cast<int>(threadIdx.x), x0 = static_cast<int>(blockIdx.x) * kTile,
            y = static_cast<int>(blockIdx.y) * kTile + row;
  const int index = static_cast<int>(blockIdx.y) * nodes.tiles_x + static_cast<int>(blockIdx.x);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  unsigned long long bits = 0;
  if (y < mask.height)
    for (int x = 0; x < kTile && x0 + x < mask.width; x += 8)
      bits |= static_cast<unsigned long long>(set_pixels_of_row(mask.row(y), x0 + x, mask.width)) << x;
  tile.bits[row] = bits;
  if (row == 0) tile.node_count = 0;
  if (row == 0 && index == 0) *count = {};
  for_each_run(bits, row, [&](unsigned run, int, int) { tile.parent[run] = run; });
  __syncthreads();

  if (row > 0) {
    const unsigned long long above = tile.bits[row - 1];
    for_each_run(bits, row, [&](unsigned run, int begin, int end) {
      // The columns [from, to) of the row above whose pixels touch the run.
      const int from = max(begin - eight, 0), to = min(end + eight, kTile);
      unsigned long long touching = starts_of(above & ~0ull << from & ~0ull >> (kTile - to));
      for (; touching != 0; touching &= touching - 1) {
        const int x = __ffsll(static_cast<long long>(touching)) - 1;
        unite(tile.parent, run, static_cast<unsigned>((row - 1) * kRowRuns + run_at(above, x)));
      }
    });
  }
  __syncthreads();

  const unsigned first_node = static_cast<unsigned>(index) * kRuns;
  const auto numbers_of = [&](int begin, int end) {
    const unsigned length = static_cast<unsigned>(end - begin), left = static_cast<unsigned>(x0 + begin),
                   right = left + length - 1;
    const auto top = static_cast<unsigned>(y);
    return Numbers{length,
                   top * static_cast<unsigned>(mask.width) + left,
                   left,
                   right,
                   top,
                   static_cast<unsigned long long>(left + right) * length / 2,
                   static_cast<unsigned long long>(top) * length};
  };
  for_each_run(bits, row, [&](unsigned run, int begin, int end) {
    if (find_root(tile.parent, run) != run) return;
    const int node = atomicAdd(&tile.node_count, 1);
    tile.node[run] = static_cast<unsigned short>(node);
    nodes.parent[first_node + node] = first_node + node;
    set_node(nodes, first_node + node, numbers_of(begin, end));
  });
  __syncthreads();
  const auto node_of = [&](unsigned run) { return first_node + tile.node[find_root(tile.parent, run)]; };
  for_each_run(bits, row, [&](unsigned run, int begin, int end) {
    if (find_root(tile.parent, run) != run) add_to_node(nodes, node_of(run), numbers_of(begin, end));
  });
  const auto node_at = [&](int x, int of_row) {
    const unsigned long long of = tile.bits[of_row];
    return (of >> x & 1) != 0 ? node_of(static_cast<unsigned>(of_row * kRowRuns + run_at(of, x))) : kNoNode;
  };
  nodes.side_of(index, kTop)[row] = node_at(row, 0);
  nodes.side_of(index, kBottom)[row] = node_at(row, kTile - 1);
  nodes.side_of(index, kLeft)[row] = node_at(0, row);
  nodes.side_of(index, kRight)[row] = node_at(kTile - 1, row);
  if (row == 0) nodes.node_count[index] = tile.node_count;
}

// Unites the node of pixel i of a side with the nodes of those pixels of the facing side, `other`, that touch it.
__device__ void join_pixel(const Nodes &nodes, const unsigned *side, const unsigned *other, int i,
                           bool eight) {
  const unsigned node = side[i];
  if (node == kNoNode) return;
  unsigned joined = kNoNode;
  for (int k = max(i - eight, 0); k <= min(i + eight, kTile - 1); ++k)
    if (const unsigned neighbour = other[k]; neighbour != kNoNode && neighbour != joined) {
      unite(nodes.parent, node, neighbour);
      joined = neighbour;
    }
}

static __global__ void __launch_bounds__(kTile) join_tiles_kernel(bool eight, Nodes nodes) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int i = static_cast<int>(threadIdx.x), tx = static_cast<int>(blockIdx.x),
            ty = static_cast<int>(blockIdx.y);
  const int tile = ty * nodes.tiles_x + tx, above = tile - nodes.tiles_x;
  if (tx > 0) join_pixel(nodes, nodes.side_of(tile, kLeft), nodes.side_of(tile - 1, kRight), i, eight);
  if (ty == 0) return;
  join_pixel(nodes, nodes.side_of(tile, kTop), nodes.side_of(above, kBottom), i, eight);
  if (!eight || i > 1) return;
  // Threads 0 and 1 join the upper corners with the tiles diagonally above.
  const bool has_neighbour = i == 0 ? tx > 0 : tx + 1 < nodes.tiles_x;
  if (!has_neighbour) return;
  const unsigned corner = nodes.side_of(tile, kTop)[i == 0 ? 0 : kTile - 1];
  const unsigned other = nodes.side_of(i == 0 ? above - 1 : above + 1, kBottom)[i == 0 ? kTile - 1 : 0];
  if (corner != kNoNode && other != kNoNode) unite(nodes.parent, corner, other);
}

constexpr int kNodeThreads = 64;

// Adds the numbers of each node to those of the root of its set. Only roots are written.
static __global__ void __launch_bounds__(kNodeThreads) gather_kernel(Nodes nodes) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int tile = static_cast<int>(blockIdx.x), count = nodes.node_count[tile];
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kNodeThreads) {
    const auto node = static_cast<unsigned>(tile * kRuns + i);
    if (const unsigned root = find_root(nodes.parent, node); root != node)
      add_to_node(nodes, root,
                  {nodes.area[node], nodes.first[node], nodes.left[node], nodes.right[node],
                   nodes.bottom[node], nodes.sum_x[node], nodes.sum_y[node]});
  }
}

constexpr int kListThreads = 256;

// In shared memory: the kMaxComponents components that come first so far, and as many that are compared with them.
struct Ranking {
  std::uint64_t order[2 * kMaxComponents];
  unsigned node[2 * kMaxComponents];
};

// Sorts the first `length` entries, a power of two (K. Batcher, "Sorting Networks and Their Applications", AFIPS 1968).
__device__ void sort(Ranking &ranking, int length) {
  for (int group = 2; group <= length; group *= 2)
    for (int half = group / 2; half > 0; half /= 2) {
      for (int k = static_cast<int>(threadIdx.x); k < length / 2; k += kListThreads) {
        const int a = 2 * k - (k & (half - 1)), b = a + half;
        const bool rises = (a & group) == 0;
        if ((ranking.order[a] > ranking.order[b]) == rises) {
          const std::uint64_t order = ranking.order[a];
          const unsigned node = ranking.node[a];
          ranking.order[a] = ranking.order[b], ranking.node[a] = ranking.node[b];
          ranking.order[b] = order, ranking.node[b] = node;
        }
      }
      __syncthreads();
    }
}

__device__ ConnectedComponent component_of(const Nodes &nodes, unsigned node, int width) {
  ConnectedComponent c;
  const int first = static_cast<int>(__ldcg(&nodes.first[node])),
            left = static_cast<int>(__ldcg(&nodes.left[node]));
  c.first_x = first % width, c.first_y = first / width;
  c.area = static_cast<int>(__ldcg(&nodes.area[node]));
  c.box = {left, c.first_y, static_cast<int>(__ldcg(&nodes.right[node])) - left + 1,
           static_cast<int>(__ldcg(&nodes.bottom[node])) - c.first_y + 1};
  c.sum_x = static_cast<std::int64_t>(__ldcg(&nodes.sum_x[node]));
  c.sum_y = static_cast<std::int64_t>(__ldcg(&nodes.sum_y[node]));
  return c;
}

// Ranks the collected roots, kMaxComponents at a time, and writes those that come first.
__device__ void write_list(const Nodes &nodes, const unsigned *roots, const ComponentList &list, int width,
                           Ranking &ranking) {
  const int thread = static_cast<int>(threadIdx.x), found = __ldcg(&list.count->found);
  for (int begin = 0; begin < found; begin += kMaxComponents) {
    // The first kMaxComponents roots are sorted alone, and later ones together with those that come first so far.
    int length = 2 * kMaxComponents;
    if (begin == 0)
      for (length = 2; length < min(found, kMaxComponents);) length *= 2;
    for (int k = begin == 0 ? thread : kMaxComponents + thread; k < length; k += kListThreads) {
      const int i = begin == 0 ? k : begin + k - kMaxComponents;
      const unsigned node = i < found ? __ldcg(&roots[i]) : 0;
      ranking.node[k] = node;
      ranking.order[k] =
          i < found ? order_of(__ldcg(&nodes.area[node]), __ldcg(&nodes.first[node])) : ~std::uint64_t{0};
    }
    __syncthreads();
    sort(ranking, length);
  }
  const int listed = min(found, list.capacity);
  if (thread == 0) list.count->listed = listed;
  for (int k = thread; k < listed; k += kListThreads)
    list.components[k] = component_of(nodes, ranking.node[k], width);
}

// roots: room for kRuns entries per tile. The kernel fills the first list.count->found of them.
static __global__ void __launch_bounds__(kListThreads)
    list_kernel(Nodes nodes, int min_area, int width, unsigned *roots, unsigned *arrivals,
                ComponentList list) {
  CUDAVISION_SHARED(Ranking, ranking);
  CUDAVISION_SHARED(bool, is_last);
  CUDAVISION_SHARED(int, pixels);  // the areas of this block's roots, added up
  if (threadIdx.x == 0) pixels = 0;
  __syncthreads();
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int tile = static_cast<int>(blockIdx.x), count = nodes.node_count[tile];
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kListThreads) {
    const auto node = static_cast<unsigned>(tile * kRuns + i);
    if (nodes.parent[node] != node) continue;
    const auto area = static_cast<int>(nodes.area[node]);
    atomicAdd(&pixels, area);
    if (area >= min_area) roots[atomicAdd(&list.count->found, 1)] = node;
  }
  __syncthreads();
  if (threadIdx.x == 0 && pixels != 0) atomicAdd(&list.count->pixels, pixels);
  if (!is_last_block(arrivals, gridDim.x, &is_last)) return;
  if (threadIdx.x == 0) *arrivals = 0;  // for the next frame
  write_list(nodes, roots, list, width, ranking);
}

class ComponentsCuda final : public Components {
 public:
  ComponentsCuda(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        tiles_(static_cast<unsigned>(divide_up(size.width, kTile)),
               static_cast<unsigned>(divide_up(size.height, kTile))) {}

  Status allocate() {
    const std::size_t tiles = std::size_t{tiles_.x} * tiles_.y, nodes = tiles * kRuns;
    CUDAVISION_TRY(numbers_.allocate((kNumbers + 1) * nodes));
    CUDAVISION_TRY(sums_.allocate(2 * nodes));
    CUDAVISION_TRY(sides_.allocate(tiles * kSides * kTile));
    CUDAVISION_TRY(node_counts_.allocate(tiles));
    CUDAVISION_TRY(arrivals_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(arrivals_.data(), 0, sizeof(unsigned), execution_.stream));
  }

  Status run(ImageView<const std::uint8_t> mask, const ComponentParams &params,
             const ComponentList &list) override {
    CUDAVISION_TRY(check_run(mask.size(), size_, params, list));
    const bool eight = params.connectivity == Connectivity::eight;
    const Nodes nodes = this->nodes();
    const dim3 tiles(tiles_.x * tiles_.y);
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("label_tiles_kernel", label_tiles_kernel, tiles_, dim3(kTile),
                                         execution_.stream, mask, eight, nodes, list.count));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("join_tiles_kernel", join_tiles_kernel, tiles_, dim3(kTile),
                                         execution_.stream, eight, nodes));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("gather_kernel", gather_kernel, tiles, dim3(kNodeThreads),
                                         execution_.stream, nodes));
    return CUDAVISION_LAUNCH_PDL("list_kernel", list_kernel, tiles, dim3(kListThreads), execution_.stream,
                                 nodes, params.min_area, size_.width,
                                 numbers_.data() + kNumbers * node_capacity(), arrivals_.data(), list);
  }

 private:
  static constexpr std::size_t kNumbers = 6;  // arrays of Nodes in numbers_; the roots of list_kernel follow

  std::size_t node_capacity() const { return std::size_t{tiles_.x} * tiles_.y * kRuns; }
  Nodes nodes() const {
    const auto array = [&](std::size_t i) { return numbers_.data() + i * node_capacity(); };
    return {.parent = array(0),
            .area = array(1),
            .first = array(2),
            .left = array(3),
            .right = array(4),
            .bottom = array(5),
            .sum_x = sums_.data(),
            .sum_y = sums_.data() + node_capacity(),
            .node_count = node_counts_.data(),
            .side = sides_.data(),
            .tiles_x = static_cast<int>(tiles_.x),
            .tiles_y = static_cast<int>(tiles_.y)};
  }

  Execution execution_;
  Size size_;
  dim3 tiles_;
  DeviceBuffer<unsigned> numbers_, sides_, arrivals_;
  DeviceBuffer<unsigned long long> sums_;
  DeviceBuffer<int> node_counts_;
};

}  // namespace

Status make_components_cuda(const Execution &execution, Size size, std::unique_ptr<Components> *components) {
  return make_as<ComponentsCuda>(components, execution, size);
}

}  // namespace cudavision::components
