// SPDX-License-Identifier: LGPL-2.1-or-later
// Changes a property over time: the high threshold of cudacanny sweeps from 20 to 600 and back every ten
// seconds of video, and the program prints the value used for each frame.
//
//   threshold_sweep [SOURCE [SINK]]
//   threshold_sweep "filesrc location=vtest.avi ! decodebin" "videoconvert ! autovideosink"
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/gst.h>

#include <cstdio>
#include <string>

#include "one_file.h"
#include "warnings.h"

namespace {

// Lets the threshold move linearly between 20 and 600, in five seconds each way, for the first hour of stream time.
GstControlBinding *sweep_threshold(GstObject *canny) {
  GstControlSource *wave = gst_interpolation_control_source_new();
  g_object_set(wave, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  for (guint seconds = 0; seconds <= 3600; seconds += 5)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(wave), seconds * GST_SECOND,
                                       seconds % 10 == 0 ? 20.0 : 600.0);
  GstControlBinding *binding = gst_direct_control_binding_new_absolute(canny, "high-threshold", wave);
  gst_object_unref(wave);
  return binding;
}

void print_frame(GstElement *canny, const GstStructure *message) {
  guint64 time = 0;
  gdouble threshold = 0;
  gst_structure_get_uint64(message, "stream-time", &time);
  g_object_get(canny, "high-threshold", &threshold, nullptr);
  std::printf("%8.3f s: high-threshold now %5.1f\n", static_cast<double>(time) / GST_SECOND, threshold);
}

// Prints until the end of the stream or an error; returns the exit code of the program.
int follow(GstElement *pipeline, GstElement *canny) {
  GstBus *bus = gst_element_get_bus(pipeline);
  int code = -1;
  while (code < 0) {
    GstMessage *message = gst_bus_timed_pop(bus, GST_CLOCK_TIME_NONE);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) code = 0;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT && GST_MESSAGE_SRC(message) == GST_OBJECT(canny))
      print_frame(canny, gst_message_get_structure(message));
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError *error = nullptr;
      gchar *debug = nullptr;  // often names the file
      gst_message_parse_error(message, &error, &debug);
      std::fprintf(stderr, "%s (%s)\n", error->message, debug);
      g_error_free(error);
      g_free(debug);
      code = 1;
    }
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return code;
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  read_nothing_else();
  const std::string source = argc > 1 ? argv[1] : "videotestsrc pattern=smpte num-buffers=300";
  const std::string sink = argc > 2 ? argv[2] : "videoconvert ! autovideosink";
  GError *error = nullptr;
  GstElement *pipeline = gst_parse_launch(
      (source + " ! videoconvert ! cudacanny name=canny post-messages=true output=overlay ! " + sink).c_str(),
      &error);
  if (error != nullptr) {
    std::fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  print_warnings(pipeline);
  GstElement *canny = gst_bin_get_by_name(GST_BIN(pipeline), "canny");
  gst_object_add_control_binding(GST_OBJECT(canny), sweep_threshold(GST_OBJECT(canny)));

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const int code = follow(pipeline, canny);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(canny);
  gst_object_unref(pipeline);
  return code;
}
