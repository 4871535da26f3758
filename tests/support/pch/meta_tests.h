// SPDX-License-Identifier: LGPL-2.1-or-later
// Precompiled for the tests of the metas. A file still includes what it uses: this one only saves time.
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
