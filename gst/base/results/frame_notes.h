// SPDX-License-Identifier: LGPL-2.1-or-later
// What elements say about a frame apart from their results: why results are missing or doubtful, and whether a detector
// has looked at a part of the frame. Each note is a custom meta.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>

namespace cudavision {

// The name that an element of this plugin has for users, such as cudacanny, from that of its type, GstCudaCanny. Its
// factory, which has the name, too, is gone if the plugin was removed from the registry.
std::string element_name(const char *type_name);

// Registers the meta. The plugin does so when it is loaded: else GStreamer drops notes from other processes.
void register_frame_notes();

// Stands for objects of every type.
inline constexpr char kEveryType[] = "*";
// Attaches a warning to the frame. code: a word of the table "Warnings of frames" in common.md. blind_for: the type of
// objects for which the element could not look at the frame, or kEveryType if nobody can; or null.
void attach_warning(GstBuffer *buffer, GstElement *element, const char *code,
                    const char *blind_for = nullptr);
// Whether an element could not look at the frame for this type. type: null for any type.
bool is_blind_for(GstBuffer *buffer, const char *type);
// Calls visit with each warning, "ELEMENT: CODE", in the order in which they were attached.
void for_each_warning(GstBuffer *buffer, const std::function<void(const std::string &)> &visit);

// Notes that a detector has looked for this type, but not at the whole frame, or not at a frame that stands upright.
// The frame then has no mark of the detector (GstCudaVisionAnalysisMeta).
void attach_partial_look(GstBuffer *buffer, const char *type);
// Whether the frame has such a note. type: null for any type.
bool has_partial_look(GstBuffer *buffer, const char *type);

}  // namespace cudavision
