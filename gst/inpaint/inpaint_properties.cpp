// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudainpaint.
#include "gst/inpaint/inpaint_properties.h"

#include "cuda/inpaint/removal_mask.h"

namespace cudavision {
namespace {

using S = InpaintSettings;

GType mode_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(InpaintMode::frame), "Each frame alone", "frame"},
      {static_cast<int>(InpaintMode::temporal),
       "A still camera: what earlier frames have shown is put back first, and the rest is filled",
       "temporal"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionInpaintMode", values);
  return type;
}

Property<S> region_property(PropertyText text, int S::*member) {
  return integer_property<S>(text, member, 0, G_MAXINT, Mutable::controllable);
}

}  // namespace

void install_inpaint_properties(GObjectClass *klass, InpaintProperties::SettingsOf settings_of) {
  InpaintProperties::install(
      klass, settings_of,
      {integer_property<S>({"patch-size", "Patch size", "Side of the patches in pixels: odd numbers"},
                           static_cast<int S::*>(&S::patch_size), kMinPatchSize, kMaxPatchSize),
       integer_property<S>({"search-radius", "Search radius",
                            "Patches are taken from at most so many pixels away (0 = from the whole frame)"},
                           static_cast<int S::*>(&S::search_radius), 0, G_MAXINT),
       boolean_property<S>({"lab", "Lab", "Compare patches in CIE L*a*b* instead of RGB"},
                           static_cast<bool S::*>(&S::lab)),
       integer_property<S>(
           {"max-patches", "Maximal patches",
            "Patches for a frame at most; the rest is filled by diffusion, for live use (0 = no bound)"},
           static_cast<int S::*>(&S::max_patches), 0, G_MAXINT),
       enum_property<S>({"mode", "Mode", "What is known of earlier frames"}, mode_type(), &S::mode),
       integer_property<S>(
           {"history", "History",
            "Frames, of those worked on, after which mode=temporal forgets what it has seen (0 = never)"},
           static_cast<int S::*>(&S::history), 0, G_MAXINT),
       string_property<S>(
           {"mask-location", "Mask location",
            "A picture, scaled to the frame, whose bright pixels are removed (any format of gdk-pixbuf)"},
           &S::mask_location, Mutable::ready),
       color_property<S>(
           {"mask-color", "Mask color",
            "Pixels of this colour, 0xAARRGGBB, are removed (default 0: none, as of all without opacity)"},
           &S::mask_color),
       integer_property<S>({"mask-tolerance", "Mask tolerance",
                            "How far each component may be from mask-color, in the frame's own components"},
                           &S::mask_tolerance, 0, 255, Mutable::controllable),
       boolean_property<S>({"mask-alpha", "Mask alpha",
                            "Remove pixels that are more than half transparent, and make them opaque"},
                           &S::mask_alpha),
       region_property({"region-x", "Region x", "Left column of a region to remove in pixels"}, &S::region_x),
       region_property({"region-y", "Region y", "Top row of a region to remove in pixels"}, &S::region_y),
       region_property({"region-width", "Region width", "Width of a region to remove in pixels (0 = none)"},
                       &S::region_width),
       region_property(
           {"region-height", "Region height", "Height of a region to remove in pixels (0 = none)"},
           &S::region_height),
       string_property<S>(
           {"roi-type", "ROI type",
            "Remove the region-of-interest metas of this type that the buffer carries (* = of every type)"},
           &S::roi_type),
       integer_property<S>({"dilate", "Dilate", "Grow what is removed by so many pixels to all sides"},
                           &S::dilation, 0, kMaxDilation, Mutable::controllable)});
}

}  // namespace cudavision
