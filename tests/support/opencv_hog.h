// SPDX-License-Identifier: LGPL-2.1-or-later
// cv::HOGDescriptor and cv::CascadeClassifier. OpenCV 5 has moved them to its repository opencv_contrib; their names are the same.
#pragma once

#include <opencv2/core/version.hpp>
#if CV_VERSION_MAJOR >= 5
#include <opencv2/xobjdetect.hpp>
#else
#include <opencv2/objdetect.hpp>
#endif
