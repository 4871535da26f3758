// SPDX-License-Identifier: LGPL-2.1-or-later
// The stand-in libnvidia-encode.so.1, which has no encoder. On a machine with a real driver it replaces the
// real library, which would not work with the stand-in libcuda.so.1.
#include "tests/fakecuda/driver/refuse.h"

namespace {
constexpr int kNoEncodeDevice = 1;  // NV_ENC_ERR_NO_ENCODE_DEVICE
}

FAKECUDA_REFUSE(NvEncodeAPICreateInstance, kNoEncodeDevice)
FAKECUDA_REFUSE(NvEncodeAPIGetMaxSupportedVersion, kNoEncodeDevice)
