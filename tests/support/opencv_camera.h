// SPDX-License-Identifier: LGPL-2.1-or-later
// Includes cv::initUndistortRectifyMap and cv::fisheye, which OpenCV 5 has moved to another module.
#pragma once

#include <opencv2/core/version.hpp>
#if CV_VERSION_MAJOR >= 5
#include <opencv2/geometry.hpp>
#else
#include <opencv2/calib3d.hpp>
#endif
