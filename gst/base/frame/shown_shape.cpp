// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out from tags and caps whether frames are to be rotated or stretched when they are shown.
#include "gst/base/frame/shown_shape.h"

#include <gst/video/videodirection.h>

#include <memory>
#include <utility>

namespace cudavision {
namespace {

struct PadUnref {
  void operator()(GstPad *pad) const { gst_object_unref(pad); }
};
using OwnedPad = std::unique_ptr<GstPad, PadUnref>;

// The orientation tag of a list; empty if there is no valid one. is_upright: set to whether it asks for no rotation.
std::string orientation_in(GstTagList *tags, bool *is_upright) {
  GstVideoOrientationMethod method;
  const gchar *tag = nullptr;
  if (!gst_video_orientation_from_tag(tags, &method) ||
      !gst_tag_list_peek_string_index(tags, GST_TAG_IMAGE_ORIENTATION, 0, &tag))
    return {};
  *is_upright = method == GST_VIDEO_ORIENTATION_IDENTITY;
  return tag;
}

// Whether a tag that has arrived at this pad says that the frames are to be rotated or mirrored.
bool has_turning_tag(GstPad *sink) {
  bool found = false;
  gst_pad_sticky_events_foreach(
      sink,
      [](GstPad *, GstEvent **event, gpointer data) -> gboolean {
        GstTagList *tags = nullptr;
        bool is_upright = true;
        if (GST_EVENT_TYPE(*event) == GST_EVENT_TAG) gst_event_parse_tag(*event, &tags);
        if (tags != nullptr && !orientation_in(tags, &is_upright).empty() && !is_upright)
          *static_cast<bool *>(data) = true;
        return TRUE;
      },
      &found);
  return found;
}

// The source pad that sends frames to this sink pad: that of an element, also if it is linked through bins; or null.
OwnedPad source_of(OwnedPad sink) {
  OwnedPad peer(gst_pad_get_peer(sink.get()));
  while (peer != nullptr && GST_IS_PROXY_PAD(peer.get())) {
    if (GST_IS_GHOST_PAD(peer.get())) {  // into a bin
      peer.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(peer.get())));
    } else {  // out of a bin
      const OwnedPad outer(GST_PAD(gst_proxy_pad_get_internal(GST_PROXY_PAD(peer.get()))));
      peer.reset(outer != nullptr ? gst_pad_get_peer(outer.get()) : nullptr);
    }
  }
  return peer;
}

// The sink pad on which an element receives what it sends on `source`: the first one if there are several; or null.
OwnedPad sink_behind(GstPad *source) {
  GstIterator *links = gst_pad_iterate_internal_links(source);
  GValue item = G_VALUE_INIT;
  OwnedPad sink;
  if (links != nullptr && gst_iterator_next(links, &item) == GST_ITERATOR_OK)
    sink.reset(GST_PAD(g_value_dup_object(&item)));
  if (G_IS_VALUE(&item)) g_value_unset(&item);
  g_clear_pointer(&links, gst_iterator_free);
  return sink;
}

// Whether an element upstream has already rotated the frames: videoflip of GStreamer 1.22 does not remove the tag.
bool are_turned_before(GstPad *sink) {
  OwnedPad pad(GST_PAD(gst_object_ref(sink)));
  while (const OwnedPad source = source_of(std::move(pad))) {
    pad = sink_behind(source.get());
    if (pad == nullptr) return false;
    GstElement *element = gst_pad_get_parent_element(source.get());
    int direction = GST_VIDEO_ORIENTATION_IDENTITY;
    if (element != nullptr && GST_IS_VIDEO_DIRECTION(element))
      g_object_get(element, "video-direction", &direction, nullptr);
    g_clear_object(&element);
    if (direction != GST_VIDEO_ORIENTATION_IDENTITY && has_turning_tag(pad.get())) return true;
  }
  return false;
}

}  // namespace

void ShownShape::begin_stream() { of_stream_ = of_file_ = {}; }

void ShownShape::take_tags(GstEvent *event) {
  GstTagList *tags = nullptr;
  gst_event_parse_tag(event, &tags);
  Orientation found;
  found.tag = orientation_in(tags, &found.is_upright);
  if (!found.tag.empty())
    (gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_STREAM ? of_stream_ : of_file_) = found;
}

bool ShownShape::is_turned(GstPad *sink) const {
  return !orientation().is_upright && !are_turned_before(sink);
}

std::string ShownShape::complaint(const GstVideoInfo &info, bool is_turned) {
  if (is_turned && !std::exchange(told_of_orientation_, true))
    return "The frames have the tag image-orientation=" + orientation().tag +
           ": they are to be turned when they are shown, but the element analyses them as they are stored. "
           "Put "
           "videoflip video-direction=auto in front";
  const int n = GST_VIDEO_INFO_PAR_N(&info), d = GST_VIDEO_INFO_PAR_D(&info);
  if (n != d && !std::exchange(told_of_aspect_, true))
    return "The pixels are not square (pixel-aspect-ratio=" + std::to_string(n) + "/" + std::to_string(d) +
           "), but the element analyses them as if they were. Put videoscale add-borders=false ! "
           "video/x-raw,pixel-aspect-ratio=1/1 in front";
  return {};
}

}  // namespace cudavision
