// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaVisionFilter, the abstract base class of the elements.
// GStreamer calls these functions with instances of the class: that is not checked for each frame.
#define G_DISABLE_CAST_CHECKS
#include "gst/base/element/filter.h"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/standard_arithmetic.h"
#include "gst/base/device/context_sharing.h"
#include "gst/base/element/filter_properties.h"
#include "gst/base/element/promised_latency.h"
#include "gst/base/element/push_only.h"
#include "gst/base/element/session.h"
#include "gst/base/element/stream_clock.h"
#include "gst/base/element/timing.h"
#include "gst/base/element/valid_settings.h"
#include "gst/base/frame/allocation.h"
#include "gst/base/frame/format.h"
#include "gst/base/frame/mapped_frame.h"
#include "gst/base/frame/shown_shape.h"
#include "gst/base/results/frame_notes.h"

// The debug category: each element has one of its own.
#define GST_CAT_DEFAULT (GST_CUDA_VISION_FILTER_GET_CLASS(filter)->category)

namespace cudavision {

struct FilterState {
  ObjectSettings settings;
  ContextSharing sharing;
  Punctuality punctuality;
  PromisedLatency latency;
  StopFlag stop;  // set while the element flushes or stops; read by the work on a frame
  std::atomic<GstClockTime> processing_time = 0;  // of the last frame whose work was finished before it left
  std::atomic<GstClockTime> frame_duration = 0;   // by the caps, or 0
  SharedSession session;
  // The streaming thread uses the following members, and start(), which never runs beside it.
  GstVideoInfo info;
  StreamClock clock;
  ShownShape shape;
  ValidSettings<GrayRange> gray_range;
  // Reset at each start.
  struct Run {
    int wanted_device = -1;   // cuda-device-id at the start
    guint64 frame_count = 0;  // since the start or the last flush
    StreamId stream_id;
    std::optional<FramePath> logged_path;  // the path that was logged last for these caps
    bool region_is_refused = false;        // refuse_region() has warned
    bool has_fitting_caps = false;         // there were caps whose frames could be processed
    bool frames_are_too_small = false;     // the frames of the last caps
    bool told_of_threads = false;          // tell_of_threads() has warned
    bool told_of_fields = false;           // tell_of_fields() has warned
  } run;
};

const StopFlag &stop_flag_of(GstBaseTransform *filter) {
  return reinterpret_cast<GstCudaVisionFilter *>(filter)->state->stop;
}

}  // namespace cudavision

using namespace cudavision;
using Properties = FilterProperties;

#define GST_CUDA_VISION_FILTER(object) \
  G_TYPE_CHECK_INSTANCE_CAST(object, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilter)
#define GST_CUDA_VISION_FILTER_GET_CLASS(object) \
  G_TYPE_INSTANCE_GET_CLASS(object, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilterClass)

G_DEFINE_ABSTRACT_TYPE(GstCudaVisionFilter, gst_cuda_vision_filter, GST_TYPE_BASE_TRANSFORM)

