// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that a CUDA element proposes to upstream elements for their frames, so that no copy or the fastest
// copy is needed.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/base/device/device_context.h"

namespace cudavision {

// Completes an allocation query. If the caps ask for CUDA memory, it adds a pool of CUDA memory. For system memory it
// adds an allocator of pinned memory, which sources use with any pool, and a pool. Proposals of downstream elements are
// kept. The buffers may outlive the pool and the element. Returns false if nothing could be added.
bool offer_memory(GstQuery *query, const std::shared_ptr<DeviceContext> &context);

}  // namespace cudavision
