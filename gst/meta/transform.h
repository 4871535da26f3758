// SPDX-License-Identifier: LGPL-2.1-or-later
// What the transforms that elements ask of metas mean for the coordinates of results.
#pragma once

#include <glib.h>

#include <optional>

#include "gst/meta/mapping.h"

namespace cudavision {

// The mapping that a transform applies to coordinates; nullopt if it is not known. A copy of a meta is no such
// transform.
//
// A scaling comes with the descriptions of both frames alone. They do not tell whether the element adds borders, which it
// may do if the display aspect ratios differ. Then the mapping is not known, and the first time a warning is logged.
std::optional<FrameMapping> mapping_of(GQuark type, gpointer data);

}  // namespace cudavision