namespace {

// --- errors ---

gint resource_error_of(Status::Code code) {
  switch (code) {
    case Status::Code::no_device:
    case Status::Code::no_file:
      return GST_RESOURCE_ERROR_NOT_FOUND;
    case Status::Code::unreadable_file:
      return GST_RESOURCE_ERROR_READ;
    case Status::Code::out_of_memory:
      return GST_RESOURCE_ERROR_NO_SPACE_LEFT;
    case Status::Code::invalid_argument:
    case Status::Code::too_small:
      return GST_RESOURCE_ERROR_SETTINGS;
    default:
      return GST_RESOURCE_ERROR_FAILED;
  }
}

// what: the first part of the message; the status completes it.
void post_error(GstCudaVisionFilter *filter, const char *what, const Status &status, int line) {
  gst_element_message_full(
      GST_ELEMENT(filter), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, resource_error_of(status.code()),
      g_strdup_printf("%s: %s", what, status.text().c_str()), nullptr, __FILE__, GST_FUNCTION, line);
}

// Calls `body`, the work of a function that GStreamer calls. No exception may reach GStreamer: if the host has no
// memory left, posts an error and returns `failed`. `body` computes with StandardArithmetic.
template <typename Result, typename Body>
Result protect(GstCudaVisionFilter *filter, Result failed, const Body &body) {
  const StandardArithmetic arithmetic;
  Result result = failed;
  const Status status = catch_bad_alloc([&] {
    result = body();
    return Status();
  });
  if (!status.ok()) post_error(filter, "The element cannot go on", status, __LINE__);
  return result;
}

// Tells the pipeline that the element promises another latency.
void post_latency(GstCudaVisionFilter *filter) {
  gst_element_post_message(GST_ELEMENT(filter), gst_message_new_latency(GST_OBJECT(filter)));
}

// Promises the time for which frames are held back, if each lasts frame_duration (0: unknown).
void promise_held(GstCudaVisionFilter *filter, GstClockTime frame_duration) {
  const GstCudaVisionFilterClass *klass = GST_CUDA_VISION_FILTER_GET_CLASS(filter);
  if (klass->time_held != nullptr && filter->state->latency.hold(klass->time_held(filter, frame_duration)))
    post_latency(filter);
}

// --- starting and stopping ---

void set_active_backend(GstCudaVisionFilter *filter, ActiveBackend backend) {
  GST_OBJECT_LOCK(filter);
  filter->state->settings.active_backend = backend;
  GST_OBJECT_UNLOCK(filter);
  g_object_notify(G_OBJECT(filter), "active-backend");
}

// Calls `function` unless it is null. If it fails, posts an error that begins with `what`, and returns false.
bool prepared(GstCudaVisionFilter *filter, Status (*function)(GstCudaVisionFilter *), const char *what) {
  if (function == nullptr) return true;
  const Status status = catch_bad_alloc([&] { return function(filter); });
  if (!status.ok()) post_error(filter, what, status, __LINE__);
  return status.ok();
}

gboolean start_filter(GstCudaVisionFilter *filter) {
  FilterState &state = *filter->state;
  const GstCudaVisionFilterClass *klass = GST_CUDA_VISION_FILTER_GET_CLASS(filter);
  const auto make_operation = [filter, klass](const OperationSetup &setup,
                                              std::unique_ptr<Operation> *operation) {
    return klass->make_operation(filter, setup, operation);
  };
  for (const StopReason reason : {StopReason::stop, StopReason::flush}) state.stop.withdraw(reason);
  if (!prepared(filter, klass->check_settings, "The properties cannot be used") ||
      !prepared(filter, klass->load_files, "A file cannot be used"))
    return FALSE;
  const ObjectSettings settings = Properties::snapshot(filter);
  if (const Status status = state.gray_range.begin(filter, {settings.gray16_min, settings.gray16_max});
      !status.ok()) {
    post_error(filter, "The properties cannot be used", status, __LINE__);
    return FALSE;
  }
  std::shared_ptr<DeviceContext> context;
  if (settings.backend != BackendChoice::cpu) {
    const Status status = state.sharing.acquire(GST_ELEMENT(filter), settings.cuda_device_id, &context);
    if (!status.ok() && settings.backend == BackendChoice::cuda) {
      post_error(filter, "CUDA cannot be used", status, __LINE__);
      return FALSE;
    }
    if (status.ok())
      GST_INFO_OBJECT(filter, "working on CUDA device %d", context->device_id());
    else
      GST_INFO_OBJECT(filter, "working on the CPU: %s", status.text().c_str());
  } else {
    state.sharing.release();  // a context set while another backend was selected
  }
  const bool cuda = context != nullptr;
  state.run = {};
  state.run.wanted_device = settings.cuda_device_id;
  state.clock.restart();
  state.shape.restart();
  state.latency.restart();
  promise_held(filter, 0);
  state.session.set(
      std::make_shared<Session>(std::move(context), make_operation, &state.stop, settings.luma_range));
  set_active_backend(filter, cuda ? ActiveBackend::cuda : ActiveBackend::cpu);
  return TRUE;
}

gboolean start(GstBaseTransform *transform) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  return protect(filter, FALSE, [filter] { return start_filter(filter); });
}

gboolean stop(GstBaseTransform *transform) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  FilterState &state = *filter->state;
  {
    const StreamLock lock(transform);
    if (const std::shared_ptr<Session> session = state.session.get(); session)
      protect(filter, FALSE, [&] { return session->end(), TRUE; });
    state.session.set(nullptr);
  }
  state.sharing.pause();
  set_active_backend(filter, ActiveBackend::none);
  return TRUE;
}

