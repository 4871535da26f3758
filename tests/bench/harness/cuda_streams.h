// SPDX-License-Identifier: LGPL-2.1-or-later
// The few things about CUDA that streams_bench does itself; in builds without CUDA they all say that there is none.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cudavision::bench {

// A context of the first device, as pipelines take it by gst_element_set_context; null, with the reason, when none can
// be made. The caller owns it.
GstContext *make_cuda_context(std::string *why_not);

// The first device's name, without a context being made; empty when there is none.
std::string cuda_device_name();

// Bytes of the first device's memory that nobody uses. The first call makes a context, which stays.
std::optional<std::int64_t> free_device_memory();

}  // namespace cudavision::bench
