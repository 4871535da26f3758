// SPDX-License-Identifier: LGPL-2.1-or-later
// The enum types of elements that compute histograms of gradients.
#pragma once

#include <glib-object.h>

namespace cudavision {

// The enum type of GradientOperator.
GType gradient_operator_type();
// The enum type of GradientWeight.
GType gradient_weight_type();

}  // namespace cudavision
