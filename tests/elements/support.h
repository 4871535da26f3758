// SPDX-License-Identifier: LGPL-2.1-or-later
// Support for all element tests: GStreamer, the backend under test, GLib warnings, and errors on a bus.
#pragma once

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/emulated.h"

namespace cudavision::test {

// The property `backend` under test: cuda with emulated kernels, otherwise the value of
// CUDAVISION_TEST_BACKEND, by default cpu.
std::string backend();

struct Unref {
  void operator()(GstElement *element) const;  // sets it to NULL first
  void operator()(GstBus *bus) const { gst_object_unref(bus); }
  void operator()(GstPad *pad) const { gst_object_unref(pad); }
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstSample *sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage *message) const { gst_message_unref(message); }
  void operator()(GstEvent *event) const { gst_event_unref(event); }
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

// The longest wait for anything that comes by itself: far longer than it takes on a slow machine with sanitizers.
constexpr GstClockTime kPatience = 600 * GST_SECOND;

// An element or a pipeline in gst-launch-1.0's syntax, with its own bus. Fails the test if the description is refused.
Owned<GstElement> parse(const std::string &description);
// The reason why gst-launch-1.0 refuses the description; empty if it is accepted.
std::string why_refused(const std::string &description);
// The element of that name in a pipeline. The pipeline keeps the reference.
GstElement *child(const Owned<GstElement> &pipeline, const char *name);
// Plays the pipeline to the end of its stream. Fails with the posted error, or after kPatience.
testing::AssertionResult plays_to_the_end(const Owned<GstElement> &pipeline);
// Sets a property from text, as gst-launch-1.0 does.
void set(GstElement *element, const char *property, const std::string &value);
// 0xAARRGGBB as a property takes it.
std::string color_text(guint32 argb);
double real(GstElement *element, const char *property);
int integer(GstElement *element, const char *property);
// A property's value as text; for an enum its nick.
std::string text(GstElement *element, const char *property);

// An error or warning message of an element, with its GError.
struct Complaint {
  GQuark domain = 0;
  int code = 0;
  std::string text;
};
// Takes the first message of that type from the bus, waiting at most `wait`.
Owned<GstMessage> take_message(GstElement *element, GstMessageType type, GstClockTime wait = 0);
std::optional<Complaint> take_error(GstElement *element);
std::optional<Complaint> take_warning(GstElement *element);
// EXPECT_TRUE(is(take_error(e), GST_RESOURCE_ERROR, code, "words")) prints the actual message if it differs.
testing::AssertionResult is(const std::optional<Complaint> &complaint, GQuark domain, int code,
                            const std::string &words);

// The number of warnings of GLib and GStreamer (g_warning, g_critical) since the last call. A test fails if
// it does not take all of them.
unsigned take_glib_complaints();

// Injected failures of the emulated CUDA are cleared before each test; after it, nothing may be left allocated.
class ElementTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace cudavision::test