// The element finds its CUDA context in NULL to READY, because decoders ask for it then. Errors are reported only at
// start: backend and cuda-device-id may still change in READY.
GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  auto *filter = GST_CUDA_VISION_FILTER(element);
  FilterState &state = *filter->state;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    const ObjectSettings settings = Properties::snapshot(filter);
    if (settings.backend != BackendChoice::cpu)
      (void)catch_bad_alloc([&] { return state.sharing.find(element, settings.cuda_device_id); });
  }
  // Gives up the frame that is being processed: the state change would wait for it.
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) state.stop.request(StopReason::stop);
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_cuda_vision_filter_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) state.sharing.release();
  return result;
}

// --- caps ---

// Depends on the active backend after the start, and on the requested backend before it.
bool takes_cuda_memory(GstCudaVisionFilter *filter) {
  const ObjectSettings settings = Properties::snapshot(filter);
  return settings.active_backend == ActiveBackend::none ? settings.backend != BackendChoice::cpu
                                                        : settings.active_backend == ActiveBackend::cuda;
}

GstCaps *transform_caps(GstBaseTransform *transform, GstPadDirection, GstCaps *caps, GstCaps *wanted) {
  GstCaps *result =
      takes_cuda_memory(GST_CUDA_VISION_FILTER(transform)) ? gst_caps_ref(caps) : in_system_memory(caps);
  return restricted_to(result, wanted);
}

Size frame_size(const GstCudaVisionFilter *filter) {
  FilterState &state = *filter->state;
  return {GST_VIDEO_INFO_WIDTH(&state.info), GST_VIDEO_INFO_HEIGHT(&state.info)};
}

