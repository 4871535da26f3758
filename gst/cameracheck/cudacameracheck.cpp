// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudacameracheck: its description, its properties, and when it waits for frames.
/**
 * SECTION:element-cudacameracheck
 * @title: cudacameracheck
 * @short_description: Whether a camera is all right
 *
 * cudacameracheck learns what a camera usually shows, and tells when it is covered, out of focus or turned away, when
 * its picture is frozen, too dark, too bright, flickers or is full of noise, and when no frame comes any more.
 *
 * Each begin and end is an element message `cudacameracheck-event`: `event` (`covered`, `defocused`, `moved`, `frozen`,
 * `dark`, `bright`, `flicker`, `noise` or `lost`), `state` (`begin` or `end`), `measure` (a double), `running-time`
 * (guint64), at the end `duration` (guint64, nanoseconds), and of `moved` `shift-x` and `shift-y`, in pixels, if they
 * are known. The same events are attached to frames as the list `events` of a #GstCustomMeta `GstCudaVisionZonesMeta`.
 * While the camera is covered, moved or frozen, frames have a warning, and no detector counts as having looked at them.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m v4l2src ! videoconvert ! cudacameracheck ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.3
 */
#include "gst/base/element/element.h"
#include "gst/base/results/zones_meta.h"
#include "gst/cameracheck/cameracheck_operation.h"

namespace cudavision {
namespace {

struct CameraCheckElement {
  using Operation = CameraCheckOperation;

  static constexpr ElementText kText{"GstCudaCameraCheck", "Camera check", "Filter/Analyzer/Video/Hardware",
                                     "Tells when a camera is covered, out of focus, moved, frozen, too dark "
                                     "or lost, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<CheckSettings>> properties() {
    using S = CheckSettings;
    return {
        real_property<S>({"hysteresis", "Hysteresis",
                          "Seconds for which a trouble must last, or be over, until it is told"},
                         &S::hysteresis, 0, 60),
        real_property<S>({"learn-time", "Learn time", "Seconds in which a view is learnt"}, &S::learn_time, 1,
                         3600),
        real_property<S>(
            {"relearn-time", "Relearn time",
             "Seconds after which a camera that has moved keeps its new view: it is learnt, and the event "
             "ends (0 = never)"},
            &S::relearn_time, 0, 86400),
        real_property<S>(
            {"frozen-time", "Frozen time", "Seconds without any change after which the picture is frozen"},
            &S::frozen_time, 1, 86400),
        real_property<S>(
            {"lost-time", "Lost time",
             "Seconds without a frame, while the pipeline plays, after which frames are lost (0 = never)"},
            &S::lost_time, 0, 86400, Mutable::ready),
        real_property<S>({"covered-share", "Covered share",
                          "The camera is covered if this share of the learnt edges has no structure"},
                         &S::covered_share, 0.1, 1),
        real_property<S>({"least-sharpness", "Least sharpness",
                          "The camera is out of focus below this part of the learnt sharpness"},
                         &S::least_sharpness, 0.01, 0.9),
        real_property<S>({"shift", "Shift", "The camera has moved if the picture has by so many pixels"},
                         &S::shift, 0.5, 64),
        integer_property<S>(
            {"dark-level", "Dark level", "It is too dark if 95 % of the pixels are below this luma"},
            &S::dark_level, 0, 255, Mutable::controllable),
        string_property<S>(
            {"model-location", "Model location",
             "File in which what the camera usually shows is kept: read at the start if it is there, "
             "and written at the stop"},
            &S::model_location, Mutable::ready)};
  }
  static Status load(const CheckSettings &settings, CheckFiles *files) {
    return SavedLooks::load(settings.model_location, files);
  }
  static CheckState &state_of(gpointer object) { return ElementClass<CameraCheckElement>::state_of(object); }
  // Makes the class watch for frames.
  static void extend(GstCudaVisionFilterClass *klass) {
    register_zones_meta();
    static const auto change_state = GST_ELEMENT_CLASS(klass)->change_state;
    GST_ELEMENT_CLASS(klass)->change_state = [](GstElement *element, GstStateChange transition) {
      CheckState &state = state_of(element);
      if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) (void)state.watch.take_lost();  // of the last run
      if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED) state.watch.stop();
      const GstStateChangeReturn result = change_state(element, transition);
      if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && result != GST_STATE_CHANGE_FAILURE)
        state.watch.start(static_cast<GstClockTime>(state.snapshot().lost_time * GST_SECOND));
      return result;
    };
    static const auto take_frame = GST_BASE_TRANSFORM_CLASS(klass)->submit_input_buffer;
    GST_BASE_TRANSFORM_CLASS(klass)->submit_input_buffer = [](GstBaseTransform *transform,
                                                              gboolean is_discont, GstBuffer *buffer) {
      state_of(transform).watch.note_frame();
      return take_frame(transform, is_discont, buffer);
    };
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudacameracheck, cudavision::CameraCheckElement)
