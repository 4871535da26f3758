// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionoverlay/tensor_pictures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "cuda/common/backends.h"
#include "cuda/draw/draw.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/tensor_list.h"
#include "gst/histogram/histogram_style.h"

namespace cudavision {
namespace {

// The most tensors of a frame that are drawn.
constexpr std::size_t kMostTensors = 64;

bool has_shape(const GstCudaVisionTensorMeta &tensor, GstCudaVisionElementType type, guint dims) {
  return tensor.element_type == type && tensor.n_dims == dims;
}

// A map in the frame: the pixel of its first element, the pixels from one element to the next, its size in elements.
struct MapPlace {
  int x, y, step;
  Size size;
};

// Returns nothing if the tensor belongs to a frame of another size, or its elements do not lie on pixels of this frame.
std::optional<MapPlace> place_of(const GstCudaVisionTensorMeta &map, Size frame) {
  const auto is_pixel = [](double value, double least, int end) {
    return value >= least && value < end && value == std::floor(value);
  };
  if (map.frame_width != static_cast<guint>(frame.width) ||
      map.frame_height != static_cast<guint>(frame.height))
    return {};
  if (!is_pixel(map.origin_x, 0, frame.width) || !is_pixel(map.origin_y, 0, frame.height) ||
      !is_pixel(map.step_x, 1, kMaxSide) || map.step_x != map.step_y)
    return {};
  MapPlace place{
      static_cast<int>(map.origin_x), static_cast<int>(map.origin_y), static_cast<int>(map.step_x), {}};
  // The last elements must lie in the frame, too.
  const auto most_x = static_cast<gsize>((frame.width - 1 - place.x) / place.step + 1),
             most_y = static_cast<gsize>((frame.height - 1 - place.y) / place.step + 1);
  if (map.dims[0] > most_y || map.dims[1] > most_x) return {};
  place.size = {static_cast<int>(map.dims[1]), static_cast<int>(map.dims[0])};
  return place;
}

// The pixels that a map covers: step x step pixels for each element, clipped to the frame.
Region region_of(const MapPlace &place, Size frame) {
  return {place.x, place.y, std::min(place.size.width * place.step, frame.width - place.x),
          std::min(place.size.height * place.step, frame.height - place.y)};
}

Region common_part(const Region &a, const Region &b) {
  const int x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(0, std::min(a.x + a.width, b.x + b.width) - x),
          std::max(0, std::min(a.y + a.height, b.y + b.height) - y)};
}

}  // namespace

struct TensorPictures::Drawing {
  const Job &job;
  const VisionOverlaySettings &settings;
  Canvas *canvas;
  const TensorList &tensors;  // of the frame
};

void TensorPictures::release() {
  for (const auto &data : data_) data->release();
}

void TensorPictures::begin_frame() {
  release();  // the tensors of the last frame, if its processing was abandoned
  data_used_ = primitives_used_ = 0, count_ = 0;
  has_unreadable_ = false;
}

Status TensorPictures::draw(const Job &job, const VisionOverlaySettings &settings, Canvas *canvas) {
  const TensorList tensors = tensors_of(job.buffer);
  for (std::size_t i = 0; i < tensors.size() && i < kMostTensors; ++i) {
    if (job.execution.stop->requested()) return Status(Status::Code::stopped);
    CUDAVISION_TRY(draw_tensor({job, settings, canvas, tensors}, *tensors[i]));
  }
  return {};
}

Status TensorPictures::draw_tensor(const Drawing &drawing, const GstCudaVisionTensorMeta &tensor) {
  if (tensor.is_drawn) return {};
  if (is_named(tensor, "edges") && has_shape(tensor, GST_CUDA_VISION_ELEMENT_TYPE_U8, 2))
    return draw_edges(drawing, tensor);
  if (is_named(tensor, "optical-flow") && has_shape(tensor, GST_CUDA_VISION_ELEMENT_TYPE_F32, 3) &&
      tensor.dims[2] == 2)
    return draw_flow(drawing, tensor);
  if (is_named(tensor, "histogram") && has_shape(tensor, GST_CUDA_VISION_ELEMENT_TYPE_U32, 2))
    return draw_histogram(drawing, tensor);
  return {};
}

Status TensorPictures::draw_edges(const Drawing &drawing, const GstCudaVisionTensorMeta &edges) {
  const Job &job = drawing.job;
  const std::optional<MapPlace> place = place_of(edges, job.frame.size());
  if (!place || place->step != 1) return {};
  const Region region = common_part(region_of(*place, job.frame.size()), job.region);
  if (region.width == 0 || region.height == 0) return {};
  const void *data = nullptr;
  CUDAVISION_TRY(read(drawing, edges, &data));
  if (data == nullptr) return {};
  const auto *first = static_cast<const std::uint8_t *>(data) +
                      static_cast<std::ptrdiff_t>(region.y - place->y) * place->size.width + region.x -
                      place->x;
  ++count_;
  return overlay_mask(job.execution, job.frame, region,
                      {first, place->size.width, region.width, region.height},
                      color_of(drawing.settings.edge_color.argb(), *job.info));
}