gboolean take_caps(GstCudaVisionFilter *filter, Session &session, GstCaps *caps) {
  FilterState &state = *filter->state;
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) {
    GST_ERROR_OBJECT(filter, "no video in caps %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  // Neighbouring rows of an interlaced frame belong to different times: gradients, motion and lines would be wrong.
  if (info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE &&
      info.interlace_mode != GST_VIDEO_INTERLACE_MODE_MIXED) {
    GST_ELEMENT_ERROR(filter, STREAM, FORMAT, ("Interlaced video is not supported: put deinterlace in front"),
                      ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  // Only the first view of a buffer would be mapped: an element that hides people would let the others pass.
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&info) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED &&
      GST_VIDEO_INFO_VIEWS(&info) > 1) {
    GST_ELEMENT_ERROR(filter, STREAM, FORMAT,
                      ("Buffers with several views (multiview-mode=separated) are not supported"),
                      ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  GST_DEBUG_OBJECT(filter, "%" GST_PTR_FORMAT " on %s", caps,
                   session.backend() == Backend::cuda ? "CUDA" : "the CPU");
  state.info = info;
  state.run.logged_path.reset();
  const GstClockTime duration = frame_duration(GST_VIDEO_INFO_FPS_N(&info), GST_VIDEO_INFO_FPS_D(&info));
  state.frame_duration = duration;
  state.punctuality.restart(duration);
  state.latency.set_frame_duration(duration);
  state.clock.follow_caps(duration);
  promise_held(filter, duration);
  const ObjectSettings settings = Properties::snapshot(filter);
  const Status status = session.negotiate(info, asks_for_cuda_memory(caps), settings);
  state.run.frames_are_too_small = status.code() == Status::Code::too_small;
  if (status.ok()) state.run.has_fitting_caps = true;
  if (status.ok()) return TRUE;
  // Accept frames whose region is too small if the region reaches to an edge of the frame, or if frames of earlier caps
  // could be processed: a sender may adapt the frame size to the network, and the size may change again.
  const bool may_pass = depends_on_frame(settings, frame_size(filter)) || state.run.has_fitting_caps;
  if (may_pass && state.run.frames_are_too_small) return TRUE;
  post_error(filter, "Frames of this size cannot be processed", status, __LINE__);
  return FALSE;
}

gboolean set_caps(GstBaseTransform *transform, GstCaps *caps, GstCaps *) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  // There is no session while the element stops: an allocation query may then still set the caps of the ended stream.
  const std::shared_ptr<Session> session = filter->state->session.get();
  if (!session) return FALSE;
  return protect(filter, FALSE, [&] { return take_caps(filter, *session, caps); });
}

// --- a frame ---

void before_transform(GstBaseTransform *transform, GstBuffer *buffer) {
  const GstClockTime time = to_stream_time(transform->segment, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(transform), time);
}

void post_message(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer) {
  const GstSegment &segment = GST_BASE_TRANSFORM(filter)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT(filter));  // null after g_object_new
  const char *name = factory != nullptr ? GST_OBJECT_NAME(factory) : G_OBJECT_TYPE_NAME(filter);
  GstStructure *structure =
      gst_structure_new(name, "timestamp", G_TYPE_UINT64, pts, "stream-time", G_TYPE_UINT64,
                        to_stream_time(segment, pts), "running-time", G_TYPE_UINT64,
                        to_running_time(segment, pts), "duration", G_TYPE_UINT64, GST_BUFFER_DURATION(buffer),
                        "processing-time", G_TYPE_UINT64, filter->state->processing_time.load(), nullptr);
  session.describe(structure);
  gst_element_post_message(GST_ELEMENT(filter), gst_message_new_element(GST_OBJECT(filter), structure));
}

// Warns that the region of interest cannot be analysed: once, until a region can be analysed again.
void refuse_region(GstCudaVisionFilter *filter, Session &session, const std::string &why) {
  if (std::exchange(filter->state->run.region_is_refused, true)) return;
  session.drop_history();  // the region of the next frames is not analysed
  GST_ELEMENT_WARNING(filter, RESOURCE, SETTINGS,
                      ("%s: %s", why.c_str(),
                       GST_CUDA_VISION_FILTER_GET_CLASS(filter)->lets_nothing_pass ? "the whole frame counts"
                                                                                   : "frames pass unchanged"),
                      (nullptr));
}

// Returns false, and warns, if the region of interest lies outside the frame.
bool has_region(GstCudaVisionFilter *filter, Session &session, const ObjectSettings &settings) {
  const Size frame = frame_size(filter);
  const Region region = region_of(settings, frame);
  if (region.width > 0 && region.height > 0) return true;
  refuse_region(filter, session,
                "roi-x and roi-y (" + std::to_string(settings.roi_x) + ", " + std::to_string(settings.roi_y) +
                    ") lie outside the frame of " + to_string(frame));
  return false;
}

// If the CUDA memory of a frame belongs to another CUDA context, moves the element to that context. If cuda-device-id
// forbids that, the element stays in its own context, and the frame is copied through system memory.
Status follow_context(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer) {
  FilterState &state = *filter->state;
  const DeviceContext *ours = session.context();
  GstCudaContext *theirs = context_of(buffer);
  if (ours == nullptr || theirs == nullptr || same_context(theirs, ours->handle())) return {};
  if (state.run.wanted_device >= 0 && device_of(theirs) != state.run.wanted_device) return {};
  std::shared_ptr<DeviceContext> context;
  CUDAVISION_TRY(DeviceContext::open(theirs, &context));
  GST_INFO_OBJECT(filter, "moving to the context of the frames on CUDA device %d", context->device_id());
  session.move_to(std::move(context));
  state.sharing.replace(theirs);
  return {};
}

// is_timed: as for Session::process(). processed: set to false if the region, or each frame of these caps, is too
// small: the frame then passes unchanged.
GstFlowReturn process(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer,
                      const ObjectSettings &settings, bool is_timed, bool *processed) {
  FilterState &state = *filter->state;
  Status status = follow_context(filter, session, buffer);
  if (status.ok()) {
    status = session.prepare(settings);
    const Region region = region_of(settings, frame_size(filter));
    // Whole frames that were large enough for the caps and are too small for new settings are an error instead.
    const bool may_pass = !is_whole(region, frame_size(filter)) || state.run.frames_are_too_small;
    if (status.code() == Status::Code::too_small && may_pass) {
      refuse_region(filter, session, status.text());
      *processed = false;
      return GST_FLOW_OK;
    }
    if (status.ok()) state.run.region_is_refused = false;
  }
  if (status.ok()) {
    MappedFrame frame(buffer, state.info, settings.display, session.context());
    if (!frame.mapped() && context_of(buffer) != nullptr) {
      GST_ELEMENT_ERROR(filter, RESOURCE, READ, ("The CUDA memory of a frame could not be mapped"),
                        ("%" GST_PTR_FORMAT, buffer));
      return GST_FLOW_ERROR;
    }
    if (!frame.fits()) {
      GST_ELEMENT_ERROR(
          filter, STREAM, FORMAT,
          ("A buffer does not hold a frame of the negotiated format: %s", frame.misfit().c_str()),
          ("%" GST_PTR_FORMAT, buffer));
      return GST_FLOW_ERROR;
    }
    status = session.process(frame, buffer, settings, is_timed);
  }
  if (status.ok()) return GST_FLOW_OK;
  if (status.code() == Status::Code::stopped) return GST_FLOW_FLUSHING;
  post_error(filter, "A frame could not be processed", status, __LINE__);
  return GST_FLOW_ERROR;
}

void log_frame(GstCudaVisionFilter *filter, const Session &session, GstBuffer *buffer, GstClockTime time) {
  FilterState &state = *filter->state;
  const FramePath &path = session.path();
  if (path != state.run.logged_path) GST_DEBUG_OBJECT(filter, "%s", describe(path).c_str());
  state.run.logged_path = path;
  GST_LOG_OBJECT(filter, "frame at %" GST_TIME_FORMAT " took %" G_GUINT64_FORMAT " us%s",
                 GST_TIME_ARGS(GST_BUFFER_PTS(buffer)), time / GST_USECOND,
                 session.left_pending() ? " to enqueue" : "");
}

// Warns, once after each start. The element goes on with the threads that it has, at least the streaming thread.
void tell_of_threads(GstCudaVisionFilter *filter) {
  if (std::exchange(filter->state->run.told_of_threads, true)) return;
  GST_ELEMENT_WARNING(filter, RESOURCE, FAILED,
                      ("The system refuses threads: fewer than n-threads work on a frame"), (nullptr));
}

void tell_of_shape(GstCudaVisionFilter *filter, GstBuffer *buffer, bool is_turned) {
  FilterState &state = *filter->state;
  if (is_turned) attach_warning(buffer, GST_ELEMENT(filter), "turned");
  const std::string complaint = state.shape.complaint(state.info, is_turned);
  if (!complaint.empty()) GST_ELEMENT_WARNING(filter, STREAM, FORMAT, ("%s", complaint.c_str()), (nullptr));
}

// Warns, once after each start, of an interlaced frame in mixed video. Decoders declare video as mixed as soon as it
// may have interlaced frames, and many such videos have only interlaced ones.
void tell_of_fields(GstCudaVisionFilter *filter, GstBuffer *buffer) {
  FilterState &state = *filter->state;
  const bool has_fields = state.info.interlace_mode == GST_VIDEO_INTERLACE_MODE_MIXED &&
                          GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  if (!has_fields || std::exchange(state.run.told_of_fields, true)) return;
  GST_ELEMENT_WARNING(filter, STREAM, FORMAT,
                      ("A frame is interlaced, and is processed as if it were not: what moves has combs. Put "
                       "deinterlace in front"),
                      (nullptr));
}

GstFlowReturn take_frame(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer) {
  FilterState &state = *filter->state;
  ObjectSettings settings = Properties::snapshot(filter);
  state.run.stream_id.take_frame();
  const Tick tick =
      state.clock.next(GST_BUFFER_PTS(buffer), GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT),
                       GST_BASE_TRANSFORM(filter)->segment.rate < 0);
  if (tick.tells_jump()) session.drop_history();
  if (gst_buffer_get_size(buffer) == 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP))
    return GST_FLOW_OK;
  const bool lets_nothing_pass = GST_CUDA_VISION_FILTER_GET_CLASS(filter)->lets_nothing_pass;
  const bool is_skipped = state.run.frame_count++ % static_cast<guint64>(settings.every_nth) != 0;
  if (is_skipped && !lets_nothing_pass) return GST_FLOW_OK;
  const bool is_outside = !has_region(filter, session, settings);
  if (is_outside && !lets_nothing_pass) return GST_FLOW_OK;
  if (is_outside) settings.roi_x = settings.roi_y = settings.roi_width = settings.roi_height = 0;
  const GrayRange range = state.gray_range.take(filter, {settings.gray16_min, settings.gray16_max});
  settings.gray16_min = range.low, settings.gray16_max = range.high;

  const bool is_timed = state.latency.begin_frame(GST_BASE_TRANSFORM_SINK_PAD(filter));
  const GstClockTime begin = gst_util_get_timestamp();
  const bool is_turned = state.shape.is_turned(GST_BASE_TRANSFORM_SINK_PAD(filter));
  session.set_turned(is_turned);
  bool processed = true;
  const GstFlowReturn result = process(filter, session, buffer, settings, is_timed, &processed);
  // The warning of has_region() stands, although the whole frame was processed.
  state.run.region_is_refused = state.run.region_is_refused || is_outside;
  if (result != GST_FLOW_OK || !processed) return result;
  const GstClockTime time = gst_util_get_timestamp() - begin;
  // If the GPU still works on the frame, this is only the time to enqueue the work.
  if (!session.left_pending()) {
    state.processing_time = time;
    if (state.latency.take(time)) post_latency(filter);
  }
  if (session.lacks_threads()) tell_of_threads(filter);
  tell_of_fields(filter, buffer);
  if (session.depends_on_shape()) tell_of_shape(filter, buffer, is_turned);
  log_frame(filter, session, buffer, time);
  if (settings.post_messages) post_message(filter, session, buffer);
  return GST_FLOW_OK;
}

