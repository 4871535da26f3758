// SPDX-License-Identifier: LGPL-2.1-or-later
// The property luma-range: with `full` a frame of limited range gives the results of the frame whose luma was expanded.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/elements/every_element.h"
#include "tests/elements/harness.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

// The expansion, as the table of the page defines it.
std::uint8_t expanded(std::uint8_t y) {
  return static_cast<std::uint8_t>(std::clamp(std::lround((y - 16) * 255 / 219.0), 0l, 255l));
}

bool is_wide(const VideoFrame &frame) { return GST_VIDEO_INFO_COMP_DEPTH(&frame.info(), 0) > 8; }

VideoFrame with_expanded_luma(VideoFrame frame) {
  for (int y = 0; y < frame.size().height; ++y)
    for (int x = 0; x < frame.size().width; ++x) {
      std::uint8_t &top = (&frame.sample(0, x, y))[is_wide(frame) ? 1 : 0];  // the most significant bits
      top = expanded(top);
    }
  return frame;
}

VideoFrame frame_of(const std::string &format, const std::string &colorimetry, unsigned seed) {
  VideoFrame frame(format, {75, 140}, seed);
  frame.set_colorimetry(colorimetry);
  return frame;
}

// The results of two frames, all numbers of them, as lines of JSON.
class Results {
 public:
  explicit Results(const std::string &element)
      : element_(element + " display=false"), json_("tensor-data=full") {}

  std::string of(const VideoFrame &frame) { return json_.line_of(buffer_from(&element_, frame)); }

 private:
  Harness element_;
  JsonHarness json_;
};

std::vector<std::string> elements() {
  return every_element(
      {.property = "luma-range",
       .own = {"cudacanny", "cudacanny roi-x=5 roi-y=7 roi-width=41 roi-height=60 gaussian-sigma=1",
               "cudahistogram", "cudahistogram mode=channels",
               "cudahistogram mode=channels roi-x=5 roi-y=7 roi-width=41 roi-height=60",
               "cudalocalhist weight=magnitude", "cudasigma2kp orientation=true", "cudahog",
               "cudahog model=people hit-threshold=-4 group-threshold=0",
               "cudahough threshold=5 high-threshold=300 gradient-voting=true",
               "cudahough threshold=30 input=edges", "cudaopticalflow window-size=7 levels=1 iterations=3",
               "cudabgsub open=0 close=0"},
       .left_out = {{"cudainpaint", "its result is the picture, not a value of its luma"},
                    {"cudarectify", "its result is the picture, not a value of its luma"},
                    {"cudavisionoverlay", "reads no pixels"},
                    {"cudavisionredact", "its result is the picture, not a value of its luma"}}});
}

class FilterLumaRange : public ElementTest, public testing::WithParamInterface<std::string> {};
const std::vector<std::string> kLumaFormats =
    kEmulated ? std::vector<std::string>{"NV12", "YUY2"}
              : std::vector<std::string>{"NV12", "Y444", "YUY2", "UYVY", "GRAY8", "P010_10LE"};
INSTANTIATE_TEST_SUITE_P(, FilterLumaRange, testing::ValuesIn(kLumaFormats),
                         [](const auto &format) { return format.param; });

TEST_P(FilterLumaRange, full_gives_the_results_of_the_expanded_frame) {
  for (const std::string &element : elements()) {
    SCOPED_TRACE(element);
    Results full(element + " luma-range=full"), as_is(element);
    for (unsigned seed = 1; seed <= 2; ++seed) {  // optical flow needs two
      const VideoFrame frame = frame_of(GetParam(), "bt601", seed);
      EXPECT_TRUE(full.of(frame) == as_is.of(with_expanded_luma(frame))) << seed;
    }
  }
}

TEST_P(FilterLumaRange, as_is_gives_other_results) {
  for (const std::string &element : elements()) {
    SCOPED_TRACE(element);
    Results full(element + " luma-range=full"), as_is(element);
    bool differs = false;
    for (unsigned seed = 1; seed <= 2; ++seed) {
      const VideoFrame frame = frame_of(GetParam(), "bt709", seed);
      differs |= full.of(frame) != as_is.of(frame);
    }
    EXPECT_TRUE(differs);
  }
}

TEST_P(FilterLumaRange, luma_of_full_range_stays) {
  for (const std::string &element : elements()) {
    SCOPED_TRACE(element);
    Results full(element + " luma-range=full"), as_is(element);
    for (unsigned seed = 1; seed <= 2; ++seed) {
      const VideoFrame frame = frame_of(GetParam(), "1:4:0:0", seed);
      EXPECT_TRUE(full.of(frame) == as_is.of(frame)) << seed;
    }
  }
}

class FilterLumaRangeAlone : public ElementTest {};

// The element follows the caps; the property is for the next start.
TEST_F(FilterLumaRangeAlone, caps_decide_frame_by_frame) {
  Results full("cudacanny luma-range=full"), as_is("cudacanny");
  for (const char *colorimetry : {"bt601", "1:4:0:0", "bt709"}) {
    const VideoFrame frame = frame_of("NV12", colorimetry, 3);
    const bool limited = std::string(colorimetry) != "1:4:0:0";
    EXPECT_TRUE(full.of(frame) == as_is.of(limited ? with_expanded_luma(frame) : frame)) << colorimetry;
  }
}

TEST_F(FilterLumaRangeAlone, rgb_stays) {
  for (const char *format : {"RGB", "GBR"})
    for (const std::string &element : elements()) {
      SCOPED_TRACE(element + " on " + format);
      Results full(element + " luma-range=full"), as_is(element);
      for (unsigned seed = 1; seed <= 2; ++seed) {
        const VideoFrame frame = frame_of(format, "2:1:7:1", seed);  // limited range, but no Y
        EXPECT_TRUE(full.of(frame) == as_is.of(frame)) << seed;
      }
    }
}

// Pixels keep their values where nothing is drawn, and drawn ones have those of the range of the frame.
TEST_F(FilterLumaRangeAlone, drawing_does_not_expand_the_frame) {
  const VideoFrame frame = frame_of("GRAY8", "bt601", 4);
  Harness full("cudacanny output=overlay color=white luma-range=full"), as_is("cudacanny display=false");
  const std::vector<std::uint8_t> out = full.work(frame);
  const auto edges =
      elements_of<std::uint8_t>(tensor_of(buffer_from(&as_is, with_expanded_luma(frame)), "edges"));
  int drawn = 0;
  for (int y = 0; y < frame.size().height; ++y)
    for (int x = 0; x < frame.size().width; ++x) {
      const bool edge = edges[static_cast<std::size_t>(y * frame.size().width + x)] != 0;
      const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.info().stride[0]) +
                             static_cast<std::size_t>(x);
      EXPECT_EQ(out[at], edge ? 255 : frame.sample(0, x, y)) << x << ", " << y;
      drawn += edge ? 1 : 0;
    }
  EXPECT_GT(drawn, 100);
}

}  // namespace
