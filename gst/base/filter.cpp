// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaVisionFilter: the abstract element.
#include "base/filter.h"

#include <utility>

#include "base/format.h"
#include "base/properties.h"
#include "base/session.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_vision_filter_debug);
#define GST_CAT_DEFAULT gst_cuda_vision_filter_debug

namespace cudavision {

enum class ActiveBackend { none, cuda, cpu };

struct ObjectSettings : FilterSettings {  // under the object lock
  ActiveBackend active_backend = ActiveBackend::none;
};

struct FilterState {
  ObjectSettings settings;
  // The streaming thread's, and start's and stop's, which never run beside it.
  std::unique_ptr<Session> session;
  GstVideoInfo info;
  guint64 frame_count = 0;
  Region refused_region;  // the empty region that was warned of last
};

}  // namespace cudavision

using cudavision::ActiveBackend;
using cudavision::Backend;
using cudavision::BackendChoice;
using cudavision::Mutable;
using cudavision::ObjectSettings;
using cudavision::Region;
using cudavision::Session;
using cudavision::Status;
using Properties = cudavision::PropertyTable<ObjectSettings>;

#define GST_CUDA_VISION_FILTER(object) reinterpret_cast<GstCudaVisionFilter *>(object)
#define GST_CUDA_VISION_FILTER_GET_CLASS(object) \
  G_TYPE_INSTANCE_GET_CLASS(object, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilterClass)

G_DEFINE_ABSTRACT_TYPE(GstCudaVisionFilter, gst_cuda_vision_filter, GST_TYPE_BASE_TRANSFORM)

namespace {

GType backend_choice_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(BackendChoice::automatic), "CUDA when a device works, else the CPU", "auto"},
      {static_cast<int>(BackendChoice::cuda), "CUDA; an error when no device works", "cuda"},
      {static_cast<int>(BackendChoice::cpu), "The CPU, with as many threads as n-threads says", "cpu"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionBackend", values);
  return type;
}

GType active_backend_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(ActiveBackend::none), "None: the element is stopped", "none"},
      {static_cast<int>(ActiveBackend::cuda), "CUDA", "cuda"},
      {static_cast<int>(ActiveBackend::cpu), "The CPU", "cpu"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionActiveBackend", values);
  return type;
}

// --- errors ---

gint resource_error_of(Status::Code code) {
  switch (code) {
    case Status::Code::no_device:
      return GST_RESOURCE_ERROR_NOT_FOUND;
    case Status::Code::out_of_memory:
      return GST_RESOURCE_ERROR_NO_SPACE_LEFT;
    case Status::Code::invalid_argument:
      return GST_RESOURCE_ERROR_SETTINGS;
    default:
      return GST_RESOURCE_ERROR_FAILED;
  }
}

// what: the sentence that the status completes.
void post_error(GstCudaVisionFilter *filter, const char *what, const Status &status, int line) {
  gst_element_message_full(
      GST_ELEMENT(filter), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, resource_error_of(status.code()),
      g_strdup_printf("%s: %s", what, status.text().c_str()), nullptr, __FILE__, G_STRFUNC, line);
}

// --- starting and stopping ---

void set_active_backend(GstCudaVisionFilter *filter, ActiveBackend backend) {
  GST_OBJECT_LOCK(filter);
  filter->state->settings.active_backend = backend;
  GST_OBJECT_UNLOCK(filter);
  g_object_notify(G_OBJECT(filter), "active-backend");
}

gboolean start(GstBaseTransform *transform) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  const auto make_operation = [filter](const cudavision::Site &site,
                                       std::unique_ptr<cudavision::Operation> *operation) {
    return GST_CUDA_VISION_FILTER_GET_CLASS(filter)->make_operation(filter, site, operation);
  };
  if (const auto check = GST_CUDA_VISION_FILTER_GET_CLASS(filter)->check_settings; check != nullptr) {
    if (const Status status = check(filter); !status.ok()) {
      post_error(filter, "The properties contradict each other", status, __LINE__);
      return FALSE;
    }
  }
  Status why_not;
  const Status status =
      Session::open(Properties::snapshot(filter), make_operation, &filter->state->session, &why_not);
  if (!status.ok()) {
    post_error(filter, "CUDA cannot be used", status, __LINE__);
    return FALSE;
  }
  if (!why_not.ok()) GST_INFO_OBJECT(filter, "working on the CPU: %s", why_not.text().c_str());
  const bool cuda = filter->state->session->backend() == Backend::cuda;
  if (cuda)
    GST_INFO_OBJECT(filter, "working on CUDA device %d", filter->state->session->context()->device_id());
  filter->state->frame_count = 0;
  filter->state->refused_region = {};
  set_active_backend(filter, cuda ? ActiveBackend::cuda : ActiveBackend::cpu);
  return TRUE;
}

