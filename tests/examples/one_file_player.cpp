// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes the file that its argument names, as the examples in C++ do. The exit status is 0 at the end of the video.
#include "examples/one_file.h"

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  read_nothing_else();
  GstElement *pipeline = gst_parse_launch("filesrc name=file ! decodebin ! videoconvert ! fakesink", nullptr);
  GstElement *file = gst_bin_get_by_name(GST_BIN(pipeline), "file");
  g_object_set(file, "location", argv[1], nullptr);
  gst_object_unref(file);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
  const bool failed = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return failed ? 1 : 0;
}