GstFlowReturn transform_ip(GstBaseTransform *transform, GstBuffer *buffer) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  const std::shared_ptr<Session> session = filter->state->session.get();
  if (!session) return GST_FLOW_FLUSHING;  // the element has opened its pads and not started yet
  if (!session->knows_caps()) return GST_FLOW_NOT_NEGOTIATED;
  return protect(filter, GST_FLOW_ERROR, [&] { return take_frame(filter, *session, buffer); });
}

// --- events ---

void forget_frames(FilterState &state, Session &session) {
  state.clock.restart();
  session.drop_history();
}

// Applies a serialised event to the frames that follow it. Not called without a session: then the element has not
// started, and no frame follows the event.
void follow_event(GstCudaVisionFilter *filter, Session &session, GstEvent *event) {
  FilterState &state = *filter->state;
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_STOP:
      state.run.frame_count = 0;
      return forget_frames(state, session);
    case GST_EVENT_SEGMENT:
      return state.clock.expect_jump();
    case GST_EVENT_STREAM_START:
      if (!state.run.stream_id.changes(event)) return;
      if (session.has_history() && state.run.stream_id.take_turns())
        GST_ELEMENT_WARNING(filter, STREAM, FAILED, ("%s", StreamId::kTurns), (nullptr));
      forget_frames(state, session);
      return state.shape.begin_stream();
    case GST_EVENT_TAG:
      return state.shape.take_tags(event);
    case GST_EVENT_EOS:
      if (const Status status = session.wait_for_pending(); !status.ok())
        post_error(filter, "A frame could not be processed", status, __LINE__);
      return;
    default:
      return;
  }
}

