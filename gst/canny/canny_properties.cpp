// SPDX-License-Identifier: LGPL-2.1-or-later
// The enum type of the properties of Canny.
#include "gst/canny/canny_properties.h"

namespace cudavision {

GType canny_aperture_type() {
  static const GEnumValue values[] = {
      {3, "3x3 pixels", "3"}, {5, "5x5 pixels", "5"}, {7, "7x7 pixels", "7"}, {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionCannyAperture", values);
  return type;
}

}  // namespace cudavision
