// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class in live pipelines: late frames are skipped and counted, and the log says what happens.
#include <gst/video/video.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;

class FilterLive : public ElementTest {
 protected:
  static constexpr GstClockTime kFrameDuration = 40 * GST_MSECOND;

  // Pushes frame `i` of a video of 25 frames a second.
  static Owned<GstBuffer> exchange(Harness *harness, guint64 i) {
    const VideoFrame frame("GRAY8", {20, 18});
    harness->negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    GST_BUFFER_PTS(buffer.get()) = i * kFrameDuration;
    GST_BUFFER_DURATION(buffer.get()) = kFrameDuration;
    return harness->exchange(std::move(buffer));
  }

  // Sends the QoS event of a sink about frame `i`.
  static void say_late(Harness *harness, guint64 i, GstClockTimeDiff lateness) {
    const GstQOSType type = lateness > 0 ? GST_QOS_TYPE_UNDERFLOW : GST_QOS_TYPE_OVERFLOW;
    EXPECT_TRUE(gst_harness_push_upstream_event(harness->get(),
                                                gst_event_new_qos(type, 1, lateness, i * kFrameDuration)));
  }
};

// --- late frames ---

TEST_F(FilterLive, frames_that_would_be_late_are_skipped_and_counted) {
  Harness harness;
  EXPECT_NE(exchange(&harness, 0), nullptr);
  say_late(&harness, 0, kFrameDuration);  // skips the frames of twice the time, and one more
  for (guint64 i = 1; i <= 3; ++i) {
    EXPECT_EQ(exchange(&harness, i), nullptr) << i;
    const Owned<GstMessage> message = take_message(harness.element(), GST_MESSAGE_QOS);
    ASSERT_NE(message, nullptr) << i;
    GstFormat format = GST_FORMAT_UNDEFINED;
    guint64 processed = 0, dropped = 0;
    gst_message_parse_qos_stats(message.get(), &format, &processed, &dropped);
    EXPECT_EQ(format, GST_FORMAT_BUFFERS);
    EXPECT_EQ(processed, 1u);
    EXPECT_EQ(dropped, i);
  }
  const Owned<GstBuffer> next = exchange(&harness, 4);
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(next.get(), GST_BUFFER_FLAG_DISCONT));
  EXPECT_EQ(take_message(harness.element(), GST_MESSAGE_QOS), nullptr);
}

TEST_F(FilterLive, qos_false_keeps_late_frames) {
  Harness harness("cudacanny qos=false");
  EXPECT_NE(exchange(&harness, 0), nullptr);
  say_late(&harness, 0, GST_SECOND);
  for (guint64 i = 1; i < 4; ++i) EXPECT_NE(exchange(&harness, i), nullptr) << i;
}

TEST_F(FilterLive, frames_that_are_in_time_are_kept) {
  Harness harness;
  for (guint64 i = 1; i < 5; ++i) {
    EXPECT_NE(exchange(&harness, i), nullptr) << i;
    say_late(&harness, i, -GST_MSECOND);
  }
}

// --- a pipeline that does not keep up ---

class FilterTooLate : public FilterLive {
 protected:
  // Tells the element that frames [first, last] came that late.
  void say_all_late(Harness *harness, guint64 first, guint64 last, GstClockTimeDiff lateness) {
    for (guint64 i = first; i <= last; ++i) say_late(harness, i, lateness);
  }
  static constexpr guint64 kFiveSeconds = 5 * GST_SECOND / kFrameDuration;
};

TEST_F(FilterTooLate, warns_once_when_every_frame_of_five_seconds_was_late) {
  Harness harness;
  exchange(&harness, 0);
  say_all_late(&harness, 0, kFiveSeconds, 310 * GST_MSECOND);
  EXPECT_FALSE(take_warning(harness.element()));
  say_all_late(&harness, kFiveSeconds + 1, 4 * kFiveSeconds, 310 * GST_MSECOND);
  EXPECT_TRUE(is(take_warning(harness.element()), GST_CORE_ERROR, GST_CORE_ERROR_CLOCK,
                 "Every frame of the last 5 s was late, the last one by 0.31 s; this element takes 0.0"));
  EXPECT_FALSE(take_warning(harness.element()));
}

TEST_F(FilterTooLate, warning_names_first_what_makes_the_element_faster) {
  for (const auto &[element, advice] :
       {std::pair{"cudacanny", "It takes less for smaller frames,"},
        std::pair{"cudaopticalflow", "It takes less with preset=fast, for smaller frames,"}}) {
    Harness harness(element);
    exchange(&harness, 0);
    say_all_late(&harness, 0, 2 * kFiveSeconds, GST_SECOND);
    EXPECT_TRUE(is(take_warning(harness.element()), GST_CORE_ERROR, GST_CORE_ERROR_CLOCK, advice));
  }
}

