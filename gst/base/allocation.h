// SPDX-License-Identifier: LGPL-2.1-or-later
// What a CUDA element offers to those who make its frames: memory that needs no copy, or the fastest one.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "base/device_context.h"

namespace cudavision {

// Whether the query names a pool, and not only sizes.
bool has_pool(GstQuery *query);

// Adds a pool to an allocation query that has none: of CUDA memory for caps that ask for it, otherwise of
// page-locked system memory. Buffers outlive the pool and the element. False when the caps are no video of
// which a pool can be made.
bool offer_pool(GstQuery *query, const std::shared_ptr<const DeviceContext> &context);

}  // namespace cudavision
