// SPDX-License-Identifier: LGPL-2.1-or-later
// Precompiled for all kernel tests. A file still includes what it uses: this one only saves time.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>
