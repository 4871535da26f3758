// SPDX-License-Identifier: LGPL-2.1-or-later
// An allocator of pinned system memory, which the device copies to and from at full speed.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/base/device/device_context.h"

namespace cudavision {

// Makes an allocator for a buffer pool. Its memory looks like ordinary system memory and keeps the context alive.
GstAllocator *make_pinned_allocator(std::shared_ptr<DeviceContext> context);

}  // namespace cudavision
