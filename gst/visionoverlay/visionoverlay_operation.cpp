// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionoverlay/visionoverlay_operation.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "cuda/hough/line_primitives_rules.h"
#include "cuda/sigma2kp/point_primitives_rules.h"
#include "gst/base/frame/format.h"
#include "gst/base/style/label_style.h"
#include "gst/meta/reading.h"

namespace cudavision {
namespace {

// The most primitives of a frame, which take 59 MB. Half of them are reserved for boxes.
constexpr std::size_t kMostPrimitives = std::size_t{1} << 22, kMostPoints = kMostPrimitives / 2,
                      kMostBoxes = kMostPrimitives / 128;
// The coordinates of metas may have any value. Nothing beyond this distance in pixels is visible, and up to it, lines
// of keypoints and labels stay within the coordinates that primitives can hold.
constexpr float kFarthest = 28000;

bool is_near(std::initializer_list<float> coordinates) {
  return std::all_of(coordinates.begin(), coordinates.end(),
                     [](float c) { return c >= -kFarthest && c <= kFarthest; });  // false for NaN
}

int clamped(double coordinate) {
  return static_cast<int>(std::clamp(coordinate, -double{kFarthest}, double{kFarthest}));
}

// Calls visit with each item of the frame's metas of this API, until it returns false or the flag asks to stop. items:
// returns the items of a meta.
template <typename Meta, typename Item, typename Visit>
void for_each_item(const Job &job, GType api, const Item *(*items)(const Meta *, guint *),
                   const Visit &visit) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(job.buffer, &state, api)) {
    guint count = 0;
    const Item *all = items(reinterpret_cast<const Meta *>(meta), &count);
    for (guint i = 0; i < count; ++i)
      if (job.execution.stop->requested() || !visit(all[i])) return;
  }
}

sigma2kp::DrawnPoint drawn_point(const GstCudaVisionKeypoint &keypoint, const PointStyle &style) {
  const bool has_direction = std::isfinite(keypoint.angle);
  const double reach = has_direction ? sigma2kp::kReach * style.size : 0,
               angle = has_direction ? keypoint.angle : 0;
  return {.x = static_cast<int>(std::floor(keypoint.x)),
          .y = static_cast<int>(std::floor(keypoint.y)),
          .deviation = std::sqrt(std::max(0.0f, keypoint.response)),
          .has_direction = has_direction,
          .end_x = static_cast<int>(std::lround(reach * std::cos(angle))),
          .end_y = static_cast<int>(std::lround(reach * std::sin(angle)))};
}

Primitive primitive_of(const GstCudaVisionLine &line, const LineStyle &style) {
  const auto pixel = [](float coordinate) { return static_cast<int>(std::floor(coordinate + 0.5f)); };
  // Another program may have attached any direction. Those that differ by half a turn belong to the same line.
  constexpr auto kHalfTurn = static_cast<float>(G_PI);
  const float rest = std::isfinite(line.theta) ? std::fmod(line.theta, kHalfTurn) : 0,
              theta = rest < 0 ? rest + kHalfTurn : rest;
  return make_primitive(Primitive::Kind::line, style.line_width,
                        style.color[hough::color_of_direction(theta, style.color_count)], pixel(line.x1),
                        pixel(line.y1), pixel(line.x2), pixel(line.y2));
}

bool is_seen(const AttachedBox &box, Region region) {
  return box.x < region.x + region.width && box.x + box.width > region.x &&
         box.y < region.y + region.height && box.y + box.height > region.y;
}

}  // namespace

Status VisionOverlayOperation::allocate(const OperationSetup &setup) {
  tensors_.allocate(setup);
  CUDAVISION_TRY(make_canvas(
      setup.execution, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)}, &canvas_));
  return canvas_->stop_by(*setup.execution.stop);
}

Status VisionOverlayOperation::run(const Job &job) {
  primitives_.clear(), boxes_.clear(), placer_.clear();
  keypoint_count_ = line_count_ = 0;
  tensors_.begin_frame();
  if (!job.draw) return {};
  if (awaited_.are_missing(job.buffer, AwaitedResults::Kind::all))
    state_.warn_once("no results",
                     "For 5 s no frame has carried a result that could be drawn: put the elements that "
                     "find something, such as cudahog, before this one");
  if (settings_.tensors) CUDAVISION_TRY(tensors_.draw(job, settings_, canvas_.get()));
  if (tensors_.has_unreadable())
    state_.warn_once(
        "unreadable",
        "A tensor cannot be read and is not drawn: it was changed, or its memory cannot be mapped");
  if (settings_.keypoints) add_keypoints(job);
  if (settings_.lines) add_lines(job);
  if (settings_.zones) add_zones(job);
  if (settings_.regions) add_boxes(job);
  if (job.execution.stop->requested()) return Status(Status::Code::stopped);  // the lists are incomplete
  return primitives_.empty() ? Status() : draw(job);
}

