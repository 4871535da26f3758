// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudavisionjson: its description, its properties, and the lines that it writes or passes on.
/**
 * SECTION:element-cudavisionjson
 * @title: cudavisionjson
 * @short_description: Writes the results of each frame as lines of JSON
 *
 * cudavisionjson writes one JSON object per frame, on a line of its own, with all results that upstream elements have
 * attached. Frames pass unchanged, in any memory. With `output=text` the element passes the lines downstream instead of
 * the frames, for any sink, with the caps `application/x-ndjson`, and writes no file: each buffer is a line, with the
 * timestamps of its frame.
 *
 * The page of the element and its JSON Schema, cudavisionjson.schema.json, describe the members. A meta that cannot be
 * read, because a program has changed it, gets the member `unreadable`, the reason; the element posts one warning.
 *
 * Numbers that are not finite are null. The origin is the centre of the top left pixel; x runs to the right and y
 * downwards. Lines are not buffered, so that the reader of a pipe receives each line when its frame passes. A slow
 * reader holds up the stream, and one that goes ends it with an error, as a full disk does. Each start empties the
 * file, unless `append` is set. Only one element of a process can write to an output. For several branches that write
 * to one file, use `output=text`, a `funnel` and a sink.
 *
 * ## Example launch lines
 *
 * Print the histogram of a test picture:
 * |[
 * gst-launch-1.0 -q videotestsrc num-buffers=1 ! cudahistogram ! cudavisionjson tensor-data=full ! fakesink
 * ]|
 *
 * Send the lines to whoever connects:
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! cudahistogram ! cudavisionjson output=text ! tcpserversink port=5000
 * ]|
 *
 * Show a video and write its statistics to a file:
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudahistogram display=false ! \
 *   cudavisionjson location=vtest.jsonl source=entrance ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.2
 */
#include <cerrno>
#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/base/element/meta_element.h"
#include "gst/base/element/timing.h"
#include "gst/base/frame/format.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/results/zones_meta.h"
#include "gst/visionjson/frame_json.h"
#include "gst/visionjson/line_file.h"

namespace cudavision {
namespace {

enum class JsonOutput { frames, text };
enum class JsonOnly { all, events };

struct JsonSettings {
  JsonOutput output = JsonOutput::frames;
  std::optional<std::string> location = "-";
  bool append = false;
  std::optional<std::string> source;
  TensorPart tensor_data = TensorPart::summary;
  bool wall_clock = false;
  JsonOnly only = JsonOnly::all;
};

struct JsonState : MetaState<JsonSettings> {
  LineFile file;         // open from begin() to end(), unless output=text
  std::string location;  // the location of `file`
  std::string line;      // kept for its capacity: the next line is about as long
  TensorStyle tensors;
  bool warned = false;  // whether the warning of an unreadable meta was posted
  FrameFacts facts;
};

using GstCudaVisionJson = MetaInstance<JsonState>;
using Properties = PropertyTable<JsonSettings>;

constexpr char kLines[] = "application/x-ndjson";

// --- errors ---

std::string name_of(const std::string &location) {
  const std::string shown = excerpt(location);
  return location == "-" ? "the standard output" : "'" + shown + "'";
}

// what: the failed action ("open", "write to"). error: errno.
void post_error(GstCudaVisionJson *json, GstResourceError code, const char *what, int error, int line) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) code = GST_RESOURCE_ERROR_NO_SPACE_LEFT;
  const char *why = error == EBUSY
                        ? "another element of the process writes to it: choose another location, or use "
                          "output=text, a funnel and one sink"
                    : error == ENXIO ? "No such device or address, or a pipe that nobody reads yet"
                                     : g_strerror(error);
  gst_element_message_full(
      GST_ELEMENT(json), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, code,
      g_strdup_printf("Could not %s %s: %s", what, name_of(json->state->location).c_str(), why), nullptr,
      __FILE__, GST_FUNCTION, line);
}

// --- starting and stopping ---

// Whether a started element passes lines instead of frames. This changes only at a start.
bool passes_text(GstBaseTransform *transform) { return !gst_base_transform_is_passthrough(transform); }

