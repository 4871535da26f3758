// SPDX-License-Identifier: LGPL-2.1-or-later
// System memory that the device copies to and from at full speed.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/base/device_context.h"

namespace cudavision {

// An allocator, for a pool. What it allocates is ordinary memory to everybody else, and keeps the context.
GstAllocator *make_page_locked_allocator(std::shared_ptr<const DeviceContext> context);

}  // namespace cudavision
