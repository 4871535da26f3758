// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the canvas: two kernels. The first stores at each pixel the index of the last primitive that
// covers it: the largest index, whatever the order of threads. The second colours the frame and clears the indices for
// the next frame.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/chroma.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/draw/canvas_rules.h"
#include "cuda/draw/draw_backends.h"

namespace cudavision::draw {
namespace {

constexpr int kMarkThreads = 128;
// The number of blocks in the grid. A short list uses several blocks per primitive, so that many blocks draw
// a large primitive.
constexpr int kMarkBlocks = 1024;
// A block reads the stop word once in this many of its primitives. The word lies in the host's memory, which is far
// away: with a list of ordinary length a block has fewer primitives, and never reads it.
constexpr int kPrimitivesPerLook = 4;

// Writes id to pixels first, first + stride, ... (row-major indices) of the part of the span that lies within `within`.
__device__ void mark_span(Span span, int first, int stride, unsigned id, Span within,
                          ImageView<unsigned> ids) {
  const Span clipped = clip(span, within);
  const int width = clipped.x1 - clipped.x0, height = clipped.y1 - clipped.y0;
  if (width <= 0 || height <= 0) return;
  for (int p = first; p < width * height; p += stride)
    atomicMax(&ids.row(clipped.y0 + p / width)[clipped.x0 + p % width], id);
}

// Blocks (i, *) mark primitives i, i + gridDim.x, i + 2 * gridDim.x, ... Lines and characters have many short spans,
// one thread for each; the other kinds have few long spans, one block for each. stop: a word that becomes nonzero when
// the rest of the list is to be skipped; may be null.
static __global__ void __launch_bounds__(kMarkThreads)
    mark_primitives_kernel(const Primitive *primitives, int capacity, const int *count, Span within,
                           const volatile unsigned *stop, ImageView<unsigned> ids) {
  const int used = count == nullptr ? capacity : min(*count, capacity);
  const int thread = static_cast<int>(threadIdx.x), slice = static_cast<int>(blockIdx.y);
  const int slices = static_cast<int>(gridDim.y);
  int done = 0;
  for (int i = static_cast<int>(blockIdx.x); i < used; i += static_cast<int>(gridDim.x)) {
    if (stop != nullptr && done++ % kPrimitivesPerLook == kPrimitivesPerLook - 1 && *stop != 0) return;
    const Primitive primitive = primitives[i];
    const unsigned id = static_cast<unsigned>(i + 1);
    const SpanRange spans = spans_within(primitive, within);
    if (primitive.kind == Primitive::Kind::line || primitive.kind == Primitive::Kind::character) {
      for (int s = spans.first + slice * kMarkThreads + thread; s < spans.end; s += slices * kMarkThreads)
        mark_span(span_of(primitive, s), 0, 1, id, within, ids);
    } else {
      for (int s = spans.first + slice; s < spans.end; s += slices)
        mark_span(span_of(primitive, s), thread, kMarkThreads, id, within, ids);
    }
  }
}

// One thread per cell of pixels that share a chroma sample.
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    color_cells_kernel(Frame frame, const Primitive *primitives, ImageView<unsigned> ids) {
  const int x = (static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x))
                << cell_shift_x(frame);
  const int y = (static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y))
                << cell_shift_y(frame);
  if (x < frame.width && y < frame.height)
    color_cell(frame, primitives, x, y, [&ids](int row) { return ids.row(row); });
}

class CanvasCuda final : public Canvas {
 public:
  CanvasCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}
  ~CanvasCuda() override {
    if (flag_ != nullptr) flag_->detach(stop_word());
  }

  Status allocate() {
    CUDAVISION_TRY(ids_.allocate(size_));
    const ImageView<unsigned> ids = ids_.view();
    return CUDAVISION_CHECK_CUDA(cudaMemset2DAsync(ids.data, static_cast<std::size_t>(ids.pitch_bytes), 0,
                                                   static_cast<std::size_t>(ids.width) * sizeof(unsigned),
                                                   static_cast<std::size_t>(ids.height), execution_.stream));
  }

  Status stop_by(const StopFlag &flag) override {
    CUDAVISION_TRY(stop_.allocate(sizeof(unsigned)));
    flag_ = &flag;
    flag_->attach(stop_word());
    return {};
  }

  Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count,
              Region region) override {
    CUDAVISION_TRY(check_size("frame", frame.size(), size_));
    if (capacity == 0) return {};
    const int blocks = std::min(capacity, kMarkBlocks);
    CUDAVISION_TRY(
        CUDAVISION_LAUNCH(mark_primitives_kernel,
                          dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(kMarkBlocks / blocks)),
                          dim3(kMarkThreads), execution_.stream, primitives, capacity, count,
                          drawable(region, size_), flag_ != nullptr ? stop_word() : nullptr, ids_.view()));
    const dim3 grid =
        grid_2d(frame.width, frame.height, kBlockX << cell_shift_x(frame), kBlockY << cell_shift_y(frame));
    return CUDAVISION_LAUNCH(color_cells_kernel, grid, block_2d(), execution_.stream, frame, primitives,
                             ids_.view());
  }

 private:
  volatile unsigned *stop_word() const { return reinterpret_cast<volatile unsigned *>(stop_.data()); }

  Execution execution_;
  Size size_;
  DeviceImage<unsigned> ids_;  // all 0 between frames
  const StopFlag *flag_ = nullptr;
  PinnedBuffer stop_;  // the word that *flag_ sets and mark_primitives_kernel reads
};

}  // namespace

Status make_canvas_cuda(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas) {
  return make_as<CanvasCuda>(canvas, execution, size);
}

}  // namespace cudavision::draw
