// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudavisionredact: its description, its properties, and the frames that it holds back.
/**
 * SECTION:element-cudavisionredact
 * @title: cudavisionredact
 * @short_description: Hides people and other objects in the picture
 *
 * cudavisionredact hides the places of the regions of interest and object detections that a frame carries, whoever
 * attached them, and the pixels of motion masks (#element-cudabgsub) and segmentations: it fills them with a colour, or
 * makes them coarse or blurred. It changes frames in place, in system and CUDA memory.
 *
 * In doubt it hides more. An object that is not found for a while stays hidden for `hold` seconds, where it was and
 * may have gone. With `look-back-time`, frames are delayed, so that an object is hidden before it is found for
 * the first time. If no detector looks at the frames any more, they are hidden as a whole (`on-silence`). The default
 * mode is `fill`, which cannot be undone. Tensors that are pictures are removed from the frames (`drop-pictures`).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! videoconvert ! cudabgsub scale=1/2 display=false \
 *   ! cudahog model=people roi-type=motion display=false ! cudavisiontrack type=person \
 *   ! cudavisionredact look-back-time=1000000000 dilate=12 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.3
 */
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gst/base/element/element.h"
#include "gst/base/element/meta_element.h"
#include "gst/visionredact/visionredact_operation.h"

namespace cudavision {
namespace {

GType mode_type() {
  return enum_type("GstCudaVisionRedactMode",
                   {{RedactMode::fill, "Fills with `color`", "fill"},
                    {RedactMode::pixelate, "Makes each of few cells its mean", "pixelate"},
                    {RedactMode::blur, "Smooths with a Gaussian, which can be undone in part", "blur"}});
}

GType shape_type() {
  return enum_type("GstCudaVisionRedactShape",
                   {{RedactShape::box, "The box", "box"},
                    {RedactShape::ellipse, "The ellipse that touches the sides of the box", "ellipse"}});
}

GType on_silence_type() {
  return enum_type("GstCudaVisionRedactOnSilence",
                   {{OnSilence::hide_all, "Frames are filled as a whole", "hide-all"},
                    {OnSilence::pass, "Only what is known is hidden", "pass"}});
}

std::vector<Property<RedactSettings>> look_properties() {
  using S = RedactSettings;
  using R = RedactRanges;
  constexpr auto kControllable = Mutable::controllable;
  return {
      string_property<S>(
          {"type", "Type", "Hide regions, detections and masks of this type (default, and *: of every type)"},
          &S::type),
      enum_property<S>({"mode", "Mode", "What takes the place of the picture"}, mode_type(), &S::mode),
      color_property<S>({"color", "Color",
                         "mode=fill and frames that are hidden as a whole: the colour, always "
                         "opaque: " CUDAVISION_COLOR_WORDS},
                        &S::fill_color),
      integer_property<S>(
          {"cells", "Cells",
           "mode=pixelate and mode=blur: at most this many cells along the longer side of a box; two "
           "cells are the standard deviation of a blur"},
          &S::cells, R::cells, kControllable),
      real_property<S>(
          {"strength", "Strength",
           "mode=blur: the standard deviation of the Gaussian in pixels, at least 1 (0 = two cells)"},
          &S::strength, 0.0, R::strength.most),
      enum_property<S>({"shape", "Shape", "The part of a box that is hidden"}, shape_type(), &S::shape),
      integer_property<S>({"dilate", "Dilate", "Grow boxes and masks by this many pixels in every direction"},
                          &S::dilation, R::dilation, kControllable),
      string_property<S>(
          {"always", "Always",
           "Polygons that are hidden in every frame, in fractions of it: x,y x,y x,y; x,y x,y x,y"},
          &S::always),
      boolean_property<S>({"inverse", "Inverse", "Hide everything but the boxes and masks"}, &S::inverse),
      boolean_property<S>({"masks", "Masks", "Hide the pixels of motion masks and segmentations, too"},
                          &S::masks)};
}

std::vector<Property<RedactSettings>> doubt_properties() {
  using S = RedactSettings;
  return {real_property<S>(
              {"hold", "Hold",
               "Seconds for which an object stays hidden that is not found any more; ten times as long if it "
               "has an id and nothing moves there"},
              &S::hold, 0.0, 60.0),
          unsigned_property<S>({"look-back-time", "Look-back time",
                                "Nanoseconds, up to a minute, for which frames are held back, at most 256 "
                                "frames, so that an object "
                                "is hidden before it is found; they add to the latency"},
                               &S::look_back_time, Mutable::ready),
          deprecated(integer_property<S>(
              {"look-back", "Look back",
               "The old form of look-back-time, in frames of the rate in the caps or of 1/30 s; only if "
               "look-back-time is 0"},
              &S::look_back, 0, 300, Mutable::ready)),
          enum_property<S>(
              {"on-silence", "On silence", "What happens if no detector looks at the frames any more"},
              on_silence_type(), &S::on_silence),
          real_property<S>(
              {"timeout", "Timeout",
               "on-silence: seconds without a mark of a detector, or without a box from one that sets no "
               "marks"},
              &S::timeout, 0.0, 3600.0),
          boolean_property<S>(
              {"drop-pictures", "Drop pictures",
               "Remove all tensors but histograms, segmentations, and tags that are pictures: people can be "
               "recognised in them"},
              &S::drop_pictures)};
}

struct RedactElement {
  using Operation = VisionRedactOperation;

