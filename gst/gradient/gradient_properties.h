// SPDX-License-Identifier: LGPL-2.1-or-later
// The enums of the elements that count gradients.
#pragma once

#include <glib-object.h>

namespace cudavision {

// The GEnum of GradientOperator.
GType gradient_operator_type();
// The GEnum of GradientWeight.
GType gradient_weight_type();

}  // namespace cudavision
