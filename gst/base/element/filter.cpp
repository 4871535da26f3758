// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer calls these functions with instances of the class: that is not checked for each frame.
#define G_DISABLE_CAST_CHECKS
#include "gst/base/element/filter.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "gst/base/device/context_sharing.h"
#include "gst/base/element/element_state.h"
#include "gst/base/element/filter_properties.h"
#include "gst/base/element/session.h"
#include "gst/base/element/stream_clock.h"
#include "gst/base/element/timing.h"
#include "gst/base/frame/allocation.h"
#include "gst/base/frame/format.h"
#include "gst/base/frame/mapped_frame.h"
#include "gst/base/frame/shown_shape.h"
#include "gst/base/results/frame_notes.h"

// The debug category: each element has one of its own.
#define GST_CAT_DEFAULT (GST_CUDA_VISION_FILTER_GET_CLASS(filter)->category)

namespace cudavision {

struct FilterState {
  explicit FilterState(GstElement *element) : common(element) {}

  ElementState<FilterSettings> common;
  ContextSharing sharing;
  Punctuality punctuality;
  PromisedLatency latency;
  StopFlag stop;  // set while the element flushes or stops; read by the work on a frame
  std::atomic<GstClockTime> processing_time = 0;  // of the last frame whose work was finished before it left
  std::atomic<GstClockTime> frame_duration = 0;   // by the caps, or 0
  std::shared_ptr<Session> session;               // protected by the object lock: see session_of()
  // The streaming thread uses the following members, and start(), which never runs beside it.
  StreamClock clock;
  struct Run {                               // reset at each start
    guint64 frame_count = 0;                 // since the start or the last flush
    bool region_is_refused = false;          // refuse_region() has warned
    bool has_fitting_caps = false;           // there were caps whose frames could be processed
    std::optional<std::string> turning_tag;  // nothing if it may have changed
  } run;
};

void add_pads(GstElementClass *klass, GstCaps *sink, GstCaps *source) {
  for (const auto &[name, direction, caps] :
       {std::tuple{"sink", GST_PAD_SINK, sink}, std::tuple{"src", GST_PAD_SRC, source}}) {
    gst_element_class_add_pad_template(klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  }
}

void work_in_push_mode_only(GstBaseTransform *element) {
  GstPad *source = GST_BASE_TRANSFORM_SRC_PAD(element);
  static const GstPadQueryFunction other_answers = GST_PAD_QUERYFUNC(source);  // the same for every element
  const auto answer = [](GstPad *pad, GstObject *parent, GstQuery *query) -> gboolean {
    if (GST_QUERY_TYPE(query) != GST_QUERY_SCHEDULING) return other_answers(pad, parent, query);
    gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0);
    gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
    return TRUE;
  };
  const auto activate = [](GstPad *, GstObject *, GstPadMode mode, gboolean) -> gboolean {
    return mode == GST_PAD_MODE_PUSH;
  };
  gst_pad_set_query_function_full(source, answer, nullptr, nullptr);
  gst_pad_set_activatemode_function_full(source, activate, nullptr, nullptr);
}

const StopFlag &stop_flag_of(GstBaseTransform *filter) {
  return reinterpret_cast<GstCudaVisionFilter *>(filter)->state->stop;
}

}  // namespace cudavision

using namespace cudavision;

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

constexpr char kWork[] = "the work on a frame";  // for protect()

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

// The session, or null between stop and start. Queries and events come from any thread at any time. The stream lock
// could not protect it, because an event that is blocked in a sink holds that lock.
std::shared_ptr<Session> session_of(GstCudaVisionFilter *filter) {
  g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(filter));
  return filter->state->session;
}

void set_session(GstCudaVisionFilter *filter, std::shared_ptr<Session> session) {
  FilterState &state = *filter->state;
  g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(filter));
  state.session.swap(session);  // the old one is destroyed when the lock is released
  state.common.settings()->active_backend = !state.session                              ? ActiveBackend::none
                                            : state.session->backend() == Backend::cuda ? ActiveBackend::cuda
                                                                                        : ActiveBackend::cpu;
}

