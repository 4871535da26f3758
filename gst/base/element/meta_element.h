// SPDX-License-Identifier: LGPL-2.1-or-later
// The common shape of the elements that read only the metas of frames, not the pixels: an element consists of a
// description, a settings struct with a property table, and functions for frames. This header defines the GObject class
// around them, which accepts video of any format in any memory.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <atomic>

#include "cuda/common/image.h"
#include "cuda/common/stop.h"
#include "gst/base/element/element.h"
#include "gst/base/element/timing.h"

namespace cudavision {

// What caps of any video format say about the frames: the size (0x0: unknown) and the duration (0: no frame rate).
struct FramesOfCaps {
  Size size{};
  GstClockTime duration = 0;
};
inline FramesOfCaps frames_of(const GstCaps *caps) {
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  FramesOfCaps frames;
  gint rate_n = 0, rate_d = 1;
  gst_structure_get(structure, "width", G_TYPE_INT, &frames.size.width, "height", G_TYPE_INT,
                    &frames.size.height, nullptr);
  gst_structure_get_fraction(structure, "framerate", &rate_n, &rate_d);
  frames.duration = frame_duration(rate_n, rate_d);
  return frames;
}

// The part of an element's state that every such element has. What an element adds to it is used by the streaming
// thread alone, even before the start, because GStreamer activates the pads earlier, and by the end of a run, when that
// thread has ended.
template <typename S>
struct MetaState {
  using Settings = S;

  S settings;     // protected by the object lock
  StopFlag stop;  // set while the element flushes or stops; changed with the object lock
  std::atomic<bool> started = false;
};

template <typename S>
struct MetaInstance {
  using State = S;  // derived from a MetaState

  GstBaseTransform parent;
  State *state;
};

// The GObject class of the element that E describes. E has these members:
//   Instance    a MetaInstance
//   kText       an ElementText
//   kMemory     what error messages say there is no memory for
//   properties  a function that returns the table of properties
//   take_frame  GstFlowReturn take_frame(Instance *, GstBuffer *)
//   take_caps   void take_caps(Instance *, const FramesOfCaps &)
//   end         ends a run: void end(Instance *)
// and these if it needs them:
//   begin       begins a run: bool begin(Instance *), false after an error that it has posted
//   restart     forgets earlier frames, after a flush and before another stream: void restart(Instance *)
//   follow_segment   applies a segment event to the frames that follow it: void follow_segment(Instance *, GstEvent *)
//   cancel      ends or allows waits, from any thread: void cancel(Instance *, bool cancelled)
//   kPassedCaps the caps of the source pad, if they are not those of the sink pad
//   init        void init(Instance *), when an instance is made
//   extend      sets further members of the class: void extend(GstBaseTransformClass *)
template <typename E>
class MetaElement {
 public:
  using Instance = typename E::Instance;

  static GType type() {
    static const GType type = g_type_register_static_simple(GST_TYPE_BASE_TRANSFORM, E::kText.type_name,
                                                            sizeof(GstBaseTransformClass), init_class,
                                                            sizeof(Instance), init_instance, GTypeFlags(0));
    return type;
  }
  static inline GstBaseTransformClass *parent_class;

  // Calls body() as protect() does, or returns GST_FLOW_FLUSHING if the element has not started.
  template <typename Body>
  static GstFlowReturn take(GstBaseTransform *transform, const Body &body) {
    Instance *self = instance(transform);
    if (!self->state->started) return GST_FLOW_FLUSHING;
    return protect(transform, E::kMemory, GST_FLOW_ERROR, [&] { return body(self); });
  }

  static gboolean sink_event(GstBaseTransform *transform, GstEvent *event) {
    Instance *self = instance(transform);
    const GstEventType type = GST_EVENT_TYPE(event);
    // Only flush-start may come while a frame is processed. The other events are serialised with the frames.
    if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
      set_stop(self, StopReason::flush, type == GST_EVENT_FLUSH_START);
    if constexpr (requires { &E::restart; })
      if (type == GST_EVENT_FLUSH_STOP ||
          (type == GST_EVENT_STREAM_START && begins_another_stream(transform->sinkpad, event)))
        E::restart(self);
    if constexpr (requires { &E::follow_segment; })
      if (type == GST_EVENT_SEGMENT) E::follow_segment(self, event);
    return parent_class->sink_event(transform, event);
  }

 private:
  using State = typename Instance::State;
  using Settings = typename State::Settings;

  static Instance *instance(gpointer object) { return static_cast<Instance *>(object); }

