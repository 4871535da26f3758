// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads files that describe a camera: OpenCV's YAML, as its calibration example and cv::FileStorage write it, and the
// camera_info of ROS.
#pragma once

#include <string>
#include <string_view>

#include "cuda/common/image.h"
#include "cuda/common/status.h"
#include "cuda/remap/camera_view.h"

namespace cudavision::rectify {

struct Calibration {
  CameraModel camera;
  Size size;  // of the pictures with which the camera was calibrated; 0 x 0 if the file does not say it
};

// Errors name the file, its line and what was expected there. On failure *calibration is unchanged.
Status read_calibration(const std::string &location, Calibration *calibration);
// read_calibration() for the contents of a file. The caller must catch std::bad_alloc.
Status parse_calibration(std::string_view text, Calibration *calibration);

// The camera for frames of another size: all of the calibrated picture, scaled. Fails if the shapes differ by more than
// the rounding of a width or a height.
Status camera_for(const Calibration &calibration, Size frame, CameraModel *camera);

}  // namespace cudavision::rectify