gboolean start_filter(GstCudaVisionFilter *filter) {
  FilterState &state = *filter->state;
  const GstCudaVisionFilterClass *klass = GST_CUDA_VISION_FILTER_GET_CLASS(filter);
  for (const StopReason reason : {StopReason::stop, StopReason::flush}) state.stop.withdraw(reason);
  const char *what = "The properties cannot be used";
  Status prepared = state.common.check();
  if (prepared.ok()) prepared = klass->prepare(filter, &what);
  if (!prepared.ok()) {
    post_error(filter, what, prepared, __LINE__);
    return FALSE;
  }
  const FilterSettings &settings = state.common.settings_in_force();
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
  state.run = {};
  state.clock.restart();
  state.punctuality.restart();
  state.latency.restart();
  promise_held(filter, 0);
  set_session(filter, std::make_shared<Session>(std::move(context),
                                                std::bind_front(klass->make_operation, filter), &state.stop));
  g_object_notify(G_OBJECT(filter), "active-backend");
  return TRUE;
}

gboolean start(GstBaseTransform *transform) {
  return protect(transform, kWork, FALSE, [&] { return start_filter(GST_CUDA_VISION_FILTER(transform)); });
}

gboolean stop(GstBaseTransform *transform) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  {
    // Another thread may still send a serialised query, before which GStreamer sends the caps again.
    g_autoptr(GRecMutexLocker) lock =
        g_rec_mutex_locker_new(GST_PAD_GET_STREAM_LOCK(GST_BASE_TRANSFORM_SINK_PAD(transform)));
    if (const std::shared_ptr<Session> session = session_of(filter); session)
      protect(transform, kWork, FALSE, [&] { return session->end(), TRUE; });
    set_session(filter, nullptr);
  }
  filter->state->sharing.pause();
  g_object_notify(G_OBJECT(filter), "active-backend");
  return TRUE;
}

// The element finds its CUDA context in NULL to READY, because decoders ask for it then. Errors are reported only at
// start: backend and cuda-device-id may still change in READY.
GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  auto *filter = GST_CUDA_VISION_FILTER(element);
  FilterState &state = *filter->state;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    const FilterSettings settings = state.common.snapshot();
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
  const FilterSettings settings = filter->state->common.snapshot();
  return settings.active_backend == ActiveBackend::none ? settings.backend != BackendChoice::cpu
                                                        : settings.active_backend == ActiveBackend::cuda;
}

GstCaps *transform_caps(GstBaseTransform *transform, GstPadDirection, GstCaps *caps, GstCaps *wanted) {
  GstCaps *result =
      takes_cuda_memory(GST_CUDA_VISION_FILTER(transform)) ? gst_caps_ref(caps) : in_system_memory(caps);
  return restricted_to(result, wanted);
}

// Why frames of these caps cannot be processed; null if they can.
const char *refusal_of(const GstVideoInfo &info) {
  // Neighbouring rows of an interlaced frame belong to different times: gradients, motion and lines would be wrong.
  if (info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE &&
      info.interlace_mode != GST_VIDEO_INTERLACE_MODE_MIXED)
    return "Interlaced video is not supported: put deinterlace in front";
  // Only the first view of a buffer would be mapped: an element that hides people would let the other views pass.
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&info) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED &&
      GST_VIDEO_INFO_VIEWS(&info) > 1)
    return "Buffers with several views (multiview-mode=separated) are not supported";
  return nullptr;
}

bool makes_new_frames(GstCudaVisionFilter *filter) {
  return GST_BASE_TRANSFORM_GET_CLASS(filter)->transform != nullptr;
}