  static void init_class(gpointer klass, gpointer) {
    parent_class = static_cast<GstBaseTransformClass *>(g_type_class_peek_parent(klass));
    G_OBJECT_CLASS(klass)->finalize = finalize;
    PropertyTable<Settings>::install(
        G_OBJECT_CLASS(klass), [](GObject *object) { return &instance(object)->state->settings; },
        E::properties());
    describe(klass, E::kText);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    const char *video = "video/x-raw(ANY)", *passed = video;
    if constexpr (requires { E::kPassedCaps; }) passed = E::kPassedCaps;
    add_pads(element, gst_caps_from_string(video), gst_caps_from_string(passed));
    element->change_state = GST_DEBUG_FUNCPTR(change_state);
    auto *transform = GST_BASE_TRANSFORM_CLASS(klass);
    transform->start = GST_DEBUG_FUNCPTR(start);
    transform->stop = GST_DEBUG_FUNCPTR(stop);
    transform->set_caps = GST_DEBUG_FUNCPTR(set_caps);
    transform->sink_event = GST_DEBUG_FUNCPTR(sink_event);
    transform->propose_allocation = GST_DEBUG_FUNCPTR(propose_no_crops);
    transform->prepare_output_buffer = GST_DEBUG_FUNCPTR(share_memory);
    transform->transform_ip = GST_DEBUG_FUNCPTR(transform_ip);
    if constexpr (requires { &E::extend; }) E::extend(transform);
  }

  static void init_instance(GTypeInstance *instance, gpointer) {
    auto *self = reinterpret_cast<Instance *>(instance);
    self->state = new State();
    if constexpr (requires { &E::init; }) E::init(self);
    work_in_push_mode_only(&self->parent);
  }

  static void finalize(GObject *object) {
    delete instance(object)->state;
    G_OBJECT_CLASS(parent_class)->finalize(object);
  }

  static void set_stop(Instance *self, StopReason reason, bool requested) {
    g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(self));
    StopFlag &stop = self->state->stop;
    requested ? stop.request(reason) : stop.withdraw(reason);
    if constexpr (requires { &E::cancel; }) E::cancel(self, stop.requested());
  }

  static gboolean start(GstBaseTransform *transform) {
    Instance *self = instance(transform);
    for (const StopReason reason : {StopReason::stop, StopReason::flush}) set_stop(self, reason, false);
    if constexpr (requires { &E::begin; })
      if (!protect(transform, E::kMemory, false, [self] { return E::begin(self); })) return FALSE;
    self->state->started = true;
    return TRUE;
  }

  static gboolean stop(GstBaseTransform *transform) {
    Instance *self = instance(transform);
    g_autoptr(GRecMutexLocker) lock = g_rec_mutex_locker_new(GST_PAD_GET_STREAM_LOCK(transform->sinkpad));
    self->state->started = false;
    return protect(transform, E::kMemory, FALSE, [self] { return E::end(self), TRUE; });
  }

  // Asks the streaming thread to stop: the change to READY would otherwise wait until the current frame is processed.
  static GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
    if (change == GST_STATE_CHANGE_PAUSED_TO_READY) set_stop(instance(element), StopReason::stop, true);
    return GST_ELEMENT_CLASS(parent_class)->change_state(element, change);
  }

  static gboolean set_caps(GstBaseTransform *transform, GstCaps *caps, GstCaps *) {
    return protect(transform, E::kMemory, FALSE,
                   [&] { return E::take_caps(instance(transform), frames_of(caps)), TRUE; });
  }

  // Passes on what downstream proposes, except for GstVideoCropMeta. In a frame that is still to be cropped, results
  // would have other coordinates than in the cropped frame.
  static gboolean propose_no_crops(GstBaseTransform *element, GstQuery *decided, GstQuery *query) {
    const gboolean answered = parent_class->propose_allocation(element, decided, query);
    guint index = 0;
    if (gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, &index))
      gst_query_remove_nth_allocation_meta(query, index);
    return answered;
  }

  // Only metas change, so the output frame shares the memory of the input frame.
  static GstFlowReturn share_memory(GstBaseTransform *, GstBuffer *input, GstBuffer **output) {
    *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
    return *output != nullptr ? GST_FLOW_OK : GST_FLOW_ERROR;
  }

  static GstFlowReturn transform_ip(GstBaseTransform *transform, GstBuffer *buffer) {
    return take(transform, [buffer](Instance *self) { return E::take_frame(self, buffer); });
  }
};

}  // namespace cudavision
