// SPDX-License-Identifier: LGPL-2.1-or-later
// Includes cv::HOGDescriptor and cv::CascadeClassifier, which OpenCV 5 has moved to its repository opencv_contrib.
#pragma once

#include <opencv2/core/version.hpp>
#if CV_VERSION_MAJOR >= 5
#include <opencv2/xobjdetect.hpp>
#else
#include <opencv2/objdetect.hpp>
#endif