gboolean take_caps(GstCudaVisionFilter *filter, Session &session, GstCaps *caps, GstCaps *output_caps) {
  FilterState &state = *filter->state;
  GstVideoInfo info, output;
  if (!gst_video_info_from_caps(&info, caps) || !gst_video_info_from_caps(&output, output_caps)) {
    GST_ERROR_OBJECT(filter, "no video in caps %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  if (const char *refusal = refusal_of(info); refusal != nullptr) {
    GST_ELEMENT_ERROR(filter, STREAM, FORMAT, ("%s", refusal), ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  GST_DEBUG_OBJECT(filter, "%" GST_PTR_FORMAT " on %s", caps,
                   session.backend() == Backend::cuda ? "CUDA" : "the CPU");
  state.run.turning_tag.reset();
  const GstClockTime duration = frame_duration(GST_VIDEO_INFO_FPS_N(&info), GST_VIDEO_INFO_FPS_D(&info));
  state.frame_duration = duration;
  state.clock.follow_caps(duration);
  promise_held(filter, duration);
  const FilterSettings &settings = state.common.take_settings();
  const Status status = session.negotiate(info, makes_new_frames(filter) ? &output : nullptr,
                                          asks_for_cuda_memory(caps), settings);
  if (status.ok()) {
    state.run.has_fitting_caps = true;
    return TRUE;
  }
  // A flush, or the end, has given up the work: the next frame makes what it needs.
  if (status.code() == Status::Code::stopped) return TRUE;
  // Frames may be too small if they were large enough before, because a sender may adapt their size to the network. A
  // region may be too small, because it may grow. process() decides what becomes of such frames.
  const Size size = session.frame_size();
  const bool may_be_small =
      state.run.has_fitting_caps || region_of(settings, size) != Region{0, 0, size.width, size.height};
  if (status.code() == Status::Code::too_small && may_be_small) return TRUE;
  post_error(filter, "Frames of this size cannot be processed", status, __LINE__);
  return FALSE;
}

gboolean set_caps(GstBaseTransform *transform, GstCaps *caps, GstCaps *output_caps) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  // There is no session while the element stops: an allocation query may then still set the caps of the ended stream.
  const std::shared_ptr<Session> session = session_of(filter);
  if (!session) return FALSE;
  return protect(transform, kWork, FALSE, [&] { return take_caps(filter, *session, caps, output_caps); });
}

// --- a frame ---

void before_transform(GstBaseTransform *transform, GstBuffer *buffer) {
  const GstClockTime time = to_stream_time(transform->segment, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(transform), time);
}

void post_message(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer) {
  const GstSegment &segment = GST_BASE_TRANSFORM(filter)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  GstStructure *structure = gst_structure_new(
      element_name(G_OBJECT_TYPE_NAME(filter)).c_str(), "timestamp", G_TYPE_UINT64, pts, "stream-time",
      G_TYPE_UINT64, to_stream_time(segment, pts), "running-time", G_TYPE_UINT64,
      to_running_time(segment, pts), "duration", G_TYPE_UINT64, GST_BUFFER_DURATION(buffer),
      "processing-time", G_TYPE_UINT64, filter->state->processing_time.load(), nullptr);
  session.describe(structure);
  gst_element_post_message(GST_ELEMENT(filter), gst_message_new_element(GST_OBJECT(filter), structure));
}

// Warns that the region of interest cannot be analysed: once, until a region can be analysed again.
void refuse_region(GstCudaVisionFilter *filter, Session &session, const std::string &why) {
  if (std::exchange(filter->state->run.region_is_refused, true)) return;
  session.drop_history();  // the region of the next frames is not analysed
  const bool takes_all = GST_CUDA_VISION_FILTER_GET_CLASS(filter)->lets_nothing_pass;
  const char *what = takes_all ? "the whole frame counts" : "frames pass unchanged";
  GST_ELEMENT_WARNING(filter, RESOURCE, SETTINGS, ("%s: %s", why.c_str(), what), (nullptr));
}

// If the CUDA memory of a frame belongs to another CUDA context, moves the element to that context. If cuda-device-id
// forbids that, the element stays in its own context, and the frame is copied through system memory.
Status follow_context(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer) {
  FilterState &state = *filter->state;
  const DeviceContext *ours = session.context().get();
  GstCudaContext *theirs = context_of(buffer);
  if (ours == nullptr || theirs == nullptr || same_context(theirs, ours->handle())) return {};
  const int wanted_device = state.common.settings_in_force().cuda_device_id;
  if (wanted_device >= 0 && device_of(theirs) != wanted_device) return {};
  std::shared_ptr<DeviceContext> context;
  CUDAVISION_TRY(DeviceContext::open(theirs, &context));
  GST_INFO_OBJECT(filter, "moving to the context of the frames on CUDA device %d", context->device_id());
  session.move_to(std::move(context));
  state.sharing.replace(theirs);
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(filter));  // for a pool of that context
  return {};
}

// Whether the frame could be mapped; if not, posts an error.
bool is_usable(GstCudaVisionFilter *filter, const MappedFrame &frame) {
  if (!frame.mapped() && context_of(frame.buffer()) != nullptr)
    GST_ELEMENT_ERROR(filter, RESOURCE, READ, ("The CUDA memory of a frame could not be mapped"),
                      ("%" GST_PTR_FORMAT, frame.buffer()));
  else if (!frame.fits())
    GST_ELEMENT_ERROR(filter, STREAM, FORMAT,
                      ("A buffer does not hold a frame of the negotiated format: %s", frame.misfit().c_str()),
                      ("%" GST_PTR_FORMAT, frame.buffer()));
  return frame.fits();
}

// made: the buffer of the new frame; `buffer` itself if frames are changed in place.
// is_timed: as for Session::process(). processed: set to false if the frame passes unchanged, because the region is too
// small or lies outside.
GstFlowReturn process(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer, GstBuffer *made,
                      FilterSettings settings, bool is_timed, bool *processed) {
  Status status = follow_context(filter, session, buffer);
  if (status.ok()) status = session.prepare(settings);
  if (status.code() == Status::Code::too_small) {
    refuse_region(filter, session, status.text());
    *processed = GST_CUDA_VISION_FILTER_GET_CLASS(filter)->lets_nothing_pass;
    if (!*processed) return GST_FLOW_OK;
    settings.roi_x = settings.roi_y = settings.roi_width = settings.roi_height = 0;
    status = session.prepare(settings);
  } else if (status.ok()) {
    filter->state->run.region_is_refused = false;
  }
  if (status.ok()) {
    DeviceContext *context = session.context().get();
    MappedFrame frame(buffer, session.info(), settings.display && made == buffer, context);
    std::optional<MappedFrame> output;
    if (made != buffer) output.emplace(made, session.output_info(), true, context);
    if (!is_usable(filter, frame) || (output && !is_usable(filter, *output))) return GST_FLOW_ERROR;
    status = session.process(frame, output ? &*output : nullptr, settings, is_timed);
  }
  if (status.ok()) return GST_FLOW_OK;
  if (status.code() == Status::Code::stopped) return GST_FLOW_FLUSHING;
  post_error(filter, "A frame could not be processed", status, __LINE__);
  return GST_FLOW_ERROR;
}

// Warns of frames whose results are doubtful, of each kind once in a run, and marks those that are turned.
void warn_of_frame(GstCudaVisionFilter *filter, const Session &session, GstBuffer *buffer) {
  FilterState &state = *filter->state;
  // The element goes on with the threads that it has, at least the streaming thread.
  if (session.lacks_threads() && state.common.is_news("threads"))
    GST_ELEMENT_WARNING(filter, RESOURCE, FAILED,
                        ("The system refuses threads: fewer than n-threads work on a frame"), (nullptr));
  // Decoders declare video as mixed as soon as it may have interlaced frames, and many such videos have only
  // interlaced ones.
  const bool has_fields = session.info().interlace_mode == GST_VIDEO_INTERLACE_MODE_MIXED &&
                          GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  if (has_fields && state.common.is_news("fields"))
    GST_ELEMENT_WARNING(filter, STREAM, FORMAT,
                        ("A frame is interlaced, and is processed as if it were not: what moves has combs. "
                         "Put deinterlace in front"),
                        (nullptr));
  if (!session.depends_on_shape()) return;
  const std::string &tag = *state.run.turning_tag;
  if (!tag.empty()) attach_warning(buffer, GST_ELEMENT(filter), "turned");
  if (!tag.empty() && state.common.is_news("turned"))
    GST_ELEMENT_WARNING(filter, STREAM, FORMAT, ("%s", warning_of_turn(tag).c_str()), (nullptr));
  const bool is_square = GST_VIDEO_INFO_PAR_N(&session.info()) == GST_VIDEO_INFO_PAR_D(&session.info());
  if (!is_square && state.common.is_news("aspect"))
    GST_ELEMENT_WARNING(filter, STREAM, FORMAT, ("%s", warning_of_aspect(session.info()).c_str()), (nullptr));
}

// made: as for process().
GstFlowReturn take_frame(GstCudaVisionFilter *filter, Session &session, GstBuffer *buffer, GstBuffer *made) {
  FilterState &state = *filter->state;
  const FilterSettings &settings = state.common.take_settings();
  const GstCudaVisionFilterClass *klass = GST_CUDA_VISION_FILTER_GET_CLASS(filter);
  const bool reverse = GST_BASE_TRANSFORM(filter)->segment.rate < 0;
  const bool is_discont = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  if (klass->remembers && state.clock.next(GST_BUFFER_PTS(buffer), is_discont, reverse).tells_jump())
    session.drop_history();
  if (gst_buffer_get_size(buffer) == 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP))
    return made == buffer ? GST_FLOW_OK : GST_BASE_TRANSFORM_FLOW_DROPPED;  // there is no new frame
  const bool is_skipped = state.run.frame_count++ % static_cast<guint64>(settings.every_nth) != 0;
  if (is_skipped && !klass->lets_nothing_pass) return GST_FLOW_OK;  // otherwise it must not pass as it is

  const bool is_timed = state.latency.begin_frame(GST_BASE_TRANSFORM_SINK_PAD(filter));
  const GstClockTime begin = gst_util_get_timestamp();
  if (!state.run.turning_tag) state.run.turning_tag = turning_tag_of(GST_BASE_TRANSFORM_SINK_PAD(filter));
  session.set_turned(!state.run.turning_tag->empty());
  bool processed = true;
  const GstFlowReturn result = process(filter, session, buffer, made, settings, is_timed, &processed);
  if (result != GST_FLOW_OK || !processed) return result;
  const GstClockTime time = gst_util_get_timestamp() - begin;
  // If the GPU still works on the frame, this is only the time to enqueue the work.
  if (!session.left_pending()) {
    state.processing_time = time;
    if (state.latency.take(time, state.frame_duration)) post_latency(filter);
  }
  warn_of_frame(filter, session, made);
  GST_LOG_OBJECT(filter, "frame at %" GST_TIME_FORMAT " in %s memory took %" G_GUINT64_FORMAT " us%s",
                 GST_TIME_ARGS(GST_BUFFER_PTS(buffer)), context_of(buffer) != nullptr ? "CUDA" : "system",
                 time / GST_USECOND, session.left_pending() ? " to enqueue" : "");
  if (settings.post_messages) post_message(filter, session, made);
  return GST_FLOW_OK;
}

