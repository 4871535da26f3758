// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out from tags and caps whether frames are to be rotated or stretched when they are shown. The elements analyse
// the stored pixels.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace cudavision {

// Used by the streaming thread and by the element's start(), which never run at the same time.
class ShownShape {
 public:
  void restart() { *this = {}; }
  // Called when another stream begins: forgets the tags of the one before.
  void begin_stream();
  void take_tags(GstEvent *event);
  // Whether frames that this pad receives are to be turned or mirrored when they are shown.
  bool is_turned(GstPad *sink) const;
  // A warning for the user of an element whose results depend on the shape of the frames: once since restart() about
  // the orientation and once about the pixel aspect ratio; otherwise an empty string.
  std::string complaint(const GstVideoInfo &info, bool is_turned);

 private:
  struct Orientation {
    bool is_upright = true;
    std::string tag;
  };
  const Orientation &orientation() const { return of_stream_.tag.empty() ? of_file_ : of_stream_; }

  Orientation of_stream_, of_file_;  // by the scope of the tags; of_stream_ takes precedence if it has a tag
  bool told_of_orientation_ = false, told_of_aspect_ = false;
};

}  // namespace cudavision
