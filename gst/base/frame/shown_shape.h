// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out from tags and caps whether frames are to be rotated or stretched when they are shown. The elements analyse
// the stored pixels.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace cudavision {

// The tag image-orientation by which frames that this pad receives are to be turned or mirrored when they are shown;
// empty if they are not.
std::string turning_tag_of(GstPad *sink);

// Warnings for the user of an element whose results depend on the shape of the frames: about such a tag, and about caps
// whose pixels are not square.
std::string warning_of_turn(const std::string &tag);
std::string warning_of_aspect(const GstVideoInfo &info);

}  // namespace cudavision