GstFlowReturn transform_frame(GstBaseTransform *transform, GstBuffer *buffer, GstBuffer *made) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  const std::shared_ptr<Session> session = session_of(filter);
  if (!session) return GST_FLOW_FLUSHING;  // the element has opened its pads and not started yet
  if (!session->knows_caps()) return GST_FLOW_NOT_NEGOTIATED;
  return protect(transform, kWork, GST_FLOW_ERROR,
                 [&] { return take_frame(filter, *session, buffer, made); });
}

GstFlowReturn transform_ip(GstBaseTransform *transform, GstBuffer *buffer) {
  return transform_frame(transform, buffer, buffer);
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
      state.run.turning_tag.reset();
      if (begins_another_stream(GST_BASE_TRANSFORM_SINK_PAD(filter), event)) forget_frames(state, session);
      return;
    case GST_EVENT_TAG:
      state.run.turning_tag.reset();
      return;
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
    if (const std::shared_ptr<Session> session = session_of(filter); session)
      follow_event(filter, *session, event);
    return true;
  };
  if (GST_EVENT_IS_SERIALIZED(event) && !protect(transform, kWork, false, follow)) {
    gst_event_unref(event);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->sink_event(transform, event);
}

// At a QoS event the base class chooses the time up to which it skips frames: that of the late frame, plus the time by
// which it was late. As GstVideoEncoder does, this adds the lateness again, and a frame duration: otherwise the next
// frame would be late again.
gboolean src_event(GstBaseTransform *transform, GstEvent *event) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  FilterState &state = *filter->state;
  GstQOSType type = GST_QOS_TYPE_THROTTLE;  // does not say that frames are late
  gdouble proportion = 1;
  GstClockTimeDiff lateness = 0;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS)
    gst_event_parse_qos(event, &type, &proportion, &lateness, &time);
  const gboolean taken =
      GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->src_event(transform, event);
  if (type == GST_QOS_TYPE_THROTTLE || !GST_CLOCK_TIME_IS_VALID(time)) return taken;
  const GstClockTime duration = state.frame_duration;
  if (lateness > 0 && lateness < G_MAXINT64 / 4)
    gst_base_transform_update_qos(transform, proportion,
                                  2 * lateness + static_cast<GstClockTimeDiff>(duration), time);
  protect(transform, kWork, false, [&] {
    if (!state.punctuality.is_hopeless(time, lateness, duration)) return false;
    const std::string text = warning_of_lateness(lateness, state.processing_time,
                                                 GST_CUDA_VISION_FILTER_GET_CLASS(filter)->faster);
    GST_ELEMENT_WARNING(filter, CORE, CLOCK, ("%s", text.c_str()), (nullptr));
    return true;
  });
  return taken;
}

