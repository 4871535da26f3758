// SPDX-License-Identifier: LGPL-2.1-or-later
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

// The orientation of the frames that this pad receives: the tag of the stream, or else that of the file; empty if there
// is no valid one. The pad keeps the last tags of each.
std::string orientation_of(GstPad *sink) {
  std::string orientation;
  for (guint i = 0;; ++i) {
    g_autoptr(GstEvent) event = gst_pad_get_sticky_event(sink, GST_EVENT_TAG, i);
    if (event == nullptr) return orientation;
    GstTagList *tags = nullptr;
    gst_event_parse_tag(event, &tags);
    GstVideoOrientationMethod method;
    const gchar *tag = nullptr;
    if (gst_video_orientation_from_tag(tags, &method) &&
        gst_tag_list_peek_string_index(tags, GST_TAG_IMAGE_ORIENTATION, 0, &tag) &&
        (orientation.empty() || gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_STREAM))
      orientation = tag;
  }
}

bool turns(const std::string &orientation) { return !orientation.empty() && orientation != "rotate-0"; }

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
    if (direction != GST_VIDEO_ORIENTATION_IDENTITY && turns(orientation_of(pad.get()))) return true;
  }
  return false;
}

}  // namespace

std::string turning_tag_of(GstPad *sink) {
  const std::string tag = orientation_of(sink);
  return turns(tag) && !are_turned_before(sink) ? tag : std::string();
}

std::string warning_of_turn(const std::string &tag) {
  return "The frames have the tag image-orientation=" + tag +
         ": they are to be turned when they are shown, but the element analyses them as they are stored. Put "
         "videoflip video-direction=auto in front";
}

std::string warning_of_aspect(const GstVideoInfo &info) {
  return "The pixels are not square (pixel-aspect-ratio=" + std::to_string(GST_VIDEO_INFO_PAR_N(&info)) +
         "/" + std::to_string(GST_VIDEO_INFO_PAR_D(&info)) +
         "), but the element analyses them as if they were. Put videoscale add-borders=false ! "
         "video/x-raw,pixel-aspect-ratio=1/1 in front";
}

}  // namespace cudavision