gboolean sink_event(GstBaseTransform *transform, GstEvent *event) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  FilterState &state = *filter->state;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) state.stop.request(StopReason::flush);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) state.stop.withdraw(StopReason::flush);
  const auto follow = [&] {
    if (const std::shared_ptr<Session> session = state.session.get(); session)
      follow_event(filter, *session, event);
    return true;
  };
  if (GST_EVENT_IS_SERIALIZED(event) && !protect(filter, false, follow)) {
    gst_event_unref(event);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->sink_event(transform, event);
}

// At a QoS event the base class chooses the time up to which it skips frames: that of the late frame, and the time by
// which it was late. As GstVideoEncoder does, this adds the lateness again, and a frame duration: otherwise the next
// frame would be late again.
gboolean src_event(GstBaseTransform *transform, GstEvent *event) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  const auto *parent = GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class);
  if (GST_EVENT_TYPE(event) != GST_EVENT_QOS) return parent->src_event(transform, event);
  protect(filter, false, [&] {
    const std::string text = filter->state->punctuality.take(
        event, filter->state->processing_time, GST_CUDA_VISION_FILTER_GET_CLASS(filter)->faster);
    if (!text.empty()) GST_ELEMENT_WARNING(filter, CORE, CLOCK, ("%s", text.c_str()), (nullptr));
    return true;
  });
  GstQOSType type = GST_QOS_TYPE_UNDERFLOW;
  gdouble proportion = 1;
  GstClockTimeDiff lateness = 0;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, &type, &proportion, &lateness, &time);
  const gboolean taken = parent->src_event(transform, event);
  if (type != GST_QOS_TYPE_THROTTLE && lateness > 0 && lateness < G_MAXINT64 / 4 &&
      GST_CLOCK_TIME_IS_VALID(time))
    gst_base_transform_update_qos(transform, proportion,
                                  2 * lateness + static_cast<GstClockTimeDiff>(filter->state->frame_duration),
                                  time);
  return taken;
}

