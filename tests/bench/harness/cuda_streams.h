// SPDX-License-Identifier: LGPL-2.1-or-later
// The direct uses of CUDA in streams_bench. In builds without CUDA they report that there is no device.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cudavision::bench {

// A context of the first device, for gst_element_set_context; null, with the reason, on failure. The caller owns it.
GstContext *make_cuda_context(std::string *why_not);

// The first device's name, found without making a context; empty if there is none.
std::string cuda_device_name();

// The free bytes of the first device's memory. The first call makes a context, which is kept.
std::optional<std::int64_t> free_device_memory();

}  // namespace cudavision::bench