  static constexpr ElementText kText{
      "GstCudaVisionRedact", "Redaction", "Filter/Effect/Video/Hardware",
      "Hides people and other objects that were found, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<RedactSettings>> properties() {
    return joined(look_properties(), doubt_properties());
  }
  static void extend(GstCudaVisionFilterClass *klass);
};

// The functions of the element's class that hold frames back. They override those of the base class.
class Holding {
 public:
  static void install(GstCudaVisionFilterClass *klass) {
    parent_ = static_cast<GstBaseTransformClass *>(g_type_class_peek(GST_TYPE_CUDA_VISION_FILTER));
    klass->lets_nothing_pass = true;
    klass->time_held = time_held;
    auto *transform = GST_BASE_TRANSFORM_CLASS(klass);
    transform->start = GST_DEBUG_FUNCPTR(start);
    transform->stop = GST_DEBUG_FUNCPTR(stop);
    transform->submit_input_buffer = GST_DEBUG_FUNCPTR(take_frame);
    transform->generate_output = GST_DEBUG_FUNCPTR(give_frame);
    transform->sink_event = GST_DEBUG_FUNCPTR(take_event);
    transform->query = GST_DEBUG_FUNCPTR(answer);
    transform->propose_allocation = GST_DEBUG_FUNCPTR(propose_allocation);
  }

 private:
  static constexpr std::size_t kMostEvents = 1024;  // the most events that wait behind held frames

  static RedactState &state_of(gpointer object) { return ElementClass<RedactElement>::state_of(object); }

  static constexpr guint64 kMostHeld = 256;  // frames
  // The duration of a frame. The caps may have no rate, or one that no camera keeps, such as 90000/1.
  static GstClockTime duration_in(const RedactState &state) {
    const GstClockTime duration = state.frame_duration;
    return duration >= GST_SECOND / 240 ? duration : GST_SECOND / 30;
  }
  // The time for which frames are held, which kMostHeld frames may fill before look-back-time is over.
  static GstClockTime held_by(const RedactState &state) {
    const GstClockTime duration = duration_in(state), time = state.look_back_time;
    const GstClockTime most = state.frame_duration > 0 ? kMostHeld * duration : GST_SECOND * 60;
    return std::min(time > 0 ? time : std::min<guint64>(state.look_back, kMostHeld) * duration, most);
  }
  static GstClockTime time_held(GstCudaVisionFilter *filter, GstClockTime frame_duration) {
    RedactState &state = state_of(filter);
    state.frame_duration = frame_duration;
    return held_by(state);
  }
  // Whether the first held frame must leave now to be in time: the next frame will probably come as long after the last
  // one as that came after the one before, but not earlier than a frame duration.
  static bool has_waited(const RedactState &state) {
    const GstClockTime distance = std::max<GstClockTime>(state.regions.last_distance(), state.frame_duration),
                       next = state.regions.span() + std::max<GstClockTime>(distance, 1);
    return static_cast<guint64>(state.line.frames()) > kMostHeld || next > held_by(state);
  }

