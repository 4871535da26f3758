// SPDX-License-Identifier: LGPL-2.1-or-later
// Composes a frame's results as one line of JSON.
#include "gst/visionjson/frame_json.h"

#include <cfenv>

#include "gst/meta/region_params.h"
#include "gst/visionjson/analytics_json.h"
#include "gst/visionjson/json_text.h"
#include "gst/visionjson/structure_json.h"

namespace cudavision {
namespace {

void append_time(JsonHead *head, const char *name, GstClockTime time) {
  if (time <= G_MAXINT64)  // excludes GST_CLOCK_TIME_NONE
    head->whole(name, static_cast<gint64>(time));
  else
    head->null(name);
}

void append_extent(JsonHead *head, const char *name, std::optional<gint> pixels) {
  if (pixels)
    head->whole(name, *pixels);
  else
    head->null(name);
}

void append_facts(std::string *text, const FrameFacts &facts) {
  JsonHead head;
  if (facts.source) head.string("source", facts.source->c_str());
  head.whole("frame", facts.number);
  append_time(&head, "pts", facts.pts);
  append_time(&head, "running-time", facts.running_time);
  if (facts.utc) head.string("utc", rfc3339(*facts.utc).c_str());
  append_extent(&head, "width", facts.width);
  append_extent(&head, "height", facts.height);
  head.append_open(text);
}

void append_keypoint(std::string *text, const GstCudaVisionKeypoint &keypoint) {
  text->push_back('{');
  append_numbers(text, "x", keypoint.x, "y", keypoint.y, "response", keypoint.response, "angle",
                 keypoint.angle);
  text->push_back('}');
}

void append_line(std::string *text, const GstCudaVisionLine &line) {
  text->push_back('{');
  append_numbers(text, "rho", line.rho, "theta", line.theta, "votes", line.votes, "x1", line.x1, "y1",
                 line.y1, "x2", line.x2, "y2", line.y2);
  text->push_back('}');
}

// True if the structure says no more than the member "score".
bool is_score_alone(const GstStructure *param) {
  return gst_structure_has_name(param, "detection") && gst_structure_n_fields(param) == 1 &&
         gst_structure_has_field_typed(param, "confidence", G_TYPE_DOUBLE);
}

// Appends the member "params", in which each structure of the region is an object, if there are any.
void append_params(std::string *text, GstVideoRegionOfInterestMeta *region) {
  std::string params = "{";
  for (const GList *param = region->params; param != nullptr; param = param->next) {
    const auto *structure = static_cast<const GstStructure *>(param->data);
    if (is_score_alone(structure)) continue;
    if (params.size() > 1) params.push_back(',');
    append_string(&params, gst_structure_get_name(structure));
    params.push_back(':');
    append_structure(&params, structure);
  }
  if (params.size() > 1) text->append(",\"params\":").append(params).append("}");
}

void append_region(std::string *text, GstVideoRegionOfInterestMeta *region) {
  JsonHead()
      .string("type", g_quark_to_string(region->roi_type))
      .whole("x", region->x)
      .whole("y", region->y)
      .whole("width", region->w)
      .whole("height", region->h)
      .append_open(text);
  append_numbers(text, "score", score_of(region));
  append_params(text, region);
  text->push_back('}');
}

// Appends the member `name`: a list of the items of all metas of the API, which append_items writes. If
// `always` is set, the list is written even if there is no such meta.
template <typename AppendItems>
void append_metas(std::string *text, GstBuffer *buffer, const char *name, GType api, bool always,
                  AppendItems append_items) {
  gpointer state = nullptr;
  GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer, &state, api);
  if (meta == nullptr && !always) return;
  text->append(",\"").append(name).append("\":[");
  for (; meta != nullptr; meta = gst_buffer_iterate_meta_filtered(buffer, &state, api)) append_items(meta);
  text->push_back(']');
}

void append_keypoints(std::string *text, GstBuffer *buffer) {
  const GType api = GST_CUDA_VISION_KEYPOINTS_META_API_TYPE;
  append_metas(text, buffer, "keypoints", api, false, [text](GstMeta *meta) {
    guint count = 0;
    const GstCudaVisionKeypoint *keypoints = gst_cuda_vision_keypoints_meta_get_keypoints(
        reinterpret_cast<GstCudaVisionKeypointsMeta *>(meta), &count);
    for (guint i = 0; i < count; ++i) append_item(text, keypoints[i], append_keypoint);
  });
}

void append_lines(std::string *text, GstBuffer *buffer) {
  append_metas(text, buffer, "lines", GST_CUDA_VISION_LINES_META_API_TYPE, false, [text](GstMeta *meta) {
    guint count = 0;
    const GstCudaVisionLine *lines =
        gst_cuda_vision_lines_meta_get_lines(reinterpret_cast<GstCudaVisionLinesMeta *>(meta), &count);
    for (guint i = 0; i < count; ++i) append_item(text, lines[i], append_line);
  });
}

void append_regions(std::string *text, GstBuffer *buffer) {
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  append_metas(text, buffer, "regions", api, true, [text](GstMeta *meta) {
    append_item(text, reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta), append_region);
  });
}

// Sets the default floating-point mode while it exists, so that numbers have the same text whatever libraries
// are loaded. Some libraries built with -ffast-math make the processor treat denormal numbers as zero, for
// the whole process, and GStreamer loads such libraries when it writes its registry.
class StandardArithmetic {
 public:
  StandardArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardArithmetic() { std::fesetenv(&before_); }
  StandardArithmetic(const StandardArithmetic &) = delete;
  StandardArithmetic &operator=(const StandardArithmetic &) = delete;

 private:
  std::fenv_t before_;
};

// Returns an empty string, or the id of a tensor that cannot be read.
std::string append_tensors(std::string *text, GstBuffer *buffer, TensorStyle *style) {
  std::string unreadable;
  append_metas(text, buffer, "tensors", GST_CUDA_VISION_TENSOR_META_API_TYPE, true, [&](GstMeta *meta) {
    const auto *tensor = reinterpret_cast<GstCudaVisionTensorMeta *>(meta);
    append_item(text, tensor, [&](std::string *, const auto *) {
      if (!append_tensor(text, buffer, tensor, style))
        unreadable = gst_cuda_vision_tensor_meta_get_id(tensor);
    });
  });
  return unreadable;
}

}  // namespace

bool append_frame(std::string *text, const FrameFacts &facts, GstBuffer *buffer, TensorStyle *style,
                  std::string *unreadable) {
  const StandardArithmetic standard_arithmetic;
  append_facts(text, facts);
  append_keypoints(text, buffer);
  append_lines(text, buffer);
  append_regions(text, buffer);
  append_analytics(text, buffer);
  *unreadable = append_tensors(text, buffer, style);
  text->append("}\n");
  return unreadable->empty();
}

}  // namespace cudavision