// --- queries and contexts ---

gboolean propose_allocation(GstBaseTransform *transform, GstQuery *decided, GstQuery *query) {
  // The base class asks the downstream elements, which get the same buffers: their proposals take precedence. Metas
  // that this element does not honour are not offered upstream.
  const gboolean answered = GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)
                                ->propose_allocation(transform, decided, query);
  keep_honoured_metas(query);
  // The frames from upstream go no further, so no element behind has to know their strides.
  if (makes_new_frames(GST_CUDA_VISION_FILTER(transform))) offer_honoured_metas(query);
  const std::shared_ptr<Session> session = session_of(GST_CUDA_VISION_FILTER(transform));
  if (!session || session->backend() == Backend::cpu) return answered;
  const auto offer = [&] { return offer_memory(query, session->context()); };
  return protect(transform, kWork, false, offer) || answered;
}

// Chooses the pool of new frames: downstream's, or one of the backend's memory.
gboolean decide_allocation(GstBaseTransform *transform, GstQuery *query) {
  const std::shared_ptr<Session> session = session_of(GST_CUDA_VISION_FILTER(transform));
  if (!session) return FALSE;
  if (session->backend() == Backend::cuda)
    protect(transform, kWork, false, [&] { return offer_memory(query, session->context()); });
  else
    offer_system_pool(query, GST_VIDEO_INFO_SIZE(&session->output_info()));
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->decide_allocation(transform, query);
}

