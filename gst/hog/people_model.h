// SPDX-License-Identifier: LGPL-2.1-or-later
// The model of people that is part of the plugin.
#pragma once

#include "cuda/hog/hog_detector.h"

namespace cudavision {

// OpenCV's default detector of people who stand or walk and are seen as a whole, in windows of 64x128 pixels, of which
// a person fills the middle 96 rows. It was trained as in N. Dalal and B. Triggs, "Histograms of Oriented Gradients for
// Human Detection", CVPR 2005.
HogModel people_model();

}  // namespace cudavision
