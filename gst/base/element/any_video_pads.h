// SPDX-License-Identifier: LGPL-2.1-or-later
// Common parts of the elements that read only the metas of frames, not the pixels: pads that accept video of any format
// in any memory, and output frames that share the memory of the input frames.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <new>
#include <string>

#include "cuda/common/image.h"
#include "cuda/common/standard_arithmetic.h"
#include "gst/base/element/timing.h"

namespace cudavision {

// Calls body() in a function that GStreamer calls, through which no exception may pass. If there is no memory, posts an
// error and returns `failed`. what: the end of the error's text, "There is no memory for ...".
template <typename Result, typename Body>
Result protect(GstBaseTransform *element, const char *what, Result failed, const Body &body) {
  const StandardArithmetic arithmetic;
  try {
    return body();
  } catch (const std::bad_alloc &) {
    GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("There is no memory for %s", what), (nullptr));
    return failed;
  }
}

// What caps of any video format say about the frames: the size (0x0: unknown) and the duration (0: no frame rate).
struct FramesOfCaps {
  Size size{};
  GstClockTime duration = 0;
};
inline FramesOfCaps frames_of(const GstCaps *caps) {
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  FramesOfCaps frames;
  gint rate_n = 0, rate_d = 1;
  gst_structure_get(structure, "width", G_TYPE_INT, &frames.size.width, "height", G_TYPE_INT,
                    &frames.size.height, nullptr);
  gst_structure_get_fraction(structure, "framerate", &rate_n, &rate_d);
  frames.duration = frame_duration(rate_n, rate_d);
  return frames;
}

// A prepare_output_buffer: only metas change, so the output frame shares the memory of the input frame.
inline GstFlowReturn share_memory(GstBaseTransform *, GstBuffer *input, GstBuffer **output) {
  *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
  return *output != nullptr ? GST_FLOW_OK : GST_FLOW_ERROR;
}

// A propose_allocation: passes on what downstream proposes, except for GstVideoCropMeta. In a frame that is still to be
// cropped, results would have other coordinates than in the cropped frame.
inline gboolean propose_no_crops(GstBaseTransform *element, GstQuery *decided, GstQuery *query) {
  const auto *parent = static_cast<GstBaseTransformClass *>(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  const gboolean answered = parent->propose_allocation(element, decided, query);
  guint index = 0;
  if (gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, &index))
    gst_query_remove_nth_allocation_meta(query, index);
  return answered;
}

// Adds the pad templates. more: caps that the source pad accepts besides video, as text for gst_caps_from_string().
inline void add_any_video_pads(GstElementClass *klass, const std::string &more = {}) {
  const std::string video = "video/x-raw(ANY)";
  const auto add = [klass](const char *name, GstPadDirection direction, const std::string &text) {
    GstCaps *caps = gst_caps_from_string(text.c_str());
    gst_element_class_add_pad_template(klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  };
  add("sink", GST_PAD_SINK, video);
  add("src", GST_PAD_SRC, more.empty() ? video : video + ';' + more);
  GST_BASE_TRANSFORM_CLASS(klass)->propose_allocation = GST_DEBUG_FUNCPTR(propose_no_crops);
}

}  // namespace cudavision
