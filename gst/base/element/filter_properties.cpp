// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/filter_properties.h"

namespace cudavision {
namespace {

GType backend_choice_type() {
  return enum_type("GstCudaVisionBackend",
                   {{BackendChoice::automatic, "CUDA if a device can be used, otherwise the CPU", "auto"},
                    {BackendChoice::cuda, "CUDA; an error if no device can be used", "cuda"},
                    {BackendChoice::cpu, "The CPU, with n-threads threads", "cpu"}});
}

GType active_backend_type() {
  return enum_type("GstCudaVisionActiveBackend",
                   {{ActiveBackend::none, "None: the element is stopped", "none"},
                    {ActiveBackend::cuda, "CUDA", "cuda"},
                    {ActiveBackend::cpu, "The CPU", "cpu"}});
}

GType luma_range_type() {
  return enum_type("GstCudaVisionLumaRange",
                   {{LumaRange::as_is, "The numbers of the frame", "as-is"},
                    {LumaRange::full, "Limited-range luma, 16 to 235, is expanded to 0 to 255", "full"}});
}

Property<FilterSettings> roi_property(PropertyText text, int FilterSettings::*member) {
  return integer_property(text, member, 0, G_MAXINT, Mutable::controllable);
}

}  // namespace

std::vector<Property<FilterSettings>> filter_properties() {
  using S = FilterSettings;
  return {
      enum_property<S>({"backend", "Backend", "The backend that processes frames"}, backend_choice_type(),
                       &S::backend, Mutable::ready),
      enum_property<S>({"active-backend", "Active backend", "The backend in use"}, active_backend_type(),
                       &S::active_backend, Mutable::never),
      integer_property<S>({"cuda-device-id", "CUDA device ID",
                           "CUDA device to use (-1 = that of neighbouring elements, otherwise the first)"},
                          &S::cuda_device_id, -1, G_MAXINT, Mutable::ready),
      integer_property<S>({"n-threads", "Threads", "Threads of the CPU backend (0 = one per core)"},
                          &S::n_threads, 0, 1024),
      unsigned_property<S>(
          {"max-memory", "Maximal memory",
           "Bytes that the element may allocate for its frames and results; caps that need "
           "more are refused (0 = the free memory of the device or, on the CPU, the memory of the "
           "machine or its container)"},
          &S::max_memory),
      boolean_property<S>(
          {"display", "Display", "Draw the result on the frame; otherwise frames are not changed"},
          &S::display, Mutable::controllable),
      boolean_property<S>(
          {"post-messages", "Post messages", "Post an element message on the bus for each processed frame"},
          &S::post_messages, Mutable::controllable),
      deprecated(boolean_property<S>({"message", "Message", "The old name of post-messages"},
                                     &S::post_messages, Mutable::controllable)),
      roi_property({"roi-x", "ROI x", "Left column of the region of interest in pixels"}, &S::roi_x),
      roi_property({"roi-y", "ROI y", "Top row of the region of interest in pixels"}, &S::roi_y),
      roi_property({"roi-width", "ROI width",
                    "Width of the region of interest in pixels (0 = to the right end of the frame)"},
                   &S::roi_width),
      roi_property({"roi-height", "ROI height",
                    "Height of the region of interest in pixels (0 = to the bottom of the frame)"},
                   &S::roi_height),
      integer_property<S>(
          {"every-nth", "Every nth", "Process the first of every N frames; the others pass unchanged"},
          &S::every_nth, 1, G_MAXINT, Mutable::controllable),
      integer_property<S>(
          {"gray16-min", "GRAY16 minimum", "GRAY16_LE: the value that counts as black, less than gray16-max"},
          &S::gray16_min, 0, GrayRange::kMost, Mutable::controllable),
      integer_property<S>({"gray16-max", "GRAY16 maximum",
                           "GRAY16_LE: the value that counts as white, greater than gray16-min"},
                          &S::gray16_max, 0, GrayRange::kMost, Mutable::controllable),
      enum_property<S>({"luma-range", "Luma range", "The luma that is analysed; drawing is not affected"},
                       luma_range_type(), &S::luma_range, Mutable::ready)};
}

}  // namespace cudavision