// The base class returns an error if its pool has no buffer for a new frame, and leaves it to others to tell why.
GstFlowReturn prepare_output_buffer(GstBaseTransform *transform, GstBuffer *input, GstBuffer **output) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  const GstFlowReturn result = GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)
                                   ->prepare_output_buffer(transform, input, output);
  if (result == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR(filter, RESOURCE, NO_SPACE_LEFT, ("There is no memory for a new frame"), (nullptr));
  return result;
}

gboolean query(GstBaseTransform *transform, GstPadDirection direction, GstQuery *query) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  FilterState &state = *filter->state;
  const auto answer = [&] {
    const int device = state.common.snapshot().cuda_device_id;
    return state.sharing.answer(GST_ELEMENT(filter), device, query);
  };
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && takes_cuda_memory(filter) &&
      protect(transform, kWork, false, answer))
    return TRUE;
  if (!GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->query(transform, direction, query))
    return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) state.latency.add_to(query);
  return TRUE;
}

void set_context(GstElement *element, GstContext *context) {
  FilterState &state = *GST_CUDA_VISION_FILTER(element)->state;
  state.sharing.take(element, context, state.common.snapshot().cuda_device_id);
  GST_ELEMENT_CLASS(gst_cuda_vision_filter_parent_class)->set_context(element, context);
}

// --- the class ---

void finalize(GObject *object) {
  delete GST_CUDA_VISION_FILTER(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_filter_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_filter_class_init(GstCudaVisionFilterClass *klass) {
  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_VISION_FILTER, static_cast<GstPluginAPIFlags>(0));
  G_OBJECT_CLASS(klass)->finalize = finalize;
  PropertyTable<FilterSettings>::install(
      G_OBJECT_CLASS(klass),
      [](GObject *object) { return GST_CUDA_VISION_FILTER(object)->state->common.settings(); },
      filter_properties(),
      [](GObject *object) { GST_CUDA_VISION_FILTER(object)->state->common.note_change(); });
  add_pads(GST_ELEMENT_CLASS(klass), template_caps(), template_caps());
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
  filter->state = new FilterState(GST_ELEMENT(filter));
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(filter), TRUE);  // late frames are skipped
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(filter), TRUE);    // new frames keep the flag GAP
  work_in_push_mode_only(GST_BASE_TRANSFORM(filter));
}

void cudavision::make_new_frames(GstCudaVisionFilterClass *klass) {
  klass->lets_nothing_pass = true;
  GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS(klass);
  transform->transform = GST_DEBUG_FUNCPTR(transform_frame);
  transform->transform_ip = nullptr;
  transform->transform_meta = GST_DEBUG_FUNCPTR(copies_meta_to_new_frame);
  transform->decide_allocation = GST_DEBUG_FUNCPTR(decide_allocation);
  transform->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
}
