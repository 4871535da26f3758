// SPDX-License-Identifier: LGPL-2.1-or-later
// A GstStructure as a JSON object.
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/common/stop.h"

namespace cudavision {

// Appends an object with a member for each field: numbers, booleans and strings as such, arrays and lists of GStreamer
// as lists, structures as objects, other values as strings of gst_value_serialize(), or null if that is impossible.
// Values that are nested too deeply are null. Some fields are left out if the flag asks to stop.
void append_structure(std::string *text, const GstStructure *structure, const StopFlag &stop);

}  // namespace cudavision
