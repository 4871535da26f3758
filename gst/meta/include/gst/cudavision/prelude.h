// SPDX-License-Identifier: LGPL-2.1-or-later
// The export macro, included by every header of the library.
#pragma once

#include <gst/gst.h>

/**
 * GST_CUDA_VISION_API: (skip)
 *
 * Marks the exported symbols of the library.
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
