// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudacanny.
#pragma once

#include <gst/gst.h>

#include "cuda/canny/canny.h"

namespace cudavision {

enum class CannyOutput { edges, overlay };

struct CannySettings : CannyParams {
  CannyOutput output = CannyOutput::edges;
  guint32 color = 0xffff0000;

  friend bool operator==(const CannySettings &, const CannySettings &) = default;
};

inline Status validate(const CannySettings &settings) {
  return validate(static_cast<const CannyParams &>(settings));
}

}  // namespace cudavision
