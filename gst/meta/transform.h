// SPDX-License-Identifier: LGPL-2.1-or-later
// Translates the transform of a GstMeta to a mapping of coordinates.
#pragma once

#include <glib.h>

#include <optional>

#include "gst/meta/mapping.h"

namespace cudavision {

// The mapping that a transform applies to coordinates, from the arguments of a GstMetaTransformFunction; nullopt if it
// is not known, and for a copy.
//
// A scaling describes both frames by a GstVideoInfo, which does not tell whether the element adds borders. It may do so
// if the display aspect ratios differ. The mapping is then not known, and the first time a warning is logged.
std::optional<FrameMapping> mapping_of(GQuark type, gpointer data);

}  // namespace cudavision