gboolean stop(GstBaseTransform *transform) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  filter->state->session.reset();
  set_active_backend(filter, ActiveBackend::none);
  return TRUE;
}

gboolean set_caps(GstBaseTransform *transform, GstCaps *caps, GstCaps *) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) {
    GST_ERROR_OBJECT(filter, "no video in caps %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  filter->state->info = info;
  const Status status = filter->state->session->negotiate(info, Properties::snapshot(filter));
  if (status.ok()) return TRUE;
  post_error(filter, "Frames of this size cannot be worked on", status, __LINE__);
  return FALSE;
}

// --- frames ---

// A time that the segment converts; none in a segment of bytes, as an appsrc makes by default.
GstClockTime converted(guint64 (*convert)(const GstSegment *, GstFormat, guint64), const GstSegment &segment,
                       GstClockTime pts) {
  return segment.format == GST_FORMAT_TIME ? convert(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
}

void before_transform(GstBaseTransform *transform, GstBuffer *buffer) {
  const GstClockTime time = converted(gst_segment_to_stream_time, transform->segment, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(transform), time);
}

void post_message(GstCudaVisionFilter *filter, GstBuffer *buffer) {
  const GstSegment &segment = GST_BASE_TRANSFORM(filter)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT(filter));  // none after g_object_new
  const char *name = factory != nullptr ? GST_OBJECT_NAME(factory) : G_OBJECT_TYPE_NAME(filter);
  GstStructure *structure =
      gst_structure_new(name, "timestamp", G_TYPE_UINT64, pts, "stream-time", G_TYPE_UINT64,
                        converted(gst_segment_to_stream_time, segment, pts), "running-time", G_TYPE_UINT64,
                        converted(gst_segment_to_running_time, segment, pts), "duration", G_TYPE_UINT64,
                        GST_BUFFER_DURATION(buffer), nullptr);
  filter->state->session->describe(structure);
  gst_element_post_message(GST_ELEMENT(filter), gst_message_new_element(GST_OBJECT(filter), structure));
}

// False, and one warning for each such region, when the region of interest lies outside the frame.
bool has_region(GstCudaVisionFilter *filter, const ObjectSettings &settings) {
  const GstVideoInfo &info = filter->state->info;
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  const Region region = cudavision::region_of(settings, {width, height});
  const bool empty = region.width == 0 || region.height == 0;
  if (empty && region != filter->state->refused_region)
    GST_ELEMENT_WARNING(filter, RESOURCE, SETTINGS,
                        ("roi-x and roi-y (%d, %d) lie outside the frame of %dx%d: frames pass unchanged",
                         settings.roi_x, settings.roi_y, width, height),
                        (nullptr));
  filter->state->refused_region = empty ? region : Region{};
  return !empty;
}

// Maps the buffer as a frame of these caps; false when it is none.
bool map_frame(GstVideoFrame *frame, const GstVideoInfo &info, GstBuffer *buffer, GstMapFlags access,
               cudavision::Planes *planes) {
  *frame = {};
  if (!gst_video_frame_map(frame, &info, buffer, access)) return false;
  if (cudavision::planes_of(*frame, info, planes)) return true;
  gst_video_frame_unmap(frame);
  return false;
}

GstFlowReturn transform_ip(GstBaseTransform *transform, GstBuffer *buffer) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  cudavision::FilterState &state = *filter->state;
  const ObjectSettings settings = Properties::snapshot(filter);
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT)) state.session->drop_history();
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP)) return GST_FLOW_OK;
  if (state.frame_count++ % static_cast<guint64>(settings.every_nth) != 0) return GST_FLOW_OK;
  if (!has_region(filter, settings)) return GST_FLOW_OK;

  GstVideoFrame frame;
  cudavision::Planes planes;
  // Without a reference of the mapping's own: the buffer stays writable, for metas.
  const guint access =
      (settings.display ? GST_MAP_READWRITE : GST_MAP_READ) | guint{GST_VIDEO_FRAME_MAP_FLAG_NO_REF};
  if (!map_frame(&frame, state.info, buffer, static_cast<GstMapFlags>(access), &planes)) {
    GST_ELEMENT_ERROR(filter, STREAM, FORMAT, ("A buffer is no frame of the negotiated format"),
                      ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }
  const Status status = state.session->process(planes, buffer, settings);
  gst_video_frame_unmap(&frame);
  if (!status.ok()) {
    post_error(filter, "A frame could not be worked on", status, __LINE__);
    return GST_FLOW_ERROR;
  }
  if (settings.message) post_message(filter, buffer);
  return GST_FLOW_OK;
}