// Draws an optical-flow tensor if all of its pixels lie in the region and a later tensor in the list, of the same
// dimensions, origin and step, says which of its vectors are valid ("optical-flow-valid").
Status TensorPictures::draw_flow(const Drawing &drawing, const GstCudaVisionTensorMeta &flow) {
  const Job &job = drawing.job;
  const std::optional<MapPlace> place = place_of(flow, job.frame.size());
  if (!place) return {};
  const Region region = region_of(*place, job.frame.size());
  if (common_part(region, job.region) != region) return {};
  const auto is_validity = [&](const GstCudaVisionTensorMeta *other) {
    return is_named(*other, "optical-flow-valid") && has_shape(*other, GST_CUDA_VISION_ELEMENT_TYPE_U8, 2) &&
           std::equal(other->dims, other->dims + 2, flow.dims) && other->origin_x == flow.origin_x &&
           other->origin_y == flow.origin_y && other->step_x == flow.step_x;
  };
  const auto own = std::find(drawing.tensors.begin(), drawing.tensors.end(), &flow),
             valid = std::find_if(own, drawing.tensors.end(), is_validity);
  if (valid == drawing.tensors.end()) return {};
  const void *vectors = nullptr, *marks = nullptr;
  CUDAVISION_TRY(read(drawing, flow, &vectors));
  CUDAVISION_TRY(read(drawing, **valid, &marks));
  if (vectors == nullptr || marks == nullptr) return {};
  const Size size = place->size;
  const FlowOnFrame on_frame{
      {static_cast<const FlowVector *>(vectors), size.width * static_cast<std::ptrdiff_t>(sizeof(FlowVector)),
       size.width, size.height},
      {static_cast<const std::uint8_t *>(marks), size.width, size.width, size.height},
      place->step,
      region};
  ++count_;
  if (drawing.settings.display_mode == OpticalFlowDisplayMode::arrows) return draw_arrows(drawing, on_frame);
  return draw_flow_wheel(job.execution, job.frame, on_frame,
                         wheel_of(*job.info, drawing.settings, {region.width, region.height}));
}

Status TensorPictures::draw_arrows(const Drawing &drawing, const FlowOnFrame &flow) {
  const Job &job = drawing.job;
  const int lines = arrow_line_count({flow.region.width, flow.region.height});
  Primitive *primitives = nullptr;
  CUDAVISION_TRY(take_primitives(job, lines, &primitives));
  CUDAVISION_TRY(make_flow_arrows(job.execution, flow,
                                  arrows_of(*job.info, drawing.settings, ColorText(ColorText::kByDirection),
                                            drawing.settings.line_width, job.frame.size()),
                                  primitives));
  return drawing.canvas->draw(job.frame, primitives, lines, nullptr);
}

// Draws the histogram without numbers at its axes: the tensor does not tell which values the bins stand for.
Status TensorPictures::draw_histogram(const Drawing &drawing, const GstCudaVisionTensorMeta &histogram) {
  const Job &job = drawing.job;
  if ((histogram.dims[0] != 1 && histogram.dims[0] != kMaxChannels) || histogram.dims[1] > kMaxBins)
    return {};
  const int channels = static_cast<int>(histogram.dims[0]), bins = static_cast<int>(histogram.dims[1]);
  const int count = plot_size(channels, bins);
  const void *counts = nullptr;
  CUDAVISION_TRY(read(drawing, histogram, &counts));
  if (counts == nullptr) return {};
  Primitive *primitives = nullptr;
  CUDAVISION_TRY(take_primitives(job, count, &primitives));
  CUDAVISION_TRY(plot_histogram(job.execution, static_cast<const std::uint32_t *>(counts), channels, bins,
                                styled_plot(job.region, channels, *job.info), primitives));
  ++count_;
  return drawing.canvas->draw(job.frame, primitives, count, nullptr);
}

Status TensorPictures::read(const Drawing &drawing, const GstCudaVisionTensorMeta &tensor,
                            const void **data) {
  if (data_used_ == data_.size()) data_.push_back(std::make_unique<TensorData>());
  CUDAVISION_TRY(data_[data_used_++]->read(drawing.job.execution, context_.get(), tensor, data));
  has_unreadable_ = has_unreadable_ || *data == nullptr;
  return {};
}

Status TensorPictures::take_primitives(const Job &job, int capacity, Primitive **primitives) {
  if (primitives_used_ == primitives_.size()) primitives_.emplace_back();
  OwnedBytes &memory = primitives_[primitives_used_++];
  const std::size_t bytes = sizeof(Primitive) * static_cast<std::size_t>(std::max(capacity, 1));
  if (memory.size() < bytes) CUDAVISION_TRY(memory.allocate(job.execution, bytes));
  *primitives = static_cast<Primitive *>(memory.data());
  return {};
}

}  // namespace cudavision
