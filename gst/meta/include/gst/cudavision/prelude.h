// SPDX-License-Identifier: LGPL-2.1-or-later
// What every header of the library begins with: the mark of its exported symbols.
#pragma once

#include <gst/gst.h>

/**
 * GST_CUDA_VISION_API: (skip)
 *
 * Marks what the library exports.
 *
 * Since: 0.1
 */
#ifndef GST_CUDA_VISION_API
#ifdef BUILDING_GST_CUDA_VISION
#define GST_CUDA_VISION_API GST_API_EXPORT
#else
#define GST_CUDA_VISION_API GST_API_IMPORT
#endif
#endif