gboolean sink_event(GstBaseTransform *transform, GstEvent *event) {
  auto *filter = GST_CUDA_VISION_FILTER(transform);
  const GstEventType type = GST_EVENT_TYPE(event);
  if ((type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_SEGMENT) && filter->state->session)
    filter->state->session->drop_history();
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_filter_parent_class)->sink_event(transform, event);
}

// --- the class ---

ObjectSettings *settings_of(GObject *object) { return &GST_CUDA_VISION_FILTER(object)->state->settings; }

cudavision::Property<ObjectSettings> active_backend_property() {
  return {g_param_spec_enum("active-backend", "Active backend", "The backend that is at work",
                            active_backend_type(), static_cast<int>(ActiveBackend::none),
                            static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)),
          nullptr, [](const ObjectSettings &s, GValue *v) {
            g_value_set_enum(v, static_cast<int>(s.active_backend));
          }};
}

cudavision::Property<ObjectSettings> roi_property(cudavision::PropertyText text,
                                                  int ObjectSettings::*member) {
  return cudavision::integer_property(text, member, 0, G_MAXINT, Mutable::controllable);
}

void install_properties(GObjectClass *klass) {
  using S = ObjectSettings;
  Properties::install(
      klass, settings_of,
      {cudavision::enum_property<S>({"backend", "Backend", "Where frames are worked on"},
                                    backend_choice_type(), &S::backend, Mutable::ready),
       active_backend_property(),
       cudavision::integer_property<S>(
           {"cuda-device-id", "CUDA device ID", "The CUDA device to work on (-1 = the first)"},
           &S::cuda_device_id, -1, G_MAXINT, Mutable::ready),
       cudavision::integer_property<S>(
           {"n-threads", "Threads", "Threads of the CPU backend (0 = one per core)"}, &S::n_threads, 0, 1024),
       cudavision::boolean_property<S>(
           {"display", "Display", "Draw the result on the frame; otherwise every byte of it stays as it is"},
           &S::display, Mutable::controllable),
       cudavision::boolean_property<S>(
           {"message", "Message", "Post an element message on the bus for each frame that was worked on"},
           &S::message),
       roi_property({"roi-x", "ROI x", "Left column of the region of interest in pixels"}, &S::roi_x),
       roi_property({"roi-y", "ROI y", "Top row of the region of interest in pixels"}, &S::roi_y),
       roi_property({"roi-width", "ROI width",
                     "Width of the region of interest in pixels (0 = to the right end of the frame)"},
                    &S::roi_width),
       roi_property({"roi-height", "ROI height",
                     "Height of the region of interest in pixels (0 = to the bottom of the frame)"},
                    &S::roi_height),
       cudavision::integer_property<S>(
           {"every-nth", "Every nth", "Work on the first of every so many frames; the others pass unchanged"},
           &S::every_nth, 1, G_MAXINT)});
}

void finalize(GObject *object) {
  delete GST_CUDA_VISION_FILTER(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_filter_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_filter_class_init(GstCudaVisionFilterClass *klass) {
  GST_DEBUG_CATEGORY_INIT(gst_cuda_vision_filter_debug, "cudavisionfilter", 0,
                          "base class of the cudavision elements");
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS(klass);
  transform->start = GST_DEBUG_FUNCPTR(start);
  transform->stop = GST_DEBUG_FUNCPTR(stop);
  transform->set_caps = GST_DEBUG_FUNCPTR(set_caps);
  transform->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  transform->before_transform = GST_DEBUG_FUNCPTR(before_transform);
  transform->transform_ip = GST_DEBUG_FUNCPTR(transform_ip);  // and no `transform`: always in place
  transform->transform_ip_on_passthrough = FALSE;
}

static void gst_cuda_vision_filter_init(GstCudaVisionFilter *filter) {
  filter->state = new cudavision::FilterState();
}

namespace cudavision {

void add_system_memory_pads(GstElementClass *klass) {
  const char *caps = "video/x-raw, format=(string)" CUDAVISION_SYSTEM_FORMATS
                     ", width=(int)[1, 16384], height=(int)[1, 16384], framerate=(fraction)[0, max]";
  for (const auto &[name, direction] : {std::pair{"sink", GST_PAD_SINK}, std::pair{"src", GST_PAD_SRC}}) {
    GstCaps *parsed = gst_caps_from_string(caps);
    gst_element_class_add_pad_template(klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, parsed));
    gst_caps_unref(parsed);
  }
}

}  // namespace cudavision
