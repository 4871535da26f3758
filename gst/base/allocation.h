// SPDX-License-Identifier: LGPL-2.1-or-later
// What a CUDA element offers to those who make its frames: memory that needs no copy, or the fastest one.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/base/device_context.h"

namespace cudavision {

// Adds to an allocation query what it lacks. For caps that ask for CUDA memory that is a pool of it. For system
// memory it is an allocator of page-locked memory, which sources use with whatever pool they take, and a pool.
// What downstream wants stays. Buffers outlive the pool and the element. False when nothing could be added.
bool offer_memory(GstQuery *query, const std::shared_ptr<const DeviceContext> &context);

}  // namespace cudavision
