// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts people over lines and in zones. count.py is the same in Python.
//
//   count SOURCE ZONES EVENTS
//   count "filesrc location=vtest.avi ! decodebin" street.json events.jsonl >minutes.csv
//
// Writes a line of JSON to the file EVENTS for each frame in which something happens, and prints a table as CSV: how
// often, in each minute, each line was crossed and each zone was entered and left.
//
// To build it:
//   c++ count.cpp -o count $(pkg-config --cflags --libs gstreamer-1.0)
#include <gst/gst.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "../one_file.h"
#include "../warnings.h"

namespace {

using Counts =
    std::map<std::tuple<guint64, std::string, std::string>, guint>;  // by minute, name and direction

void count(const GstStructure *event, Counts *counts) {
  if (!gst_structure_has_name(event, "cudavisionzones")) return;
  const gchar *kind = gst_structure_get_string(event, "event"),
              *name = gst_structure_get_string(event, "name"),
              *direction = gst_structure_get_string(event, "direction");
  const std::string how = direction != nullptr ? direction : kind;
  guint64 time = 0;
  gst_structure_get_uint64(event, "running-time", &time);
  if (direction != nullptr || how == "enter" || how == "leave")
    ++(*counts)[{time / (60 * GST_SECOND), name, how}];
}

void set_location(GstElement *pipeline, const char *element, const char *location) {
  GstElement *found = gst_bin_get_by_name(GST_BIN(pipeline), element);
  g_object_set(found, "location", location, nullptr);
  gst_object_unref(found);
}

// Returns the message of the error and the last line of its details, which names files.
std::string text_of_error(GstMessage *message) {
  GError *error = nullptr;
  gchar *details = nullptr;
  gst_message_parse_error(message, &error, &details);
  std::string text = error->message;
  if (details != nullptr)
    text += std::string(" ") + (std::strrchr(details, '\n') ? std::strrchr(details, '\n') + 1 : details);
  g_error_free(error);
  g_free(details);
  return text;
}

// Runs the pipeline to its end. Returns the text of the error, empty if there was none.
std::string play(GstElement *pipeline, Counts *counts) {
  std::string error;
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (bool plays = true; plays;) {
    GstMessage *message = gst_bus_timed_pop_filtered(
        bus, GST_CLOCK_TIME_NONE,
        static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) error = text_of_error(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) count(gst_message_get_structure(message), counts);
    plays = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT;
    gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  return error;
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  read_nothing_else();
  if (argc != 4) {
    std::fprintf(stderr, "usage: count SOURCE ZONES EVENTS\n");
    return 2;
  }
  GError *refused = nullptr;
  std::string error;
  Counts counts;
  GstElement *pipeline = gst_parse_launch(
      (std::string(argv[1]) +
       " ! videoconvert ! videoflip video-direction=auto ! cudahog model=people display=false ! "
       "cudavisiontrack ! cudavisionzones name=zones ! cudavisionjson name=json only=events ! fakesink")
          .c_str(),
      &refused);
  if (refused != nullptr) {
    error = refused->message;
    g_error_free(refused);
  } else {
    print_warnings(pipeline);
    set_location(pipeline, "zones", argv[2]);
    set_location(pipeline, "json", argv[3]);
    error = play(pipeline, &counts);
  }
  gst_clear_object(&pipeline);
  if (!error.empty()) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  std::printf("minute,name,direction,count\n");
  for (const auto &[key, number] : counts)
    std::printf("%" G_GUINT64_FORMAT ",%s,%s,%u\n", std::get<0>(key), std::get<1>(key).c_str(),
                std::get<2>(key).c_str(), number);
  return 0;
}
