// SPDX-License-Identifier: LGPL-2.1-or-later
// The custom meta that cudavisionzones attaches to frames. Its structure has the lists `events`, `zones` and `tracks`,
// which cudavisionjson prints, and `shapes`, which cudavisionoverlay draws, in pixels of a frame of `width` x `height`.
// That of cudacameracheck has `events` alone.
// Any program may attach or change such a meta, so readers must expect any content.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <functional>

namespace cudavision {

// Call it before the functions below, any number of times.
void register_zones_meta();
// Attaches a meta whose structure has the fields of `copied`, or none. Null if there is no memory.
GstStructure *attach_zones(GstBuffer *buffer, const GstStructure *copied = nullptr);
// Calls visit for the structure of each meta of the buffer.
void for_each_zones(GstBuffer *buffer, const std::function<void(const GstStructure &)> &visit);

// Sets a field to the list of `count` structures that make(i) returns, which the list then owns.
void set_list(GstStructure *structure, const char *field, std::size_t count,
              const std::function<GstStructure *(std::size_t)> &make);
// The number of items of a list in the structure; 0 if it is no list.
guint count_in(const GstStructure &structure, const char *list);
// An item of the list, or null if there is none at this index or it is no structure.
const GstStructure *item_in(const GstStructure &structure, const char *list, guint index);
// The number of events that are attached to the buffer.
guint count_of_events(GstBuffer *buffer);

}  // namespace cudavision
