// SPDX-License-Identifier: LGPL-2.1-or-later
// What every element test needs: GStreamer, the backend under test, GLib's complaints, and errors on a bus.
#pragma once

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/emulated.h"

namespace cudavision::test {

// The property `backend` under test: cuda with emulated kernels, otherwise what CUDAVISION_TEST_BACKEND says,
// or cpu.
std::string backend();

struct Unref {
  void operator()(GstElement *element) const;  // sets it to NULL first
  void operator()(GstBus *bus) const { gst_object_unref(bus); }
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstSample *sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage *message) const { gst_message_unref(message); }
  void operator()(GstEvent *event) const { gst_event_unref(event); }
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

// An element or a pipeline, as gst-launch-1.0 describes it, with a bus of its own. Fails the test when the
// description is refused.
Owned<GstElement> parse(const std::string &description);
// Why gst-launch-1.0 refuses the description; empty when it does not.
std::string why_refused(const std::string &description);
// The element of that name in a pipeline, which keeps it.
GstElement *child(const Owned<GstElement> &pipeline, const char *name);
// Plays the pipeline to the end of its stream; fails with the error that was posted, or when a minute has
// passed.
testing::AssertionResult plays_to_the_end(const Owned<GstElement> &pipeline);
// Sets properties from text, as gst-launch-1.0 does.
void set(GstElement *element, const char *property, const std::string &value);
double real(GstElement *element, const char *property);
int integer(GstElement *element, const char *property);
// A property's value as text: the nick of an enum.
std::string text(GstElement *element, const char *property);

// A message of an element: an error or a warning with its GError.
struct Complaint {
  GQuark domain = 0;
  int code = 0;
  std::string text;
};
// Takes the first message of that type from the bus; waits for it at most so long.
Owned<GstMessage> take_message(GstElement *element, GstMessageType type, GstClockTime wait = 0);
std::optional<Complaint> take_error(GstElement *element);
std::optional<Complaint> take_warning(GstElement *element);
// EXPECT_TRUE(is(take_error(e), GST_RESOURCE_ERROR, code, "words")) shows what came instead.
testing::AssertionResult is(const std::optional<Complaint> &complaint, GQuark domain, int code,
                            const std::string &words);

// How often GLib or GStreamer warned (g_warning, g_critical) since the last call. A test that leaves some
// untaken fails.
unsigned take_glib_complaints();

// Before each test nothing is planted in the emulated CUDA, and after it nothing is left in it.
class ElementTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace cudavision::test