  static gboolean start(GstBaseTransform *transform) {
    RedactState &state = state_of(transform);
    {
      g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(transform));
      state.look_back = state.settings()->look_back;
      state.look_back_time = state.settings()->look_back_time;
    }
    return parent_->start(transform);
  }
  static gboolean stop(GstBaseTransform *transform) {
    RedactState &state = state_of(transform);
    const bool is_reset = guarded(transform, false, [&] {
      g_autoptr(GRecMutexLocker) lock = g_rec_mutex_locker_new(GST_PAD_GET_STREAM_LOCK(transform->sinkpad));
      state.line.clear();
      state.regions.restart();
      return true;
    });
    return parent_->stop(transform) && is_reset;
  }

  // Calls body(). If there is no memory, posts an error and returns `failed`: no exception may pass through GStreamer.
  template <typename Result, typename Body>
  static Result guarded(GstBaseTransform *transform, Result failed, const Body &body) {
    return protect(transform, "what is known of the objects of a frame", failed, body);
  }

  static GstFlowReturn take_frame(GstBaseTransform *transform, gboolean is_discont, GstBuffer *buffer) {
    RedactState &state = state_of(transform);
    const GstFlowReturn noted = guarded(transform, GST_FLOW_ERROR, [&] {
      const StopFlag &stop = stop_flag_of(transform);
      state.regions.arrive(buffer, transform->segment.rate < 0, state.snapshot(), stop);
      return stop.requested() ? GST_FLOW_FLUSHING : GST_FLOW_OK;
    });
    if (noted != GST_FLOW_OK) {  // its boxes may be incomplete
      forget_frames(transform);
      gst_buffer_unref(buffer);
      return noted;
    }
    const GstFlowReturn result = parent_->submit_input_buffer(transform, is_discont, buffer);
    if (transform->queued_buf == nullptr) {  // the base class has dropped the late frame
      state.regions.drop_last();
      return result;
    }
    GstBuffer *kept = std::exchange(transform->queued_buf, nullptr);
    if (is_discont && !GST_BUFFER_FLAG_IS_SET(kept, GST_BUFFER_FLAG_DISCONT)) {  // an older frame leaves next
      kept = gst_buffer_make_writable(kept);
      GST_BUFFER_FLAG_SET(kept, GST_BUFFER_FLAG_DISCONT);
    }
    const bool is_kept = guarded(transform, false, [&] {
      state.line.push(kept);
      return true;
    });
    if (is_kept) return result;
    gst_buffer_unref(kept);
    forget_frames(transform);
    return GST_FLOW_ERROR;
  }

  static GstFlowReturn give_frame(GstBaseTransform *transform, GstBuffer **output) {
    RedactState &state = state_of(transform);
    pass_events(transform);
    if (state.line.frames() == 0 || !has_waited(state)) return GST_FLOW_OK;
    return process_first(transform, false, output);
  }

  // Processes the first held frame. whole: hides all of it, because it has not waited for look-back-time.
  static GstFlowReturn process_first(GstBaseTransform *transform, bool whole, GstBuffer **output) {
    RedactState &state = state_of(transform);
    GstBuffer *frame = state.line.take_frame();
    const bool is_known = guarded(transform, false, [&] {
      state.hidden = state.regions.leave();
      state.hidden.whole = state.hidden.whole || whole;
      if (gst_buffer_get_size(frame) == 0 &&
          state.snapshot().drop_pictures) {  // an empty gap buffer, which run() never gets
        frame = gst_buffer_make_writable(frame);
        drop_pictures(frame);
      }
      return true;
    });
    if (!is_known) {
      gst_buffer_unref(frame);
      forget_frames(transform);
      return GST_FLOW_ERROR;
    }
    parent_->before_transform(transform, frame);  // controlled properties are those of the frame that leaves
    transform->queued_buf = frame;
    return parent_->generate_output(transform, output);
  }

  // Passes on the events that come before all held frames.
  static void pass_events(GstBaseTransform *transform) {
    while (GstEvent *event = state_of(transform).line.take_event()) parent_->sink_event(transform, event);
  }

  // Processes all held frames and pushes them downstream, with the events between them. whole: as for process_first().
  static void drain(GstBaseTransform *transform, bool whole) {
    RedactState &state = state_of(transform);
    GstFlowReturn result = GST_FLOW_OK;
    for (pass_events(transform); state.line.frames() > 0 && result == GST_FLOW_OK; pass_events(transform)) {
      GstBuffer *output = nullptr;
      result = process_first(transform, whole, &output);
      if (result == GST_FLOW_OK && output != nullptr)
        result = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(transform), output);
      else if (output != nullptr)
        gst_buffer_unref(output);
      if (result == GST_BASE_TRANSFORM_FLOW_DROPPED) result = GST_FLOW_OK;
    }
    forget_frames(transform);
  }

