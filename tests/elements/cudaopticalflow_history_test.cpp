// SPDX-License-Identifier: LGPL-2.1-or-later
// The history of cudaopticalflow: which previous frame it compares with, and when it forgets that frame.
#include <gst/video/video.h>

#include <functional>
#include <string>

#include "tests/elements/opticalflow_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::OpticalFlowParams;
using cudavision::Size;

constexpr Size kSize{50, 40};
constexpr char kDescription[] = "cudaopticalflow window-size=9 levels=2 ";
OpticalFlowParams params() {
  OpticalFlowParams p;
  p.window_size = 9, p.levels = 2;
  return p;
}

// Frames of a stream in which every frame is compared with the previous one.
class CudaOpticalFlowHistory : public ElementTest {
 protected:
  VideoFrame frame(int i, Size size = kSize) const { return moving_frame("NV12", size, i); }

  // Expects that the first frame after `interrupt` has no flow, and that the next one has.
  void expect_forgotten_after(const std::function<void(Harness &)> &interrupt,
                              const std::string &properties = "") {
    Harness flow(kDescription + properties);
    expect_untouched(buffer_from(&flow, frame(0)), frame(0));
    expect_flow(buffer_from(&flow, frame(1)), flow_between(frame(0), frame(1), params()));
    interrupt(flow);
    expect_untouched(buffer_from(&flow, frame(2)), frame(2));
    expect_flow(buffer_from(&flow, frame(3)), flow_between(frame(2), frame(3), params()));
  }
};

GstEvent *new_segment() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  return gst_event_new_segment(&segment);
}

TEST_F(CudaOpticalFlowHistory, is_forgotten_at_a_flush) {
  expect_forgotten_after([](Harness &flow) {
    EXPECT_TRUE(gst_harness_push_event(flow.get(), gst_event_new_flush_start()));
    EXPECT_TRUE(gst_harness_push_event(flow.get(), gst_event_new_flush_stop(TRUE)));
    EXPECT_TRUE(gst_harness_push_event(flow.get(), new_segment()));
  });
}

TEST_F(CudaOpticalFlowHistory, is_forgotten_at_a_segment) {
  expect_forgotten_after(
      [](Harness &flow) { EXPECT_TRUE(gst_harness_push_event(flow.get(), new_segment())); });
}

TEST_F(CudaOpticalFlowHistory, is_forgotten_at_a_restart) {
  expect_forgotten_after([](Harness &flow) { flow.restart(); });
}

TEST_F(CudaOpticalFlowHistory, is_forgotten_when_the_caps_change_and_come_back) {
  expect_forgotten_after([this](Harness &flow) {
    const VideoFrame other = frame(1, {60, 30});
    expect_untouched(buffer_from(&flow, other), other);
  });
}

TEST_F(CudaOpticalFlowHistory, is_forgotten_at_a_discontinuity) {
  Harness flow(kDescription);
  buffer_from(&flow, frame(0));
  expect_flow(buffer_from(&flow, frame(1)), flow_between(frame(0), frame(1), params()));
  Owned<GstBuffer> buffer = frame(2).buffer();
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  expect_untouched(flow.exchange(std::move(buffer)), frame(2));
  expect_flow(buffer_from(&flow, frame(3)), flow_between(frame(2), frame(3), params()));
}

// An element that skips a late frame, and a leaky queue, mark the next one as a discontinuity.
TEST_F(CudaOpticalFlowHistory, survives_a_discontinuity_of_two_seconds) {
  constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE, kDistance = 40 * GST_MSECOND;
  const struct {
    GstClockTime before, after;
    bool continues;
  } cases[] = {{0, 40 * GST_MSECOND, true},
               {0, 30 * GST_SECOND, true},  // the first distance
               {3 * GST_SECOND, 5 * GST_SECOND, true},
               {3 * GST_SECOND, 5 * GST_SECOND + 1, false},
               {3 * GST_SECOND, 3 * GST_SECOND, false},
               {3 * GST_SECOND, 2 * GST_SECOND, false},
               {kNone, 0, false},
               {0, kNone, false}};
  for (const auto &[before, after, continues] : cases) {
    Harness flow(std::string(kDescription) + "display=false");
    flow.negotiate(frame(0));
    const auto exchange = [&](GstClockTime time, int i, bool is_discont = false) {
      Owned<GstBuffer> buffer = frame(i).buffer();
      GST_BUFFER_PTS(buffer.get()) = time;
      if (is_discont) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
      return flow.exchange(std::move(buffer));
    };
    if (before >= kDistance && before != kNone) exchange(before - kDistance, 2);
    EXPECT_NE(exchange(before, 0), nullptr);
    const Owned<GstBuffer> out = exchange(after, 1, true);
    if (continues)
      expect_flow(out, flow_between(frame(0), frame(1), params()));
    else
      expect_untouched(out, frame(1));
  }
}

