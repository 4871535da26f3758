// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets properties of elements to random values.
#pragma once

#include <gst/gst.h>

#include "cuda/common/image.h"
#include "tests/fuzz/random.h"

namespace cudavision::test {

// Sets a random property that may change in PLAYING to a value within its range: often to a small one, sometimes
// to an end of the range, and regions near the edges of a frame of this size.
void set_random_property(Random &random, GstElement *element, Size frame);
// Sets all of these properties to their defaults.
void reset_properties(GstElement *element);

}  // namespace cudavision::test
