// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudasigma2kp.
#pragma once

#include <gst/gst.h>

#include "cuda/sigma2kp/sigma2kp.h"

namespace cudavision {

struct Sigma2KpSettings : Sigma2KpParams {
  guint32 color = 0xffff0000;
  int point_size = 3, line_width = 1;

  friend bool operator==(const Sigma2KpSettings &, const Sigma2KpSettings &) = default;
};

inline Status validate(const Sigma2KpSettings &settings) {
  return validate(static_cast<const Sigma2KpParams &>(settings));
}

}  // namespace cudavision
