// SPDX-License-Identifier: LGPL-2.1-or-later
// Warnings of elements on the standard error, in the form of plain_errors.py.
#pragma once

#include <gst/gst.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

// From now on, each warning that an element of the pipeline posts is printed once.
inline void print_warnings(GstElement *pipeline) {
  const auto print = +[](GstBus *, GstMessage *message, gpointer) {  // called by the thread that posts it
    static std::mutex mutex;
    static std::set<std::string> told;
    GError *warning = nullptr;
    gst_message_parse_warning(message, &warning, nullptr);
    const std::string text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + warning->message;
    g_error_free(warning);
    const std::lock_guard<std::mutex> lock(mutex);
    if (told.insert(text).second) std::fprintf(stderr, "warning: %s\n", text.c_str());
  };
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_bus_enable_sync_message_emission(bus);
  g_signal_connect(bus, "sync-message::warning", G_CALLBACK(print), nullptr);
  gst_object_unref(bus);
}