TEST_F(FilterTooLate, a_frame_in_time_begins_anew) {
  Harness harness;
  exchange(&harness, 0);
  say_all_late(&harness, 0, kFiveSeconds, GST_SECOND);
  say_late(&harness, kFiveSeconds + 1, -GST_MSECOND);
  say_all_late(&harness, kFiveSeconds + 2, 2 * kFiveSeconds, GST_SECOND);
  EXPECT_FALSE(take_warning(harness.element()));
  say_all_late(&harness, 2 * kFiveSeconds + 1, 2 * kFiveSeconds + 3, GST_SECOND);
  EXPECT_TRUE(take_warning(harness.element()));
  say_late(&harness, 3 * kFiveSeconds, -GST_MSECOND);
  say_all_late(&harness, 3 * kFiveSeconds + 1, 5 * kFiveSeconds, GST_SECOND);
  EXPECT_TRUE(take_warning(harness.element())) << "of the second series";
}

// Sinks of live pipelines show frames a little after their time.
TEST_F(FilterTooLate, less_than_a_frame_is_not_late) {
  Harness harness;
  exchange(&harness, 0);
  say_all_late(&harness, 0, 3 * kFiveSeconds, kFrameDuration);
  EXPECT_FALSE(take_warning(harness.element()));
}

TEST_F(FilterTooLate, throttling_sink_does_not_say_that_frames_are_late) {
  Harness harness;
  exchange(&harness, 0);
  for (guint64 i = 0; i <= 3 * kFiveSeconds; ++i)
    EXPECT_TRUE(gst_harness_push_upstream_event(
        harness.get(), gst_event_new_qos(GST_QOS_TYPE_THROTTLE, 1, GST_SECOND, i * kFrameDuration)));
  EXPECT_FALSE(take_warning(harness.element()));
}

TEST_F(FilterTooLate, seek_backwards_begins_anew) {
  Harness harness;
  exchange(&harness, 0);
  say_all_late(&harness, 1000, 1000 + kFiveSeconds, GST_SECOND);
  say_all_late(&harness, 0, kFiveSeconds, GST_SECOND);
  EXPECT_FALSE(take_warning(harness.element()));
  say_late(&harness, kFiveSeconds + 1, GST_SECOND);
  EXPECT_TRUE(take_warning(harness.element()));
}

// --- the log ---

// What the element logs while this object lives, one entry a line of the log.
class Log {
 public:
  explicit Log(GstDebugLevel level) {
    gst_debug_set_threshold_for_name("cudacanny", level);
    gst_debug_add_log_function(add, this, nullptr);
  }
  ~Log() {
    gst_debug_remove_log_function_by_data(this);
    gst_debug_unset_threshold_for_name("cudacanny");
  }
  Log(const Log &) = delete;
  Log &operator=(const Log &) = delete;

  // The number of lines of that level that contain the words.
  std::ptrdiff_t count(GstDebugLevel level, const std::string &words) const {
    return std::count_if(lines_.begin(), lines_.end(), [&](const auto &line) {
      return line.first == level && line.second.find(words) != std::string::npos;
    });
  }

 private:
  static void add(GstDebugCategory *category, GstDebugLevel level, const gchar *, const gchar *, gint,
                  GObject *, GstDebugMessage *message, gpointer log) {
    if (std::string(gst_debug_category_get_name(category)) == "cudacanny")
      static_cast<Log *>(log)->lines_.emplace_back(level, gst_debug_message_get(message));
  }
  std::vector<std::pair<GstDebugLevel, std::string>> lines_;
};

TEST_F(FilterLive, log_tells_the_caps_and_the_backend) {
  const Log log(GST_LEVEL_DEBUG);
  Harness harness;
  for (guint64 i = 0; i < 3; ++i) exchange(&harness, i);
  const std::string device = backend() == "cuda" ? "on CUDA" : "on the CPU";
  EXPECT_EQ(log.count(GST_LEVEL_DEBUG, "format=(string)GRAY8, width=(int)20"), 1);
  EXPECT_EQ(log.count(GST_LEVEL_DEBUG, device), 1);
  EXPECT_EQ(log.count(GST_LEVEL_LOG, ""), 0);
}

TEST_F(FilterLive, log_has_a_line_for_each_frame) {
  const Log log(GST_LEVEL_LOG);
  Harness harness;
  for (guint64 i = 0; i < 3; ++i) exchange(&harness, i);
  EXPECT_EQ(log.count(GST_LEVEL_LOG, " us"), 3);
  EXPECT_EQ(log.count(GST_LEVEL_LOG, "frame at 0:00:00.080000000 in system memory took "), 1);
}

}  // namespace