Status VisionOverlayOperation::finish(const Job &job) {
  tensors_.release();
  return job.execution.stop->requested() ? Status(Status::Code::stopped)
                                         : Status();  // the canvas may have given up
}

void VisionOverlayOperation::add_keypoints(const Job &job) {
  const PointStyle style{.size = width_for(settings_.point_size, {2 * job.frame.width, 2 * job.frame.height}),
                         .grows = settings_.point_size == kAutomaticWidth,
                         .least_deviation = static_cast<float>(settings_.min_contrast),
                         .line_width = line_width(job),
                         .color = color_of(settings_.keypoint_color.argb(), *job.info)};
  for_each_item(job, GST_CUDA_VISION_KEYPOINTS_META_API_TYPE, gst_cuda_vision_keypoints_meta_get_keypoints,
                [&](const GstCudaVisionKeypoint &keypoint) {
                  if (primitives_.size() + 2 > kMostPoints) return warn_of_too_many();
                  if (!is_near({keypoint.x, keypoint.y})) return true;
                  Primitive drawn[2];
                  sigma2kp::make_primitives(drawn_point(keypoint, style), style, drawn);
                  primitives_.insert(primitives_.end(), drawn, drawn + 2);
                  ++keypoint_count_;
                  return true;
                });
}

void VisionOverlayOperation::add_lines(const Job &job) {
  LineStyle style{.line_width = line_width(job)};
  if (settings_.line_color.is_by_direction()) {
    style.color_count = LineStyle::kMostColors;
    std::copy_n(hues_.hues(style.color_count, *job.info).colors, style.color_count, style.color);
  } else {
    style.color[0] = color_of(settings_.line_color.argb(), *job.info);
  }
  for_each_item(job, GST_CUDA_VISION_LINES_META_API_TYPE, gst_cuda_vision_lines_meta_get_lines,
                [&](const GstCudaVisionLine &line) {
                  if (settings_.max_drawn != 0 && line_count_ >= settings_.max_drawn) return false;
                  if (primitives_.size() + 1 > kMostPoints) return warn_of_too_many();
                  if (!is_near({line.x1, line.y1, line.x2, line.y2})) return true;
                  primitives_.push_back(primitive_of(line, style));
                  ++line_count_;
                  return true;
                });
}

void VisionOverlayOperation::add_zones(const Job &job) {
  const ZoneStyle style{.line_width = line_width(job),
                        .labels = settings_.labels,
                        .color = color_of(settings_.zone_color.argb(), *job.info),
                        .label = style_of_labels(settings_.zone_color.argb(), job),
                        .placer = &placer_};
  flashes_.take(job.buffer);
  if (!add_zone_shapes(job.buffer, style, job.frame.size(), flashes_, kMostPoints, &primitives_))
    warn_of_too_many();
}

guint32 VisionOverlayOperation::color_of_box(std::optional<guint64> track) const {
  return settings_.color_by_track && track ? color_of_track(*track) : settings_.color.argb();
}

LabelStyle VisionOverlayOperation::style_of_labels(guint32 argb, const Job &job) const {
  LabelStyle style = label_style(argb, line_width(job), job.frame.size(), job.region, *job.info);
  Color &background = style.text.background;
  background.alpha = static_cast<std::uint8_t>(std::lround(settings_.label_opacity * background.alpha));
  style.text.scale = text_scale_for(settings_.text_size, job.frame.size());
  return style;
}

void VisionOverlayOperation::take_shown_boxes(const Job &job) {
  collect_boxes(job.buffer, *job.execution.stop, &boxes_);
  shown_.set(settings_.show, settings_.hide);
  if (!shown_.shown().empty())
    state_.warn_once("show", awaited_type_.take(job.buffer, boxes_, "show", *settings_.show,
                                                [&](GQuark type) { return shown_.shown().includes(type); }));
  std::erase_if(boxes_, [&](const AttachedBox &box) {
    return !(box.width > 0 && box.height > 0) || !shown_.includes(box.type);
  });
  if (boxes_.size() <= kMostBoxes) return;
  warn_of_too_many();
  boxes_.resize(kMostBoxes);
}

