// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise of the whole plugin: every element writes the same bytes on every backend. Frames of a real video pass
// each element on the backend under test and in one thread of the CPU backend; the drawn frames and the lines of
// cudavisionjson, with all numbers, must be equal. On the CPU backend this compares three threads with one.
#include <gst/app/app.h>

#include <string>
#include <vector>

#include "tests/elements/every_element.h"
#include "tests/elements/hog_reference.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/video_frame.h"
#include "tests/support/decode.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterBackends : public ElementTest {};

constexpr int kFrames = 3;
// The emulated optical flow takes seconds for a frame of 176x144.
const Size kSize = kEmulated ? Size{88, 72} : Size{176, 144};

// A part of the video in which people walk.
VideoFrame frame_of_video(const Photo &photo) {
  VideoFrame frame("RGB", kSize);
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x)
      for (int c = 0; c < 3; ++c) frame.sample(c, x, y) = photo.pixels.at(3 * (x + 250) + c, y + 90);
  return frame;
}

struct Output {
  std::string lines, frames;
};

// What the element writes for these frames.
Output output_of(const std::string &element, const std::string &backend,
                 const std::vector<VideoFrame> &frames) {
  const Folder folder;
  const Owned<GstElement> pipeline =
      parse("appsrc name=in format=time ! " + element + " " + backend +
            " ! cudavisionjson tensor-data=full location=" + folder.path("lines") +
            " ! filesink location=" + folder.path("frames"));
  auto *in = GST_APP_SRC(child(pipeline, "in"));
  const Owned<GstCaps> caps = frames[0].caps();
  gst_app_src_set_caps(in, caps.get());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Owned<GstBuffer> buffer = frames[i].buffer();
    GST_BUFFER_PTS(buffer.get()) = i * 40 * GST_MSECOND;
    EXPECT_EQ(gst_app_src_push_buffer(in, buffer.release()), GST_FLOW_OK);
  }
  EXPECT_EQ(gst_app_src_end_of_stream(in), GST_FLOW_OK);
  EXPECT_TRUE(plays_to_the_end(pipeline)) << element << " " << backend;
  return {content(folder.path("lines")), content(folder.path("frames"))};
}

TEST_F(FilterBackends, every_element_writes_the_same_bytes) {
  std::vector<VideoFrame> frames;
  for (int i = 0; i < kFrames; ++i) {
    const Photo &photo = rgb_photo("vtest.avi", 3 * i);
    if (!photo.ok()) GTEST_SKIP() << photo.why_not;
    frames.push_back(frame_of_video(photo));
  }
  const ModelFile model("model.yml");
  const std::vector<std::string> own = {
      "cudacanny",
      "cudacanny gaussian-sigma=1.4 aperture=5 l2-gradient=true",
      "cudahistogram",
      "cudalocalhist window-width=16 window-height=12",
      "cudalocalhist reduce=argmax",
      "cudalocalhist reduce=entropy",
      "cudalocalhist reduce=distance feature=brightness bins=32",
      "cudasigma2kp",
      "cudasigma2kp orientation=true grids=2",
      "cudahog",
      "cudahog variant=ghog norm=l1 cell-size=6 block-stride=6",
      "cudahog group-method=mean group-threshold=0 scale-step=1.2 hit-threshold=0.5 descriptor=true "
      "model-location=" +
          model.location(),
      "cudahog group-threshold=1 hit-threshold=0.5 model-location=" + model.location(),
      "cudahough",
      "cudahough mode=segments min-length=20",
      "cudaopticalflow",
      "cudaopticalflow preset=fast stride=4",
      "cudainpaint region-x=30 region-y=25 region-width=30 region-height=24",
      "cudabgsub",
      "cudabgsub output=mask open=0 close=0 learning-rate=0.1",
      "cudabgsub output=background",
      "cudabgsub output=background scale=1/4",
      "cudabgsub output=foreground close=9",
      "cudainpaint lab=true region-x=30 region-y=25 region-width=12 region-height=14"};
  for (const std::string &element :
       every_element({.property = "backend",
       .own = own,
       .left_out = {{"cudavisionoverlay", "has nothing to draw without an element before it"}}})) {
    SCOPED_TRACE(element);
    const bool cpu = backend() == "cpu";
    const Output seen = output_of(element, cpu ? "backend=cpu n-threads=3" : "backend=" + backend(), frames),
                 expected = output_of(element, "backend=cpu n-threads=1", frames);
    EXPECT_EQ(std::count(seen.lines.begin(), seen.lines.end(), '\n'), kFrames);
    EXPECT_EQ(seen.frames.size(), frames[0].bytes().size() * kFrames);
    EXPECT_EQ(seen.lines, expected.lines);
    EXPECT_TRUE(seen.frames == expected.frames) << "the drawn frames differ";
  }
}

}  // namespace