bool begin(GstCudaVisionJson *json) {
  JsonState *state = json->state;
  state->warned = false;
  const JsonSettings settings = Properties::snapshot(json);
  // Only metas are read, so frames that pass need not be writable.
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(json), settings.output == JsonOutput::frames);
  if (settings.output == JsonOutput::text) return true;
  state->location = settings.location.value_or("");
  const int error = state->file.open(state->location, settings.append);
  if (error != 0) post_error(json, GST_RESOURCE_ERROR_OPEN_WRITE, "open", error, __LINE__);
  return error == 0;
}

void end(GstCudaVisionJson *json) {
  JsonState *state = json->state;
  if (const int error = state->file.close(); error != 0)
    post_error(json, GST_RESOURCE_ERROR_WRITE, "write to", error, __LINE__);
  state->line = {};
  state->tensors = {};
  state->facts = {};
}

void take_caps(GstCudaVisionJson *json, const FramesOfCaps &frames) { json->state->facts.size = frames.size; }

// --- frames ---

// The time of day of a frame. Without one, and with wall_clock, the machine's time, which is close for a live frame.
std::optional<Utc> utc(GstBuffer *buffer, bool wall_clock) {
  const std::optional<Utc> of_frame = utc_of(buffer);
  return of_frame || !wall_clock ? of_frame : std::chrono::system_clock::now();
}

// Composes the line of a frame in state->line. Returns false if the work is cancelled; the line is then incomplete.
// Posts a warning the first time that a meta cannot be read.
bool compose_line(GstCudaVisionJson *json, GstBuffer *buffer) {
  JsonState *state = json->state;
  const JsonSettings settings = Properties::snapshot(json);
  state->facts.source = settings.source;
  state->facts.pts = GST_BUFFER_PTS(buffer);
  state->facts.running_time = to_running_time(json->parent.segment, GST_BUFFER_PTS(buffer));
  state->facts.utc = utc(buffer, settings.wall_clock);
  state->tensors.part = settings.tensor_data;
  state->line.clear();
  const char *unreadable = append_frame(&state->line, state->facts, buffer, &state->tensors, state->stop);
  if (state->stop.requested()) return false;
  if (unreadable != nullptr && !std::exchange(state->warned, true))
    GST_ELEMENT_WARNING(json, RESOURCE, READ,
                        ("A result of a frame cannot be read, and its line says so: %s", unreadable),
                        (nullptr));
  return true;
}

// Returns true, and counts the frame, if it gets no line: with only=events, a frame without events.
bool skips(GstCudaVisionJson *json, GstBuffer *buffer) {
  if (Properties::snapshot(json).only == JsonOnly::all || count_of_events(buffer) > 0) return false;
  ++json->state->facts.number;
  return true;
}

GstFlowReturn take_frame(GstCudaVisionJson *json, GstBuffer *buffer) {
  JsonState *state = json->state;
  if (skips(json, buffer)) return GST_FLOW_OK;
  if (!compose_line(json, buffer)) return GST_FLOW_FLUSHING;
  const int error = state->file.write(state->line);
  ++state->facts.number;
  if (error == ECANCELED) return GST_FLOW_FLUSHING;
  if (error != 0) post_error(json, GST_RESOURCE_ERROR_WRITE, "write to", error, __LINE__);
  return error == 0 ? GST_FLOW_OK : GST_FLOW_ERROR;
}

// --- lines instead of frames ---

