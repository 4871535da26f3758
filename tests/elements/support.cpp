// SPDX-License-Identifier: LGPL-2.1-or-later
// Initialisation of GStreamer, the log handler, and helpers of the element tests.
#include "tests/elements/support.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/fakecuda/fakecuda.h"

namespace cudavision::test {
namespace {

std::atomic<unsigned> glib_complaints{0};

void count_complaint(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer) {
  if ((level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) == 0) return;
  ++glib_complaints;
  std::fprintf(stderr, "[%s] %s\n", domain != nullptr ? domain : "", text);
}

class GStreamer : public testing::Environment {
 public:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    if (kEmulated) {
      // GStreamer's own CUDA elements leave destroyed contexts pushed on the thread that loads them.
      const Owned<GstElement> upload(gst_element_factory_make("cudaupload", nullptr));
      fakecuda::clear_stack();
    }
    g_log_set_default_handler(count_complaint, nullptr);
  }
  void TearDown() override { gst_deinit(); }  // objects that GStreamer keeps would look leaked
};
[[maybe_unused]] testing::Environment *const kGStreamer = testing::AddGlobalTestEnvironment(new GStreamer);

std::string launch(const std::string &description, Owned<GstElement> *element) {
  GError *error = nullptr;
  GstElement *parsed =
      gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (parsed != nullptr) element->reset(GST_ELEMENT(gst_object_ref_sink(parsed)));
  const std::string why = error != nullptr ? error->message : parsed == nullptr ? "no element" : "";
  g_clear_error(&error);
  return why;
}

std::optional<Complaint> take_complaint(GstElement *element, GstMessageType type,
                                        void (*read)(GstMessage *, GError **, gchar **)) {
  const Owned<GstMessage> message = take_message(element, type);
  if (!message) return {};
  GError *error = nullptr;
  gchar *debug = nullptr;
  read(message.get(), &error, &debug);
  const Complaint complaint{error->domain, error->code, error->message};
  g_error_free(error);
  g_free(debug);
  return complaint;
}

}  // namespace

std::string backend() {
  const char *wanted = std::getenv("CUDAVISION_TEST_BACKEND");
  return kEmulated ? "cuda" : wanted != nullptr ? wanted : "cpu";
}

void Unref::operator()(GstElement *element) const {
  gst_element_set_state(element, GST_STATE_NULL);
  if (GstBus *bus = gst_element_get_bus(element)) {  // messages on the bus hold the element
    gst_bus_set_flushing(bus, TRUE);
    gst_object_unref(bus);
  }
  gst_object_unref(element);
}

Owned<GstElement> parse(const std::string &description) {
  Owned<GstElement> element;
  EXPECT_EQ(launch(description, &element), "") << description;
  if (element && !GST_IS_PIPELINE(element.get())) {
    const Owned<GstBus> bus(gst_bus_new());
    gst_element_set_bus(element.get(), bus.get());
  }
  return element;
}

std::string why_refused(const std::string &description) {
  Owned<GstElement> element;
  return launch(description, &element);
}

GstElement *child(const Owned<GstElement> &pipeline, const char *name) {
  GstElement *found = gst_bin_get_by_name(GST_BIN(pipeline.get()), name);
  EXPECT_NE(found, nullptr) << name;
  if (found != nullptr) gst_object_unref(found);
  return found;
}

testing::AssertionResult plays_to_the_end(const Owned<GstElement> &pipeline) {
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const auto types = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_LATENCY);
  Owned<GstMessage> message;
  do {
    message = take_message(pipeline.get(), types, kPatience);
    if (!message) return testing::AssertionFailure() << "it does not come to an end";
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_LATENCY)  // as gst-launch-1.0 does
      gst_bin_recalculate_latency(GST_BIN(pipeline.get()));
  } while (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_LATENCY);
  if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return testing::AssertionSuccess();
  GError *error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  const std::string text = error->message;
  g_error_free(error);
  return testing::AssertionFailure() << text;
}

void set(GstElement *element, const char *property, const std::string &value) {
  gst_util_set_object_arg(G_OBJECT(element), property, value.c_str());
}

std::string color_text(guint32 argb) {
  gchar digits[11];
  g_snprintf(digits, sizeof digits, "0x%08x", argb);
  return digits;
}

double real(GstElement *element, const char *property) {
  gdouble value = 0;
  g_object_get(element, property, &value, nullptr);
  return value;
}

int integer(GstElement *element, const char *property) {
  gint value = 0;
  g_object_get(element, property, &value, nullptr);
  return value;
}

std::string text(GstElement *element, const char *property) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), property, &value);
  std::string result;
  if (G_VALUE_HOLDS_ENUM(&value)) {
    auto *type = static_cast<GEnumClass *>(g_type_class_ref(G_VALUE_TYPE(&value)));
    result = g_enum_get_value(type, g_value_get_enum(&value))->value_nick;
    g_type_class_unref(type);
  } else {
    gchar *serialized = gst_value_serialize(&value);
    result = serialized;
    g_free(serialized);
  }
  g_value_unset(&value);
  return result;
}

Owned<GstMessage> take_message(GstElement *element, GstMessageType type, GstClockTime wait) {
  const Owned<GstBus> bus(gst_element_get_bus(element));
  return Owned<GstMessage>(gst_bus_timed_pop_filtered(bus.get(), wait, type));
}

std::optional<Complaint> take_error(GstElement *element) {
  return take_complaint(element, GST_MESSAGE_ERROR, gst_message_parse_error);
}
std::optional<Complaint> take_warning(GstElement *element) {
  return take_complaint(element, GST_MESSAGE_WARNING, gst_message_parse_warning);
}

testing::AssertionResult is(const std::optional<Complaint> &complaint, GQuark domain, int code,
                            const std::string &words) {
  if (!complaint) return testing::AssertionFailure() << "nothing was posted";
  if (complaint->domain == domain && complaint->code == code &&
      complaint->text.find(words) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << g_quark_to_string(complaint->domain) << " " << complaint->code << ": "
                                     << complaint->text;
}

unsigned take_glib_complaints() { return glib_complaints.exchange(0); }

namespace {

// Returns the error text if there is no device. Any other error fails the test.
std::string why_backend_does_not_start() {
  const Owned<GstElement> element = parse("cudacanny backend=" + backend());
  EXPECT_NE(element, nullptr);
  if (gst_element_set_state(element.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE) return "";
  const auto error = take_error(element.get());
  EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, ""));
  return error ? error->text : "the backend does not start";
}

// The threads of a queue release their last buffer some milliseconds after their element has reached NULL.
void wait_until_nothing_lives() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (simt::live_allocations() + simt::live_streams() > 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void ElementTest::SetUp() {
  simt::reset();
  fakecuda::reset();
  static const std::string why_not = kEmulated ? "" : why_backend_does_not_start();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  take_glib_complaints();
}

void ElementTest::TearDown() {
  EXPECT_EQ(take_glib_complaints(), 0u) << "GLib or GStreamer warned";
  wait_until_nothing_lives();
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_host_allocations(), 0u);
  EXPECT_EQ(simt::live_streams(), 0u);
  EXPECT_EQ(simt::live_events(), 0u);
  EXPECT_EQ(simt::take_report(), simt::Report{});
  EXPECT_TRUE(fakecuda::no_context_lives());
  EXPECT_EQ(fakecuda::pushed_contexts(), 0u);
  EXPECT_EQ(fakecuda::runtime_contexts(), 0u) << "somebody used the runtime's own context";
  EXPECT_EQ(fakecuda::take_misuses(), std::vector<std::string>());
  fakecuda::reset();
  simt::reset();
}

}  // namespace cudavision::test
