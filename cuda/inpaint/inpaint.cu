// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of inpainting: kernels that convert the frame to pixel words, fill it, and write it back.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/inpaint/fill.cuh"
#include "cuda/inpaint/frame_kernels.cuh"
#include "cuda/inpaint/inpaint_backends.h"

namespace cudavision::inpaint {
namespace {

using DefaultRadius = FixedRadius<InpaintParams{}.patch_size / 2>;

class InpaintCuda final : public Inpaint {
 public:
  InpaintCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}
  ~InpaintCuda() override {
    if (execution_.stop != nullptr && stop_.data() != nullptr) execution_.stop->detach(stop_word());
  }

  Status allocate() {
    const std::size_t pixels = count();
    CUDAVISION_TRY(pixels_.allocate(pixels));
    CUDAVISION_TRY(removed_.allocate(pixels));
    CUDAVISION_TRY(hole_.allocate(pixels));
    CUDAVISION_TRY(state_.allocate(StateLayout({0, 0, size_.width, size_.height}).bytes()));
    CUDAVISION_TRY(lab_.allocate(1));
    CUDAVISION_TRY(frames_.allocate(2));
    for (FrameState &frame : initial_) frame.reset();
    CUDAVISION_TRY(upload(lab_.data(), &lab_tables(), sizeof(LabTables)));
    CUDAVISION_TRY(allocate_rows());
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors_));
    blocks_ = multiprocessors_;
    CUDAVISION_TRY(minima_.allocate(static_cast<std::size_t>(GridMinimum::words(multiprocessors_))));
    if (execution_.stop != nullptr) {
      CUDAVISION_TRY(stop_.allocate(sizeof(uint4)));
      execution_.stop->attach(stop_word());
    }
    CUDAVISION_TRY(max_shared_bytes(&shared_bytes_));
    CUDAVISION_TRY(check_cooperative_launch());
    CUDAVISION_TRY(prepare(fill_kernel<DefaultRadius>));
    return prepare(fill_kernel<int>);
  }

  Status run(const InpaintFrame &frame, const InpaintParams &params, InpaintReport *report,
             const FillLog &log, const Progress &) override {
    CUDAVISION_TRY(check_run(frame, params, size_));
    const Status status = enqueue(frame, params, report, log);
    // Some kernels may have run, and left counts for kernels that have not run.
    if (!status.ok()) reset_frames_ = forget_ = true;
    return status;
  }

  void drop_history() override { forget_ = true; }

 private:
  // Allocates the features, whose rows can be read four elements at a time, and the bits of the candidates.
  Status allocate_rows() {
    pitch_ = divide_up(size_.width, 4) * 4;
    source_pitch_ = divide_up(size_.width, kSourceTile);
    const auto height = static_cast<std::size_t>(size_.height);
    const std::size_t features = kTargetLeft + static_cast<std::size_t>(pitch_) * height + kFeaturesAfter;
    CUDAVISION_TRY(sources_.allocate(static_cast<std::size_t>(source_pitch_) * height));
    CUDAVISION_TRY(features_.allocate(features));
    return CUDAVISION_CHECK_CUDA(
        cudaMemsetAsync(features_.data(), 0, features * sizeof(std::uint32_t), execution_.stream));
  }

  static Status check_cooperative_launch() {
    int device = 0, cooperative = 0;
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    CUDAVISION_TRY_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    if (cooperative == 0)
      return {Status::Code::no_device, "inpainting needs cooperative launches, which device " +
                                           std::to_string(device) + " does not support"};
    return {};
  }

  // Prepares a fill kernel for launches, and checks that each multiprocessor can run a block of it: all blocks must run
  // at the same time, because they wait for one another.
  template <typename Kernel>
  Status prepare(Kernel *kernel) const {
    int device = 0, blocks = 0;
    CUDAVISION_TRY(allow_shared_bytes(kernel, static_cast<std::size_t>(shared_bytes_)));
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    CUDAVISION_TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, kFillThreads, static_cast<std::size_t>(shared_bytes_)));
    if (blocks >= 1) return {};
    return {Status::Code::no_device,
            "inpainting needs blocks of " + std::to_string(kFillThreads) + " threads and " +
                std::to_string(shared_bytes_) +
                " bytes of shared memory, which do not fit on a multiprocessor of device " +
                std::to_string(device)};
  }

  Status enqueue(const InpaintFrame &frame, const InpaintParams &params, InpaintReport *report,
                 const FillLog &log) {
    if (reset_frames_) CUDAVISION_TRY(upload(frames_.data(), initial_, sizeof initial_));
    reset_frames_ = false;
    if (params.temporal) CUDAVISION_TRY(prepare_background());
    FillTask task = make_task(params, log);
    const int width = size_.width, height = size_.height;
    if (params.temporal) {
      const int light_blocks = std::min(4 * multiprocessors_, divide_up(width * height, 4 * kLightThreads));
      CUDAVISION_TRY(CUDAVISION_LAUNCH(find_light_kernel, dim3(static_cast<unsigned>(light_blocks)),
                                       dim3(kLightThreads), execution_.stream, frame, task,
                                       light_counts_.data(), light_blocks_.data(), light_.data()));
    }
    CUDAVISION_TRY(
        CUDAVISION_LAUNCH(load_kernel, grid_2d(width, height), block_2d(), execution_.stream, frame, task));
    CUDAVISION_TRY(CUDAVISION_LAUNCH(mark_sources_kernel, grid_2d(width, height, kSourceTile, kSourceTile),
                                     block_2d(), execution_.stream, task));
    CUDAVISION_TRY(2 * DefaultRadius() + 1 == params.patch_size ? enqueue_fill(task, DefaultRadius())
                                                                : enqueue_fill(task, params.patch_size / 2));
    const int cells_x = divide_up(width, 1 << cell_shift_x(frame.frame));
    const int cells_y = divide_up(height, 1 << cell_shift_y(frame.frame));
    CUDAVISION_TRY(CUDAVISION_LAUNCH(store_kernel, grid_2d(cells_x, cells_y), block_2d(), execution_.stream,
                                     frame, task));
    frame_index_ = 1 - frame_index_;
    return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(report, &task.frame->report, sizeof *report,
                                                 cudaMemcpyDeviceToHost, execution_.stream));
  }

  volatile unsigned *stop_word() const { return reinterpret_cast<volatile unsigned *>(stop_.data()); }
  // Enqueues the fill kernel, with half as many blocks after each refusal: all blocks must run at the same time, and if
  // a process may use only a part of the GPU (MPS, green contexts), fewer fit than the device has multiprocessors.
  template <typename Radius>
  Status enqueue_fill(FillTask task, Radius radius) {
    for (;; blocks_ = (blocks_ + 1) / 2) {
      task.bits_of_other_cells = bits_of_other_cells(task.params.search_radius, blocks_,
                                                     divide_up(size_.width, kCellWidth), size_.height);
      const Status status = CUDAVISION_LAUNCH_COOPERATIVE(
          "fill_kernel", fill_kernel<Radius>, dim3(static_cast<unsigned>(blocks_)),
          BlockSize(dim3(kFillThreads), static_cast<std::size_t>(shared_bytes_)), execution_.stream, task,
          radius);
      if (status.code() != Status::Code::too_many_blocks || blocks_ == 1) return status;
    }
  }

  std::size_t count() const {
    return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  }

  Status upload(void *to, const void *from, std::size_t bytes) {
    return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, execution_.stream));
  }

  // Allocates the background in the first call, and clears it if it has to be forgotten.
  Status prepare_background() {
    if (seen_.data() == nullptr) {
      for (auto &component : background_) CUDAVISION_TRY(component.allocate(count()));
      CUDAVISION_TRY(light_counts_.allocate(1));
      CUDAVISION_TRY(light_blocks_.allocate(1));
      CUDAVISION_TRY(light_.allocate(1));
      CUDAVISION_TRY(differing_.allocate(1));
      CUDAVISION_TRY(candidate_.allocate(count()));
      CUDAVISION_TRY(shown_.allocate(count()));
      CUDAVISION_TRY(candidate_shown_.allocate(count()));
      CUDAVISION_TRY(seen_.allocate(count()));
    }
    if (!forget_) return {};
    CUDAVISION_TRY_CUDA(cudaMemsetAsync(light_counts_.data(), 0, sizeof(LightCounts), execution_.stream));
    CUDAVISION_TRY_CUDA(cudaMemsetAsync(light_blocks_.data(), 0, sizeof(unsigned), execution_.stream));
    CUDAVISION_TRY_CUDA(cudaMemsetAsync(light_.data(), 0, sizeof(LightChange), execution_.stream));
    CUDAVISION_TRY_CUDA(cudaMemsetAsync(differing_.data(), 0, sizeof(unsigned), execution_.stream));
    CUDAVISION_TRY_CUDA(cudaMemsetAsync(seen_.data(), 0, count() * sizeof(std::uint32_t), execution_.stream));
    forget_ = false;
    frame_number_ = 0;
    return {};
  }

  FillTask make_task(const InpaintParams &params, const FillLog &log) {
    FillTask task{};
    task.frame = frames_.data() + frame_index_;
    task.next_frame = frames_.data() + (1 - frame_index_);
    task.params = params;
    task.width = size_.width, task.height = size_.height;
    task.pixels = pixels_.data(), task.removed = removed_.data(), task.hole = hole_.data();
    task.pitch = pitch_, task.features = features_.data() + kTargetLeft;
    task.source_pitch = source_pitch_, task.sources = sources_.data();
    task.lab = params.lab ? lab_.data() : nullptr;
    task.state_memory = state_.data();
    task.minima = minima_.data(), task.minima_count = static_cast<int>(minima_.count());
    task.shared_bytes = shared_bytes_;
    task.reach = params.search_radius > 0 ? params.search_radius : everywhere({size_.width, size_.height});
    task.stop = reinterpret_cast<const uint4 *>(stop_.data());
    task.log = log;
    for (int c = 0; c < 3; ++c) task.background.component[c] = background_[c].data();
    task.background.seen = seen_.data(), task.background.candidate = candidate_.data();
    task.background.shown = shown_.data(), task.background.candidate_shown = candidate_shown_.data();
    task.light = light_.data(), task.differing = differing_.data();
    if (params.temporal) task.window = {++frame_number_, params.history, params.learn_frames};
    return task;
  }

  Execution execution_;
  Size size_;
  // The fill kernel has one block on each multiprocessor, with all the shared memory that a block can have.
  int multiprocessors_ = 0, shared_bytes_ = 0;
  int blocks_ = 0;  // of the fill kernel: fewer if the process may use only a part of the GPU
  // The elements from one row of features_ and of sources_ to the next.
  int pitch_ = 0, source_pitch_ = 0;
  DeviceBuffer<std::uint32_t> pixels_, features_, sources_;
  DeviceBuffer<std::uint8_t> removed_, hole_;
  DeviceBuffer<unsigned char> state_;  // FillTask::state_memory
  DeviceBuffer<Key> minima_;
  PinnedBuffer stop_;  // FillTask::stop; execution_.stop writes its value to the first word
  DeviceBuffer<LabTables> lab_;
  DeviceBuffer<FrameState> frames_;
  FrameState initial_[2] = {};
  // The element of frames_ that the next frame uses.
  int frame_index_ = 0;
  // frames_ must be reset: they were never uploaded, or a frame has failed.
  bool reset_frames_ = true;

  // The arrays of Background.
  DeviceBuffer<std::uint16_t> background_[3], shown_, candidate_shown_;
  DeviceBuffer<std::uint32_t> seen_, candidate_;
  DeviceBuffer<LightCounts> light_counts_;
  DeviceBuffer<unsigned> light_blocks_, differing_;
  DeviceBuffer<LightChange> light_;
  // The background must be cleared before the next temporal frame.
  bool forget_ = true;
  // The number of the last temporal frame since the background was cleared.
  std::uint32_t frame_number_ = 0;
};

}  // namespace

Status make_inpaint_cuda(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint) {
  return make_as<InpaintCuda>(inpaint, execution, size);
}

}  // namespace cudavision::inpaint