GstFlowReturn make_line(GstCudaVisionJson *json, GstBuffer *frame, GstBuffer **line) {
  if (skips(json, frame)) return GST_BASE_TRANSFORM_FLOW_DROPPED;
  if (!compose_line(json, frame)) return GST_FLOW_FLUSHING;
  const std::string &text = json->state->line;
  GstBuffer *made = gst_buffer_new_allocate(nullptr, text.size(), nullptr);
  if (made == nullptr) throw std::bad_alloc();
  gst_buffer_fill(made, 0, text.data(), text.size());
  gst_buffer_copy_into(made, frame, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
  GST_BUFFER_FLAG_SET(made, GST_BUFFER_FLAGS(frame) & GST_BUFFER_FLAG_DISCONT);
  ++json->state->facts.number;
  *line = made;
  return GST_FLOW_OK;
}

// --- the class ---

GType output_type() {
  return enum_type("GstCudaVisionJsonOutput",
                   {{JsonOutput::frames, "Frames pass, and lines are written to location", "frames"},
                    {JsonOutput::text, "Lines pass instead of frames, one in each buffer", "text"}});
}

GType tensor_data_type() {
  return enum_type("GstCudaVisionJsonTensorData",
                   {{TensorPart::none, "No numbers", "none"},
                    {TensorPart::summary, "Statistics of the numbers", "summary"},
                    {TensorPart::full, "All numbers", "full"}});
}

GType only_type() {
  return enum_type(
      "GstCudaVisionJsonOnly",
      {{JsonOnly::all, "Every frame has a line", "all"},
       {JsonOnly::events, "Frames with events of cudavisionzones or cudacameracheck have a line", "events"}});
}

struct JsonElement {
  using Instance = GstCudaVisionJson;

  static constexpr ElementText kText{
      "GstCudaVisionJson", "JSON lines writer", "Filter/Analyzer/Video",
      "Writes the results of each frame as one line of JSON, to a file or the standard output"};
  static constexpr const char *kMemory = "the line of a frame";
  static constexpr const char *kPassedCaps = "video/x-raw(ANY);application/x-ndjson";
  static constexpr auto take_frame = cudavision::take_frame;
  static constexpr auto take_caps = cudavision::take_caps;
  static constexpr auto begin = cudavision::begin;
  static constexpr auto end = cudavision::end;

  static std::vector<Property<JsonSettings>> properties() {
    using S = JsonSettings;
    return {
        enum_property<S>({"output", "Output", "What the element passes on"}, output_type(), &S::output,
                         Mutable::ready),
        string_property<S>(
            {"location", "Location",
             "Output file, emptied at each start unless append is set (- = standard output; only one element "
             "of a process can write to an output)"},
            &S::location, Mutable::ready),
        boolean_property<S>(
            {"append", "Append", "Keep the lines that the file holds at the start, and append the new ones"},
            &S::append, Mutable::ready),
        string_property<S>(
            {"source", "Source", "Name of the source of the frames, the first member of every object"},
            &S::source),
        enum_property<S>({"tensor-data", "Tensor data", "The part of each tensor that is written"},
                         tensor_data_type(), &S::tensor_data),
        boolean_property<S>(
            {"wall-clock", "Wall clock",
             "For frames without a time of day, write the machine's time as utc; repeated runs then write "
             "different lines"},
            &S::wall_clock),
        enum_property<S>({"only", "Only", "The frames that have a line; all have a number"}, only_type(),
                         &S::only)};
  }

  static void init(GstCudaVisionJson *json) { gst_base_transform_set_passthrough(&json->parent, TRUE); }
  static void cancel(GstCudaVisionJson *json, bool cancelled) { json->state->file.cancel(cancelled); }
  static void extend(GstBaseTransformClass *klass) {
    register_zones_meta();  // else GStreamer drops those of frames from other processes
    klass->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
    klass->decide_allocation = GST_DEBUG_FUNCPTR(decide_allocation);
    klass->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
    klass->transform = GST_DEBUG_FUNCPTR(transform_to_line);
  }

  static GstCaps *transform_caps(GstBaseTransform *transform, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *wanted) {
    const bool is_started = GST_PAD_MODE(transform->srcpad) != GST_PAD_MODE_NONE;
    const bool text =
        is_started ? passes_text(transform) : Properties::snapshot(transform).output == JsonOutput::text;
    GstCaps *result = !text                       ? gst_caps_ref(caps)
                      : direction == GST_PAD_SINK ? gst_caps_new_empty_simple(kLines)
                                                  : gst_pad_get_pad_template_caps(transform->sinkpad);
    return restricted_to(result, wanted);
  }

  static GstFlowReturn prepare_output_buffer(GstBaseTransform *transform, GstBuffer *frame, GstBuffer **out) {
    using Class = MetaElement<JsonElement>;
    if (!passes_text(transform)) return Class::parent_class->prepare_output_buffer(transform, frame, out);
    return Class::take(transform, [&](GstCudaVisionJson *json) { return make_line(json, frame, out); });
  }

  // Does nothing: prepare_output_buffer() has already made the line.
  static GstFlowReturn transform_to_line(GstBaseTransform *, GstBuffer *, GstBuffer *) { return GST_FLOW_OK; }

  // Asks for no buffer pool for lines, because their lengths differ.
  static gboolean decide_allocation(GstBaseTransform *transform, GstQuery *query) {
    return passes_text(transform) ||
           MetaElement<JsonElement>::parent_class->decide_allocation(transform, query);
  }
};

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudavisionjson, "cudavisionjson", GST_RANK_NONE,
                            cudavision::MetaElement<cudavision::JsonElement>::type())
