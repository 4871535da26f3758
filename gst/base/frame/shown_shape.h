// SPDX-License-Identifier: LGPL-2.1-or-later
// How a stream says that its frames are to be turned and stretched when they are shown. The elements analyse the stored
// pixels.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace cudavision {

// Used by the streaming thread, and by start, which never runs beside it.
class ShownShape {
 public:
  void restart() { *this = {}; }
  // Another stream begins, with tags of its own.
  void begin_stream();
  void take_tags(GstEvent *event);
  // What to tell the user of an element for which the shape of frames of these caps matters: a sentence for the
  // orientation and one for the pixel aspect ratio, each once since restart(); otherwise an empty string. sink: the pad
  // at which the frames arrive.
  std::string complaint(const GstVideoInfo &info, GstPad *sink);

 private:
  struct Orientation {
    bool is_upright = true;
    std::string tag;
  };
  Orientation of_stream_, of_file_;  // the former takes precedence, if it has a tag
  bool told_of_orientation_ = false, told_of_aspect_ = false;
};

}  // namespace cudavision
