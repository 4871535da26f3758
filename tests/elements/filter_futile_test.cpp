// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties with which an element can find nothing: one warning says so, and none where something could be found.
#include <gst/cudavision/cudavision.h>

#include <string>
#include <vector>

#include "tests/elements/every_element.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterFutile : public ElementTest {};

// The warnings that some frames of noise cause, each on a line.
std::string warnings_of(Harness *element, Size size, int frames = 3) {
  const VideoFrame frame("GRAY8", size, 1);
  element->negotiate(frame);
  std::string texts;
  for (int i = 0; i < frames; ++i) EXPECT_NE(element->exchange(frame.buffer()), nullptr);
  while (const auto warning = take_warning(element->element())) texts += warning->text + "\n";
  return texts;
}

struct Case {
  const char *futile, *words;  // an element that can find nothing, and words of its warning
  const char *useful;          // nearly the same element, which could find something
  Size size{72, 136};
};
const std::vector<Case> kCases = {
    {"cudacanny high-threshold=1530", "high-threshold is 1530, but no gradient exceeds 1530",
     "cudacanny high-threshold=1529.9"},
    {"cudacanny low-threshold=2000 high-threshold=0", "high-threshold is 2000", "cudacanny low-threshold=0"},
    {"cudacanny aperture=5 high-threshold=60000", "no gradient exceeds",
     "cudacanny aperture=5 high-threshold=10000"},
    {"cudacanny aperture=7 high-threshold=1000000", "no gradient exceeds",
     "cudacanny aperture=7 high-threshold=100000"},
    {"cudahough high-threshold=10000000", "there are no edges",
     "cudahough high-threshold=10000000 input=edges"},
    {"cudahough min-theta=1 max-theta=1", "there is no direction", "cudahough min-theta=1 max-theta=1.02"},
    {"cudahough threshold=2147483647", "no line can be found", "cudahough threshold=100"},
    {"cudahough mode=segments min-length=154", "no segment can be found",
     "cudahough mode=segments min-length=153"},
    {"cudasigma2kp cell=5 tau=0.7", "No window is nearer than tau", "cudasigma2kp cell=5 tau=0.71"},
    {"cudasigma2kp cell=5 tau=0.7", "No window is nearer than tau", "cudasigma2kp cell=4 tau=0.1"},
    {"cudasigma2kp cell=5 tau=0.7", "No window is nearer than tau",
     "cudasigma2kp cell=5 tau=0.7 definition=dense"},
    {"cudasigma2kp window=31 cell=32 roi-x=11", "holds no cell of keypoints",  // up to the frame's edge

     "cudasigma2kp window=31 cell=32 roi-x=11 roi-width=62"},
    {"cudasigma2kp window=31 cell=32 roi-width=61", "holds no cell of keypoints",
     "cudasigma2kp window=31 cell=32 roi-width=62"},
    {"cudaopticalflow min-eigenvalue=16", "no vector can be valid", "cudaopticalflow min-eigenvalue=15"},
    {"cudavisionoverlay regions=false keypoints=false lines=false tensors=false zones=false",
     "nothing is drawn", "cudavisionoverlay regions=false keypoints=false lines=false"},
    {"cudahog model=people",
     "min-scale (0.666667)",
     "cudahog model=people roi-width=43 group-threshold=0",
     {42, 136}},
    {"cudahog model=people min-scale=1 roi-width=64 roi-height=127", "does not fit into 64x127 pixels",
     "cudahog model=people min-scale=1 roi-width=64 roi-height=128 group-threshold=0"},
    {"cudahog model=people min-scale=1 roi-y=9", "does not fit into 72x127 pixels",
     "cudahog model=people min-scale=1 roi-y=8 group-threshold=0"},
    {"cudahog model=people min-scale=1.2", "min-scale (1.2)",
     "cudahog model=people min-scale=1.05 group-threshold=0"},
    {"cudahog model=people min-scale=1 group-threshold=5", "only 5 windows",
     "cudahog model=people min-scale=1 group-threshold=4"},
    // Three windows of a frame are needed for a box, by default.
    {"cudahog model=people min-scale=1 roi-width=64 roi-height=128", "group-threshold is 2",
     "cudahog model=people min-scale=1 roi-width=64 group-threshold=1"},
    {"cudahog model=people min-scale=1 hit-threshold=1000", "no score of this model exceeds",
     "cudahog model=people min-scale=1 hit-threshold=5"},
};

