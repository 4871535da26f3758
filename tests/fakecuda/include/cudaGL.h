/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of the CUDA driver's <cudaGL.h> that the headers of GStreamer's CUDA library need. */
#pragma once

#include "tests/fakecuda/include/cuda.h"

typedef enum CUGLDeviceList_enum {
  CU_GL_DEVICE_LIST_ALL = 0x01,
  CU_GL_DEVICE_LIST_CURRENT_FRAME = 0x02,
  CU_GL_DEVICE_LIST_NEXT_FRAME = 0x03
} CUGLDeviceList;