  // Also keeps the sticky events between the frames.
  static void forget_frames(GstBaseTransform *transform) {
    RedactState &state = state_of(transform);
    state.line.flush(GST_BASE_TRANSFORM_SRC_PAD(transform));
    state.regions.drop_all();
  }

  static gboolean take_event(GstBaseTransform *transform, GstEvent *event) {
    RedactState &state = state_of(transform);
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_FLUSH_STOP:
        forget_frames(transform);
        state.regions.forget_time();
        break;
      case GST_EVENT_CAPS:
        take_caps(transform, event);
        break;
      case GST_EVENT_EOS:  // no later frame can reveal more objects
      case GST_EVENT_SEGMENT_DONE:
        drain(transform, false);
        break;
      case GST_EVENT_STREAM_START:
        drain(transform, true);
        state.regions.forget_time();
        state.regions.forget_detector();
        break;
      case GST_EVENT_SEGMENT:
        state.regions.expect_jump();
        [[fallthrough]];
      case GST_EVENT_GAP:  // no frame comes for a while
        drain(transform, true);
        break;
      case GST_EVENT_TAG:
      case GST_EVENT_TOC:
        event = take_tags(transform, event);
        if (event == nullptr) return TRUE;
        [[fallthrough]];
      default:
        if (!GST_EVENT_IS_SERIALIZED(event)) break;
        if (state.line.events() >= kMostEvents) drain(transform, true);
        if (state.line.is_empty()) break;
        if (guarded(transform, false, [&] {
              state.line.push(event);
              return true;
            }))
          return TRUE;
        gst_event_unref(event);
        return FALSE;
    }
    return parent_->sink_event(transform, event);
  }

  static void take_caps(GstBaseTransform *transform, GstEvent *event) {
    GstCaps *caps = nullptr;
    gst_event_parse_caps(event, &caps);
    drain(transform, true);
    const FramesOfCaps frames = frames_of(caps);
    state_of(transform).regions.follow_caps(frames.size, frames.duration);
  }

  // Takes over the reference. Returns what is passed on, or null.
  static GstEvent *take_tags(GstBaseTransform *transform, GstEvent *event) {
    RedactState &state = state_of(transform);
    GstTagList *tags = nullptr;
    if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
      gst_event_parse_tag(event, &tags);
      state.regions.follow_tags(tags);
    }
    return state.snapshot().drop_pictures ? without_pictures(event) : event;
  }

  static gboolean answer(GstBaseTransform *transform, GstPadDirection direction, GstQuery *query) {
    if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN && direction == GST_PAD_SINK) drain(transform, true);
    return parent_->query(transform, direction, query);
  }

  // Asks upstream for as many more buffers as frames are held: with a smaller pool, it would wait for the held ones.
  static gboolean propose_allocation(GstBaseTransform *transform, GstQuery *decided, GstQuery *query) {
    const gboolean answered = parent_->propose_allocation(transform, decided, query);
    const RedactState &state = state_of(transform);
    const GstClockTime duration = duration_in(state);
    const auto held =
        static_cast<guint>(std::min<guint64>((held_by(state) + duration - 1) / duration, kMostHeld));
    if (held == 0) return answered;
    const guint count = gst_query_get_n_allocation_pools(query);
    for (guint i = 0; i < count; ++i) {
      GstBufferPool *pool = nullptr;
      guint size = 0, least = 0, most = 0;
      gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &least, &most);
      gst_query_set_nth_allocation_pool(query, i, pool, size, least + held, most > 0 ? most + held : 0);
      gst_clear_object(&pool);
    }
    if (count > 0) return answered;
    GstCaps *caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    GstVideoInfo info;
    if (caps == nullptr || !gst_video_info_from_caps(&info, caps)) return answered;
    gst_query_add_allocation_pool(query, nullptr, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), held + 1,
                                  0);
    return TRUE;
  }

  static inline GstBaseTransformClass *parent_;
};

void RedactElement::extend(GstCudaVisionFilterClass *klass) { Holding::install(klass); }

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudavisionredact, cudavision::RedactElement)