TEST_F(FilterFutile, one_warning_says_that_nothing_can_be_found) {
  for (const Case &c : kCases) {
    Harness futile(c.futile), useful(c.useful);
    const std::string texts = warnings_of(&futile, c.size);
    EXPECT_NE(texts.find(c.words), std::string::npos) << c.futile << ": " << texts;
    EXPECT_EQ(texts.find('\n'), texts.size() - 1) << c.futile << ": " << texts;
    EXPECT_EQ(warnings_of(&useful, c.size == Size{63, 136} ? Size{72, 136} : c.size), "") << c.useful;
  }
}

TEST_F(FilterFutile, defaults_find_something) {
  for (const std::string &element :
       every_element({.property = "backend",
       .own = {"cudahog", "cudahog model=people", "cudarectify view=plane corners=\"0,0 1,0 1,1 0,1\""}})) {
    Harness made(element);
    EXPECT_EQ(warnings_of(&made, {72, 136}), "") << element;
  }
}

// A property that a controller moves would otherwise cause a warning a frame.
TEST_F(FilterFutile, a_run_has_one_warning) {
  Harness canny;
  EXPECT_EQ(warnings_of(&canny, {72, 136}), "");
  g_object_set(canny.element(), "high-threshold", 5000.0, nullptr);
  EXPECT_NE(warnings_of(&canny, {72, 136}), "");
  for (const double threshold : {6000.0, 100.0, 7000.0}) {
    g_object_set(canny.element(), "high-threshold", threshold, nullptr);
    EXPECT_EQ(warnings_of(&canny, {72, 136}), "") << threshold;
  }
  canny.restart();
  EXPECT_NE(warnings_of(&canny, {72, 136}), "");

  Harness people("cudahog model=people roi-width=20");
  for (const int width : {20, 21, 70, 22}) {
    g_object_set(people.element(), "roi-width", width, nullptr);
    EXPECT_EQ(warnings_of(&people, {72, 136}).empty(), width != 20) << width;
  }
}

TEST_F(FilterFutile, hog_without_a_task_is_told_after_some_seconds) {
  Harness idle("cudahog descriptor=false display=false"), drawing("cudahog descriptor=false");
  EXPECT_EQ(warnings_of(&idle, {20, 20}, 100), "") << "the properties may still change";
  EXPECT_NE(warnings_of(&idle, {20, 20}, 100).find("the element does nothing"), std::string::npos);
  EXPECT_EQ(warnings_of(&drawing, {20, 20}, 200), "");
}

// With a warning, no line can be found even in a white picture, where every pixel votes.
TEST_F(FilterFutile, thresholds_of_lines_are_not_blamed_wrongly) {
  VideoFrame white("GRAY8", {40, 24});
  std::fill(white.bytes().begin(), white.bytes().end(), std::uint8_t{255});
  for (const double rho : {0.3, 1.0, 2.5, 9.0, 100.0}) {
    int with_lines = 0, with_warning = 0;
    for (int threshold = 10; threshold < 3000; threshold = threshold * 5 / 4) {
      Harness hough("cudahough input=edges nms-radius=0 theta=0.05 threshold=" + std::to_string(threshold));
      g_object_set(hough.element(), "rho", rho, nullptr);
      hough.negotiate(white);
      const Owned<GstBuffer> out = hough.exchange(white.buffer());
      guint count = 0;
      gst_cuda_vision_lines_meta_get_lines(gst_cuda_vision_buffer_get_lines_meta(out.get()), &count);
      const bool warned = take_warning(hough.element()).has_value();
      EXPECT_FALSE(warned && count > 0) << "rho " << rho << ", threshold " << threshold;
      with_lines += count > 0 ? 1 : 0, with_warning += warned ? 1 : 0;
    }
    EXPECT_GT(with_lines, 0) << rho;
    EXPECT_GT(with_warning, 0) << rho;
  }
}

}  // namespace