// How many of 14 frames with these times have flow.
int frames_with_flow(const VideoFrame &picture, const char *rate, bool is_discont,
                     const std::function<GstClockTime(guint64)> &time_of) {
  Harness flow(std::string(kDescription) + "display=false");
  Owned<GstCaps> caps = picture.caps();
  caps.reset(gst_caps_make_writable(caps.release()));
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, rate == std::string("30/1") ? 30 : 0, 1,
                      nullptr);
  gst_harness_set_src_caps(flow.get(), caps.release());
  int count = 0;
  for (guint64 i = 0; i < 14; ++i) {
    Owned<GstBuffer> buffer = picture.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_of(i);
    if (is_discont) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
    const Owned<GstBuffer> out = flow.exchange(std::move(buffer));
    count += gst_cuda_vision_buffer_get_tensor_meta(out.get(), "optical-flow") != nullptr ? 1 : 0;
  }
  return count;
}

// A slow element behind a leaky queue, or a time-lapse; then one frame that is stray, and a jump.
TEST_F(CudaOpticalFlowHistory, follows_the_time_of_the_stream) {
  for (const char *rate : {"30/1", "0/1"}) {
    for (const guint64 tenths : {19, 25, 300})
      EXPECT_EQ(
          frames_with_flow(frame(0), rate, true, [=](guint64 i) { return i * tenths * GST_SECOND / 10; }), 13)
          << rate << ' ' << tenths;
    const auto stray_at_5 = [](guint64 i) { return (i == 5 ? 7200 * GST_SECOND : 0) + i * GST_SECOND / 30; };
    EXPECT_EQ(frames_with_flow(frame(0), rate, false, stray_at_5), 13) << rate;
    const auto jump_at_5 = [](guint64 i) { return (i < 5 ? 7200 * GST_SECOND : 0) + i * GST_SECOND / 30; };
    EXPECT_EQ(frames_with_flow(frame(0), rate, false, jump_at_5), 12) << rate;
    EXPECT_EQ(frames_with_flow(frame(0), rate, true, jump_at_5), 12) << rate;
  }
}

// The region keeps its size and shows another part of the picture.
TEST_F(CudaOpticalFlowHistory, is_forgotten_when_the_region_moves) {
  Harness flow(std::string(kDescription) + "roi-x=2 roi-y=4 roi-width=40 roi-height=30");
  buffer_from(&flow, frame(0));
  expect_flow(buffer_from(&flow, frame(1)), flow_between(frame(0), frame(1), params(), {2, 4, 40, 30}));
  set(flow.element(), "roi-x", "3");
  expect_untouched(buffer_from(&flow, frame(2)), frame(2));
  expect_flow(buffer_from(&flow, frame(3)), flow_between(frame(2), frame(3), params(), {3, 4, 40, 30}));
}

TEST_F(CudaOpticalFlowHistory, holds_no_buffer_of_upstream) {
  Harness flow(std::string(kDescription) + "display=false");
  flow.negotiate(frame(0));
  Owned<GstBuffer> first = flow.exchange(frame(0).buffer());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(first.get()), 1);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(gst_buffer_peek_memory(first.get(), 0)), 1);
  gst_buffer_memset(first.get(), 0, 0x55, gst_buffer_get_size(first.get()));  // as if upstream reused it
  first.reset();
  expect_flow(buffer_from(&flow, frame(1)), flow_between(frame(0), frame(1), params()));
}

TEST_F(CudaOpticalFlowHistory, reaches_back_to_the_last_frame_that_was_worked_on) {
  Harness flow(std::string(kDescription) + "every-nth=2 display=false");
  expect_untouched(buffer_from(&flow, frame(0)), frame(0));
  expect_untouched(buffer_from(&flow, frame(1)), frame(1));
  expect_flow(buffer_from(&flow, frame(2)), flow_between(frame(0), frame(2), params()));
}

TEST_F(CudaOpticalFlowHistory, survives_a_gap) {
  Harness flow(std::string(kDescription) + "display=false");
  buffer_from(&flow, frame(0));
  Owned<GstBuffer> gap(gst_buffer_new());
  GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
  EXPECT_NE(flow.exchange(std::move(gap)), nullptr);
  expect_flow(buffer_from(&flow, frame(1)), flow_between(frame(0), frame(1), params()));
}

TEST_F(CudaOpticalFlowHistory, of_two_elements_is_separate) {
  Harness one(std::string(kDescription) + "display=false"),
      other(std::string(kDescription) + "display=false");
  for (int i = 0; i < 3; ++i) {
    const Owned<GstBuffer> a = buffer_from(&one, frame(i)), b = buffer_from(&other, frame(2 * i));
    if (i == 0) continue;
    expect_flow(a, flow_between(frame(i - 1), frame(i), params()));
    expect_flow(b, flow_between(frame(2 * i - 2), frame(2 * i), params()));
  }
}

// A tensor that an application still holds is never overwritten.
TEST_F(CudaOpticalFlowHistory, tensors_that_are_kept_stay_as_they_are) {
  Harness flow(std::string(kDescription) + "display=false");
  buffer_from(&flow, frame(0));
  std::vector<Owned<GstBuffer>> kept;
  for (int i = 1; i < 6; ++i) kept.push_back(buffer_from(&flow, frame(i)));
  for (int i = 1; i < 6; ++i)
    expect_flow(kept[static_cast<std::size_t>(i - 1)], flow_between(frame(i - 1), frame(i), params()));
}

}  // namespace