// All trails come before all outlines, and these before all labels, which thus lie on top.
void VisionOverlayOperation::add_boxes(const Job &job) {
  take_shown_boxes(job);
  trails_.take(job.buffer, boxes_, settings_.trail);
  trails_.for_each_step([&](guint64 track, const TrailStep &step) {
    Color color = color_of(color_of_box(track), *job.info);
    color.alpha = static_cast<std::uint8_t>(std::lround(step.opacity * color.alpha));
    primitives_.push_back(make_primitive(Primitive::Kind::line, line_width(job), color, clamped(step.from_x),
                                         clamped(step.from_y), clamped(step.to_x), clamped(step.to_y)));
  });
  for (const AttachedBox &box : boxes_)
    primitives_.push_back(make_primitive(
        Primitive::Kind::rectangle, line_width(job), color_of(color_of_box(box.track_id), *job.info),
        clamped(box.x), clamped(box.y), clamped(box.x + box.width - 1), clamped(box.y + box.height - 1)));
  if (!settings_.labels) return;
  speeds_ = speeds_in(job.buffer);
  for (const AttachedBox &box : boxes_)
    if (!job.execution.stop->requested()) add_label(box, job);
}

// The id of the box's track and its speed on the ground, as far as they are known. is_alone: nothing is in front of it.
std::string VisionOverlayOperation::end_of_label(const AttachedBox &box, bool is_alone) const {
  if (!box.track_id) return {};
  const std::string id = (is_alone ? "#" : " #") + std::to_string(*box.track_id);
  const auto speed = speeds_.find(*box.track_id);
  if (speed == speeds_.end()) return id;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return id + ' ' + g_ascii_formatd(text, sizeof text, "%.1f", std::clamp(speed->second, 0.0, 9999.0)) +
         " m/s";
}

// Draws the label of a box, or its type if it has none, then the id of the track and the score, as far as they are
// known. A text that is too long is cut in front of the id.
void VisionOverlayOperation::add_label(const AttachedBox &box, const Job &job) {
  if (!is_seen(box, job.region)) return;
  const bool has_label = box.label != nullptr && *box.label != '\0';
  const char *type = has_label ? box.label : text_of(box.type);
  const std::string whole = drawable(type != nullptr ? type : "");
  const std::string id = end_of_label(box, whole.empty());
  const std::string text = whole.substr(0, LabelText::kMost - id.size()) + id;
  const bool has_score = std::isfinite(box.score);
  if (text.empty() && !has_score) return;
  const LabelText label(text);
  const auto score = static_cast<float>(box.score);
  const std::size_t first = primitives_.size();
  primitives_.resize(first + static_cast<std::size_t>(label_size(label.length, has_score)));
  const LabelStyle style = style_of_labels(color_of_box(box.track_id), job);
  const int length = label_length(label, has_score ? label_number(score) : LabelNumber());
  const Region place =
      placer_.place({clamped(box.x), clamped(box.y), clamped(box.width), clamped(box.height)},
                    label_pixels(length, style), style);
  make_label(label, has_score ? &score : nullptr, place, style, primitives_.data() + first);
}

// Returns false, so that the rest is left out.
bool VisionOverlayOperation::warn_of_too_many() {
  state_.warn_once("too many", "The results of a frame are more than can be drawn: some are left out");
  return false;
}

Status VisionOverlayOperation::draw(const Job &job) {
  const std::size_t count = primitives_.size(), bytes = count * sizeof(Primitive);
  if (memory_.size() < bytes) {
    CUDAVISION_TRY(memory_.allocate(job.execution, std::max(bytes, 2 * memory_.size())));
    CUDAVISION_TRY(host_.allocate(job.execution, memory_));
  }
  std::copy_n(primitives_.data(), count, static_cast<Primitive *>(host_.written()));
  CUDAVISION_TRY(host_.send(job.execution, memory_, bytes));
  return canvas_->draw(job.frame, static_cast<const Primitive *>(memory_.data()), static_cast<int>(count),
                       nullptr, job.region);
}

void VisionOverlayOperation::describe(GstStructure *message) {
  gst_structure_set(message, "regions", G_TYPE_INT, static_cast<gint>(boxes_.size()), "keypoints", G_TYPE_INT,
                    keypoint_count_, "lines", G_TYPE_INT, line_count_, "tensors", G_TYPE_INT,
                    tensors_.count(), nullptr);
}

}  // namespace cudavision