// --- queries and contexts ---

gboolean propose_allocation(GstBaseTransform *transform, GstQuery *decided, GstQuery *query) {
  // The base class asks the downstream elements, which get the same buffers: their proposals take precedence. Metas
  // that this element does not honour are not offered upstream.
  const gboolean answered = GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)
                                ->propose_allocation(transform, decided, query);
  keep_honoured_metas(query);
  const std::shared_ptr<Session> session = GST_CUDA_VISION_FILTER(transform)->state->session.get();
  if (!session || session->backend() == Backend::cpu) return answered;
  const auto offer = [&] { return offer_memory(query, session->shared_context()); };
  return protect(GST_CUDA_VISION_FILTER(transform), false, offer) || answered;
}

gboolean query(GstBaseTransform *transform, GstPadDirection direction, GstQuery *query) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  FilterState &state = *filter->state;
  const auto answer = [&] {
    const int device = Properties::snapshot(filter).cuda_device_id;
    return state.sharing.answer(GST_ELEMENT(filter), device, query);
  };
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && takes_cuda_memory(filter) &&
      protect(filter, false, answer))
    return TRUE;
  if (!GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->query(transform, direction, query))
    return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) state.latency.add_to(query);
  return TRUE;
}

void set_context(GstElement *element, GstContext *context) {
  auto *filter = GST_CUDA_VISION_FILTER(element);
  filter->state->sharing.take(element, context, Properties::snapshot(filter).cuda_device_id);
  GST_ELEMENT_CLASS(gst_cuda_vision_filter_parent_class)->set_context(element, context);
}

// --- the class ---

ObjectSettings *settings_of(GObject *object) { return &GST_CUDA_VISION_FILTER(object)->state->settings; }

void finalize(GObject *object) {
  delete GST_CUDA_VISION_FILTER(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_filter_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_filter_class_init(GstCudaVisionFilterClass *klass) {
  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_VISION_FILTER, static_cast<GstPluginAPIFlags>(0));
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_filter_properties(G_OBJECT_CLASS(klass), settings_of);
  GST_ELEMENT_CLASS(klass)->set_context = GST_DEBUG_FUNCPTR(set_context);
  GST_ELEMENT_CLASS(klass)->change_state = GST_DEBUG_FUNCPTR(change_state);
  GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS(klass);
  transform->start = GST_DEBUG_FUNCPTR(start);
  transform->stop = GST_DEBUG_FUNCPTR(stop);
  transform->set_caps = GST_DEBUG_FUNCPTR(set_caps);
  transform->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  transform->src_event = GST_DEBUG_FUNCPTR(src_event);
  transform->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
  transform->propose_allocation = GST_DEBUG_FUNCPTR(propose_allocation);
  transform->query = GST_DEBUG_FUNCPTR(query);
  transform->before_transform = GST_DEBUG_FUNCPTR(before_transform);
  transform->transform_ip = GST_DEBUG_FUNCPTR(transform_ip);  // no `transform`: always in place
  transform->transform_ip_on_passthrough = FALSE;
}

static void gst_cuda_vision_filter_init(GstCudaVisionFilter *filter) {
  filter->state = new FilterState();
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(filter), TRUE);  // late frames are skipped
  work_in_push_mode_only(GST_BASE_TRANSFORM(filter));
}

namespace cudavision {

void add_video_pads(GstElementClass *klass) {
  for (const auto &[name, direction] : {std::pair{"sink", GST_PAD_SINK}, std::pair{"src", GST_PAD_SRC}}) {
    GstCaps *caps = template_caps();
    gst_element_class_add_pad_template(klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  }
}

}  // namespace cudavision
