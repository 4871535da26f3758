// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudarectify: the new frames and their sizes, formats, chroma, properties and errors, and the results that are
// carried along. The arithmetic of samples and maps is tested in tests/kernels/remap_test.cpp, views and files of
// calibrations in cudarectify_view_test.cpp.
#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "cuda/common/image.h"
#include "tests/elements/harness.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/track_harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Region;
using cudavision::Size;

// A file of a camera for frames of 320x240, which is removed at the end.
class CameraFile {
 public:
  explicit CameraFile(const std::string &coefficients = "[-0.3, 0.1, 0.001, -0.002, 0.0]", int count = 5)
      : path_(testing::TempDir() + "cudarectify_" + backend() + ".yml") {
    std::ofstream(path_) << "%YAML:1.0\n---\nimage_width: 320\nimage_height: 240\n"
                         << "camera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
                         << "   data: [250., 0., 158., 0., 251., 121., 0., 0., 1.]\n"
                         << "distortion_coefficients: !!opencv-matrix\n   rows: " << count
                         << "\n   cols: 1\n   dt: d\n   data: " << coefficients << "\n";
  }
  ~CameraFile() { std::filesystem::remove(path_); }
  std::string property() const { return " calibration-location=" + path_ + " "; }

 private:
  std::string path_;
};

// The frame of a buffer that the element has made.
std::vector<std::uint8_t> bytes_of(const Owned<GstBuffer> &buffer) {
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(buffer.get()));
  gst_buffer_extract(buffer.get(), 0, bytes.data(), bytes.size());
  return bytes;
}

// Negotiates these sizes and returns what the element makes of the frame.
class Rectified {
 public:
  explicit Rectified(const std::string &properties, const VideoFrame &frame, Size output)
      : harness_("cudarectify " + properties) {
    if (output != frame.size()) {
      GstVideoInfo info;
      gst_video_info_set_format(&info, GST_VIDEO_INFO_FORMAT(&frame.info()), static_cast<guint>(output.width),
                                static_cast<guint>(output.height));
      info.fps_n = frame.info().fps_n, info.fps_d = frame.info().fps_d;
      gst_harness_set_sink_caps(harness_.get(), gst_video_info_to_caps(&info));
    }
    harness_.negotiate(frame);
  }
  Owned<GstBuffer> push(Owned<GstBuffer> buffer) { return harness_.exchange(std::move(buffer)); }
  Harness &harness() { return harness_; }

 private:
  Harness harness_;
};

constexpr char kTwice[] = "view=plane homography=\"2 0 10 0 2 -6 0 0 1\" ";

class CudaRectify : public ElementTest {};

// Whether the new frame, in the layout of its caps, has the samples of `frame`.
testing::AssertionResult same_samples(const std::vector<std::uint8_t> &made, const VideoFrame &frame) {
  VideoFrame own(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&frame.info())), frame.size());
  if (made.size() != own.bytes().size()) return testing::AssertionFailure() << made.size() << " bytes";
  own.bytes() = made;
  for (int c = 0; c < frame.component_count(); ++c)
    for (int y = 0; y < frame.component_size(c).height; ++y)
      for (int x = 0; x < frame.component_size(c).width; ++x)
        if (own.sample(c, x, y) != frame.sample(c, x, y))
          return testing::AssertionFailure() << "component " << c << " at " << x << ", " << y;
  return testing::AssertionSuccess();
}

TEST_F(CudaRectify, frame_stays_without_a_calibration) {
  for (const std::string &format : kFormats)
    for (const Size size : {Size{67, 65}, {1, 1}, {2, 31}})
      for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
        Harness element("cudarectify");
        const VideoFrame frame(format, size, 3, layout);
        EXPECT_TRUE(same_samples(element.work(frame), frame)) << format << " " << size.width;
      }
}

TEST_F(CudaRectify, alpha_goes_along) {
  const VideoFrame frame("RGBA", {16, 12}, 4);
  Harness element("cudarectify");
  EXPECT_EQ(element.work(frame), frame.bytes());
}

// Encoders take a word of more than 1023 for a sample of 10 bits that is too large.
TEST_F(CudaRectify, bits_that_are_in_no_sample_are_zero) {
  for (const auto &[format, samples] : std::vector<std::pair<std::string, unsigned>>{
           {"P010_10LE", 0xffc0}, {"P012_LE", 0xfff0}, {"I420_10LE", 0x3ff}, {"I422_12LE", 0xfff}}) {
    Harness element("cudarectify");
    element.work(VideoFrame(format, {48, 32}, 2));
    const std::vector<std::uint8_t> made = element.work(VideoFrame(format, {48, 32}, 1));
    for (std::size_t i = 0; i < made.size(); i += 2)
      ASSERT_EQ((made[i] | made[i + 1] << 8) & ~samples, 0u) << format << " at " << i;
  }
}

// The bits below the eighth are those of no frame: neither of this one, nor of one that was in the memory before.
TEST_F(CudaRectify, lower_bits_of_deep_formats_are_new) {
  for (const Repacked &repacked : kRepacked) {
    const VideoFrame frame(repacked.format, {48, 32}, 1);
    std::vector<std::vector<std::uint8_t>> made;
    for (const unsigned before : {2u, 3u}) {
      Harness element("cudarectify");
      element.work(VideoFrame(repacked.format, {48, 32}, before));
      made.push_back(element.work(frame));
    }
    EXPECT_EQ(made[0], made[1]) << repacked.format;
    VideoFrame again = frame;
    again.bytes() = made[0];
    EXPECT_EQ(Harness("cudarectify").work(again), made[0]) << repacked.format;
  }
}

TEST_F(CudaRectify, a_missing_calibration_is_told) {
  Harness element("cudarectify");
  EXPECT_TRUE(is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "the picture stays as it is"));
}

// A pixel (x, y) goes to (2x + 10, 2y - 6): the new pixel (i, j) lies at ((i - 10) / 2, (j + 6) / 2), in steps of a
// half, whose linear interpolation is a mean of two or four samples.
TEST_F(CudaRectify, plane_follows_the_matrix) {
  const VideoFrame frame("GRAY8", {40, 30}, 5);
  Rectified element(kTwice, frame, {70, 50});
  const std::vector<std::uint8_t> made = bytes_of(element.push(frame.buffer()));
  const auto sample = [&](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < 40 && y < 30;
    return inside ? frame.sample(0, x, y) : std::uint8_t{0};  // black
  };
  for (int j = 0; j < 50; ++j)
    for (int i = 0; i < 70; ++i) {
      const int x = static_cast<int>(std::floor((i - 10) / 2.0)),
                y = static_cast<int>(std::floor((j + 6) / 2.0));
      const int fx = (i - 10) & 1, fy = (j + 6) & 1;
      const int sum = (2 - fx) * (2 - fy) * sample(x, y) + fx * (2 - fy) * sample(x + 1, y) +
                      (2 - fx) * fy * sample(x, y + 1) + fx * fy * sample(x + 1, y + 1);
      // Rows of GRAY8 are padded to four bytes: 72.
      ASSERT_EQ(made[static_cast<std::size_t>(j * 72 + i)], (sum + 2) / 4) << i << ", " << j;
    }
}

// Chroma of MPEG-2 lies on the left pixel of two, that of JPEG between both.
TEST_F(CudaRectify, chroma_keeps_its_place) {
  VideoFrame frame("I420", {40, 30}, 0);
  for (int y = 0; y < 15; ++y)
    for (int x = 0; x < 20; ++x) frame.sample(1, x, y) = static_cast<std::uint8_t>(12 * x);
  for (const bool jpeg : {false, true}) {
    Harness element("cudarectify view=plane homography=\"2 0 0 0 2 0 0 0 1\"");
    Owned<GstCaps> caps = frame.caps();
    gst_caps_set_simple(caps.get(), "chroma-site", G_TYPE_STRING, jpeg ? "jpeg" : "mpeg2", nullptr);
    gst_harness_set_src_caps(element.get(), caps.release());
    VideoFrame made = frame;
    made.bytes() = bytes_of(element.exchange(frame.buffer()));
    for (int x = 1; x < 20; ++x) {
      const double offset = jpeg ? 0.5 : 0;
      const double place = ((2 * x + offset) / 2 - offset) / 2;  // of the sample, in the old frame
      EXPECT_NEAR(made.sample(1, x, 7), 12 * place, 0.51) << x << (jpeg ? " jpeg" : " mpeg2");
    }
  }
}

TEST_F(CudaRectify, border_has_a_colour_or_goes_on) {
  const VideoFrame frame = bright("RGB", {20, 12});
  const std::string away = "view=plane homography=\"1 0 100 0 1 0 0 0 1\" ";
  const auto first_pixel = [&](const std::string &properties) {
    Harness element("cudarectify " + away + properties);
    const std::vector<std::uint8_t> made = element.work(frame);
    return std::vector<std::uint8_t>(made.begin(), made.begin() + 3);
  };
  EXPECT_EQ(first_pixel(""), (std::vector<std::uint8_t>{0, 0, 0}));
  EXPECT_EQ(first_pixel("border-color=#102030"), (std::vector<std::uint8_t>{0x10, 0x20, 0x30}));
  EXPECT_EQ(first_pixel("border=replicate"), std::vector<std::uint8_t>(3, kBrightByte));
}

TEST_F(CudaRectify, sizes_are_those_of_the_frame_unless_others_are_wanted) {
  const VideoFrame frame("NV12", {64, 48});
  for (const Size wanted : {Size{64, 48}, {30, 80}}) {
    Rectified element("", frame, wanted);
    element.push(frame.buffer());
    Owned<GstCaps> caps(gst_pad_get_current_caps(element.harness().get()->sinkpad));
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    EXPECT_EQ((Size{info.width, info.height}), wanted);
    take_warning(element.harness().element());
  }
}

// The elements behind would like 32x24 most, because the caps behind them have that size.
TEST_F(CudaRectify, another_size_is_only_taken_where_that_of_the_frame_is_not) {
  const Owned<GstElement> line = parse(
      "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=64,height=48 ! cudarectify name=rectify "
      "view=plane homography=\"1 0 0 0 1 0 0 0 1\" backend=" +
      backend() + " ! videoscale ! video/x-raw,width=32,height=24 ! fakesink");
  ASSERT_TRUE(plays_to_the_end(line));
  const Owned<GstPad> pad(gst_element_get_static_pad(child(line, "rectify"), "src"));
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad.get()));
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
  EXPECT_EQ((Size{info.width, info.height}), (Size{64, 48}));
}

// Without a word in the caps, frames of 576 rows and those of 720 have other colours.
TEST_F(CudaRectify, colours_of_another_size_are_told) {
  const VideoFrame frame("NV12", {1280, 720});
  for (const Size wanted : {Size{1920, 1080}, {320, 240}}) {
    Harness element("cudarectify " + std::string(kTwice));
    const std::string sides =
        "width=" + std::to_string(wanted.width) + ",height=" + std::to_string(wanted.height);
    gst_harness_set_sink_caps_str(element.get(), ("video/x-raw," + sides).c_str());
    Owned<GstCaps> plain = frame.caps();
    gst_structure_remove_field(gst_caps_get_structure(plain.get(), 0), "colorimetry");
    gst_harness_set_src_caps(element.get(), plain.release());
    ASSERT_TRUE(element.exchange(frame.buffer()));
    const Owned<GstCaps> caps(gst_pad_get_current_caps(element.get()->sinkpad));
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    EXPECT_EQ(info.width, wanted.width);
    EXPECT_TRUE(gst_video_colorimetry_is_equal(&info.colorimetry, &frame.info().colorimetry)) << info.height;
  }
}

// --- allocation ---

// A tee in front of elements that state no size states 0.
TEST_F(CudaRectify, a_pool_without_a_size_gets_that_of_the_frames) {
  const VideoFrame frame("NV12", {64, 48});
  Harness element("cudarectify " + std::string(kTwice));
  const auto answer = [](GstPad *pad, GstObject *parent, GstQuery *query) -> gboolean {
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return gst_pad_query_default(pad, parent, query);
    gst_query_add_allocation_pool(query, nullptr, 0, 2, 0);
    return TRUE;
  };
  gst_pad_set_query_function_full(element.get()->sinkpad, answer, nullptr, nullptr);
  EXPECT_EQ(element.work(frame).size(), frame.bytes().size());
}

TEST_F(CudaRectify, strides_of_decoders_are_welcome_whatever_is_behind) {
  const VideoFrame frame("NV12", {64, 48});
  Harness element("cudarectify " + std::string(kTwice));
  element.work(frame);
  GstQuery *query = gst_query_new_allocation(frame.caps().get(), FALSE);
  EXPECT_TRUE(gst_pad_peer_query(element.get()->srcpad, query));
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  EXPECT_FALSE(gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr));
  gst_query_unref(query);
}

TEST_F(CudaRectify, properties_can_change_while_it_plays) {
  const CameraFile camera;
  const VideoFrame frame("NV12", {320, 240}, 6);
  const auto picture = [&](const std::string &properties) {
    Harness element("cudarectify" + camera.property() + properties);
    return element.work(frame);
  };
  Harness element("cudarectify" + camera.property());
  EXPECT_EQ(element.work(frame), picture("alpha=0"));
  set(element.element(), "alpha", "1");
  const std::vector<std::uint8_t> whole = element.work(frame);
  EXPECT_EQ(whole, picture("alpha=1"));
  EXPECT_NE(whole, picture("alpha=0"));
  set(element.element(), "view", "perspective");
  set(element.element(), "pan", "12");
  EXPECT_EQ(element.work(frame), picture("view=perspective pan=12 alpha=1"));
  set(element.element(), "border-color", "red");
  set(element.element(), "interpolation", "nearest");
  EXPECT_EQ(element.work(frame),
            picture("view=perspective pan=12 alpha=1 border-color=red interpolation=nearest"));
}

TEST_F(CudaRectify, an_impossible_view_leaves_the_last_one) {
  const VideoFrame frame("NV12", {64, 48});
  const std::string good = "view=plane corners=\"0.2,0.2 0.8,0.2 0.9,0.9 0.1,0.9\"";
  Harness element("cudarectify " + good);
  const std::vector<std::uint8_t> before = element.work(frame);
  set(element.element(), "corners", "0,0 1,1 0,0 1,1");
  EXPECT_EQ(element.work(frame), before);
  EXPECT_TRUE(is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "convex quadrilateral, clockwise: the last valid values stay in force"));
  set(element.element(), "corners", "0,0 1,1 0,0 1,0.9");
  EXPECT_EQ(element.work(frame), before);
  EXPECT_FALSE(take_warning(element.element())) << "the same fault again";
  set(element.element(), "border-color", "red");  // which is beside the picture, and is part of the maps
  EXPECT_EQ(element.work(frame), before);
  set(element.element(), "corners", "0,0 1,0");
  EXPECT_EQ(element.work(frame), before);
  EXPECT_TRUE(is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "the last valid values stay in force"));
  // Frames of another size go on with the last valid values, too.
  const VideoFrame larger("NV12", {80, 60});
  element.negotiate(larger);
  EXPECT_EQ(element.work(larger), Harness("cudarectify border-color=red " + good).work(larger));
}

// Only the calibration tells that a corner has no ray.
TEST_F(CudaRectify, a_corner_that_the_lens_does_not_see_leaves_the_last_view) {
  const CameraFile camera("[-0.5, 0, 0, 0, 0]");
  const VideoFrame frame("GRAY8", {320, 240});
  Harness element("cudarectify view=plane corners=\"0.4,0.4 0.6,0.4 0.6,0.6 0.4,0.6\"" + camera.property());
  const std::vector<std::uint8_t> before = element.work(frame);
  set(element.element(), "corners", "-1,0 1,0 1,1 0,1");
  EXPECT_EQ(element.work(frame), before);
  EXPECT_TRUE(is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "corners: the lens does not see one of them ahead: the last view stays"));
}

TEST_F(CudaRectify, mistakes_are_errors_at_the_start) {
  for (const auto &[properties, words] : std::vector<std::pair<std::string, std::string>>{
           {"view=perspective", "calibration-location is not set"},
           {"view=panorama", "calibration-location is not set"},
           {"view=plane", "needs corners or homography"},
           {"view=plane corners=\"1,2 3\"", "four points"},
           {"view=plane corners=\"0,0 9,0 1,1 0,1\"", "four points"},
           {"view=plane homography=\"1 2 3\"", "nine numbers"},
           {"view=plane homography=\"1 2 3 1 2 3 1 2 3\"", "its settings make no picture"},
           {"view=plane corners=\"0,0 0,1 1,1 1,0\"", "convex quadrilateral, clockwise"},
           {"view=perspective field-of-view=175 calibration-location=x", "has 1 to 170 degrees"},
           {"view=plane homography=\"1 2 3 4 5 6 7 8 nan\"", "nine numbers"},
           {"border-color=unknown", "border-color"},
           {"calibration-location=/nowhere.yml", "/nowhere.yml"}}) {
    const Owned<GstElement> element = parse("cudarectify backend=" + backend() + " " + properties);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << properties;
    const std::optional<Complaint> error = take_error(element.get());
    ASSERT_TRUE(error.has_value()) << properties;
    EXPECT_NE(error->text.find(words), std::string::npos) << error->text;
  }
}

// The maps are made when the caps come. A flush gives that up.
TEST_F(CudaRectify, a_flush_while_the_caps_come_is_no_error) {
  Harness element("cudarectify " + std::string(kTwice));
  element.work(VideoFrame("NV12", {64, 48}));
  const Owned<GstPad> pad(gst_element_get_static_pad(element.element(), "sink"));
  // Past the pad, which would refuse the caps.
  const auto send = [&](GstEvent *event) {
    GST_PAD_EVENTFUNC(pad.get())(pad.get(), GST_OBJECT(element.element()), event);
  };
  const VideoFrame frame("NV12", {320, 240});
  send(gst_event_new_flush_start());
  send(gst_event_new_caps(frame.caps().get()));
  EXPECT_FALSE(take_error(element.element()));
  send(gst_event_new_flush_stop(TRUE));
  element.flush();
  element.work(frame);
}

TEST_F(CudaRectify, parts_have_no_effect_and_are_told) {
  const VideoFrame frame("NV12", {64, 48});
  for (const char *part : {"roi-x=10", "roi-height=20", "every-nth=2"}) {
    Harness element("cudarectify " + std::string(kTwice) + part);
    EXPECT_TRUE(is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "have no effect"));
    EXPECT_EQ(element.work(frame), Harness("cudarectify " + std::string(kTwice)).work(frame)) << part;
    EXPECT_NE(element.work(frame), frame.bytes()) << part;
  }
}

// A frame that videorate repeats has the flag GAP.
TEST_F(CudaRectify, frames_keep_their_flags) {
  const VideoFrame frame("NV12", {64, 48});
  Rectified element(kTwice, frame, frame.size());
  constexpr guint kFlags = GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_CORRUPTED;
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_FLAG_SET(buffer.get(), kFlags);
  const Owned<GstBuffer> made = element.push(std::move(buffer));
  EXPECT_EQ(GST_BUFFER_FLAGS(made.get()) & kFlags, kFlags);
}

TEST_F(CudaRectify, an_empty_gap_makes_no_frame) {
  const VideoFrame frame("NV12", {64, 48});
  Rectified element("", frame, frame.size());
  Owned<GstBuffer> gap(gst_buffer_new());
  GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
  EXPECT_FALSE(element.push(std::move(gap)));
  EXPECT_TRUE(element.push(frame.buffer()));
  take_warning(element.harness().element());
}

// --- results ---

struct Carried {
  Owned<GstBuffer> buffer;
  std::vector<GstVideoRegionOfInterestMeta *> regions;
};

Carried carry(const std::string &properties, Size output, const std::function<void(GstBuffer *)> &attach) {
  const VideoFrame frame("GRAY8", {320, 240}, 1);
  Rectified element(properties, frame, output);
  Owned<GstBuffer> buffer = frame.buffer();
  attach(buffer.get());
  Carried carried{element.push(std::move(buffer)), {}};
  carried.regions = regions_of(carried.buffer);
  return carried;
}

TEST_F(CudaRectify, boxes_go_to_their_places) {
  const Carried carried = carry(kTwice, {600, 400}, [](GstBuffer *buffer) {
    add_region(buffer, {20, 30, 40, 50}, "person", 7);
    add_region(buffer, {310, 230, 10, 10}, "person", 8);
  });
  ASSERT_EQ(carried.regions.size(), 1u) << "the other one has left the picture";
  const GstVideoRegionOfInterestMeta &region = *carried.regions[0];
  EXPECT_EQ(region.id, 7);
  EXPECT_STREQ(g_quark_to_string(region.roi_type), "person");
  // The edge at the pixel edge 20 lies at 19.5 between the centres: 2 * 19.5 + 10 is 49, the edge at 49.5.
  EXPECT_NEAR(region.x, 49.5, 0.51);
  EXPECT_NEAR(region.y, 2 * 29.5 - 6 + 0.5, 0.51);
  EXPECT_NEAR(region.w, 80, 1);
  EXPECT_NEAR(region.h, 100, 1);
}

// A fisheye of 250 pixels a radian; the box is 4.1 degrees wide on either side of the middle.
TEST_F(CudaRectify, a_box_across_an_edge_of_a_panorama_stays_one) {
  const CameraFile camera("[0., 0., 0., 0.]\nfisheye_model: 1", 4);
  const auto box = [&](const std::string &properties, Size output) {
    const Carried carried =
        carry("view=panorama tilt=0 " + properties + camera.property(), output, [](GstBuffer *buffer) {
          add_region(buffer, {140, 110, 36, 20}, "person", 7);
        });
    EXPECT_LE(carried.regions.size(), 1u);
    if (carried.regions.empty()) return Region{};
    const GstVideoRegionOfInterestMeta &region = *carried.regions[0];
    return Region{static_cast<int>(region.x), static_cast<int>(region.y), static_cast<int>(region.w),
                  static_cast<int>(region.h)};
  };
  const Region left = box("pan=60", {320, 240});  // from 0 to 120 degrees
  EXPECT_NEAR(left.x, -11, 1);
  EXPECT_NEAR(left.width, 22, 1);
  const Region right = box("pan=-60", {320, 240});
  EXPECT_NEAR(right.x, 320 - 11, 1);
  EXPECT_NEAR(right.width, 22, 1);
  const Region seam = box("pan=180", {1440, 360});  // all around
  EXPECT_NEAR(seam.width, 33, 1);
  EXPECT_EQ(box("pan=180", {320, 240}).width, 0) << "it is opposite to the view";
}

TEST_F(CudaRectify, a_box_whose_far_edge_is_no_number_is_dropped) {
  const Carried carried = carry(kTwice, {600, 400}, [](GstBuffer *buffer) {
    add_region(buffer, {100, 30, (1 << 30) - 20, 50}, "person", 7);  // its right edge would be at 2^31 + 170
    add_region(buffer, {100, 30, 1 << 20, 50}, "person", 8);
  });
  ASSERT_EQ(carried.regions.size(), 1u);
  EXPECT_EQ(carried.regions[0]->id, 8);
}

TEST_F(CudaRectify, a_frame_that_stays_keeps_all_results_exactly) {
  const GstCudaVisionKeypoint keypoint{12.25f, 30.5f, 3, 0.5f};
  const GstCudaVisionLine line{100, 0, 9, 100, 0, 100, 239};
  const Carried carried = carry("", {320, 240}, [&](GstBuffer *buffer) {
    GstVideoRegionOfInterestMeta *region = add_region(buffer, {20, 30, 40, 50}, "person", 7);
    gst_video_region_of_interest_meta_add_param(region, tracking({20.5, 30.5, 40, 50}, 3, {10, -20}));
    gst_cuda_vision_buffer_add_keypoints_meta(buffer, &keypoint, 1);
    gst_cuda_vision_buffer_add_lines_meta(buffer, &line, 1);
  });
  ASSERT_EQ(carried.regions.size(), 1u);
  EXPECT_EQ(carried.regions[0]->x, 20u);
  EXPECT_EQ(carried.regions[0]->y, 30u);
  EXPECT_EQ(carried.regions[0]->w, 40u);
  EXPECT_EQ(carried.regions[0]->h, 50u);
  const GstStructure *own = gst_video_region_of_interest_meta_get_param(carried.regions[0], "tracking");
  ASSERT_NE(own, nullptr);
  gdouble x = 0, velocity = 0;
  EXPECT_TRUE(
      gst_structure_get(own, "x", G_TYPE_DOUBLE, &x, "velocity-y", G_TYPE_DOUBLE, &velocity, nullptr));
  EXPECT_NEAR(x, 20.5, 1e-9);
  EXPECT_NEAR(velocity, -20, 1e-6);
  GstCudaVisionKeypoint point{};
  ASSERT_TRUE(gst_cuda_vision_keypoints_meta_get_keypoint(
      gst_cuda_vision_buffer_get_keypoints_meta(carried.buffer.get()), 0, &point));
  EXPECT_EQ(point.x, keypoint.x);
  EXPECT_EQ(point.y, keypoint.y);
  EXPECT_EQ(point.response, keypoint.response);
  EXPECT_NEAR(point.angle, keypoint.angle, 1e-6);
  GstCudaVisionLine same{};
  ASSERT_TRUE(gst_cuda_vision_lines_meta_get_line(gst_cuda_vision_buffer_get_lines_meta(carried.buffer.get()),
                                                  0, &same));
  EXPECT_EQ(same.rho, 100);
  EXPECT_EQ(same.theta, 0);
  EXPECT_EQ(same.votes, 9u);
  EXPECT_EQ(same.y2, 239);
}

TEST_F(CudaRectify, points_and_lines_go_to_their_places) {
  const GstCudaVisionKeypoint keypoints[] = {{100, 50, 1, 0}, {319, 239, 1, 0}};
  // x + y = 100 from (0, 100) to (100, 0), whose normal is (1, 1).
  const float quarter = std::numbers::pi_v<float> / 4;
  const GstCudaVisionLine line{100 / std::sqrt(2.0f), quarter, 5, 0, 100, 100, 0};
  const Carried carried = carry(kTwice, {600, 400}, [&](GstBuffer *buffer) {
    gst_cuda_vision_buffer_add_keypoints_meta(buffer, keypoints, 2);
    gst_cuda_vision_buffer_add_lines_meta(buffer, &line, 1);
  });
  auto *points = gst_cuda_vision_buffer_get_keypoints_meta(carried.buffer.get());
  ASSERT_EQ(gst_cuda_vision_keypoints_meta_get_n(points), 1u);
  GstCudaVisionKeypoint point{};
  gst_cuda_vision_keypoints_meta_get_keypoint(points, 0, &point);
  EXPECT_NEAR(point.x, 210, 1.0 / 256);
  EXPECT_NEAR(point.y, 94, 1.0 / 256);
  GstCudaVisionLine moved{};
  ASSERT_TRUE(gst_cuda_vision_lines_meta_get_line(gst_cuda_vision_buffer_get_lines_meta(carried.buffer.get()),
                                                  0, &moved));
  // x' + y' = 2 (x + y) + 10 - 6; the end above the picture is cut off at y' = 0.
  EXPECT_NEAR(moved.rho, 204 / std::sqrt(2.0f), 1e-3);
  EXPECT_NEAR(moved.theta, quarter, 1e-6);
  EXPECT_NEAR(moved.x1, 10, 1e-3);
  EXPECT_NEAR(moved.y1, 194, 1e-3);
  EXPECT_NEAR(moved.x2, 204, 1e-3);
  EXPECT_NEAR(moved.y2, 0, 1e-3);
}

// The horizon lies at y = 50. What is below it, (100, y), is seen at (100, y) / (0.01 y - 0.5), on y' = x' / 2 + 100.
TEST_F(CudaRectify, a_line_that_crosses_the_horizon_is_cut_off) {
  const GstCudaVisionLine lines[] = {
      {100, 0, 9, 100, 10, 100, 200}, {100, 0, 9, 100, 200, 100, 10}, {100, 0, 9, 100, 10, 100, 40}};
  const Carried carried =
      carry("view=plane homography=\"1 0 0 0 1 0 0 0.01 -0.5\"", {600, 400},
            [&](GstBuffer *buffer) { gst_cuda_vision_buffer_add_lines_meta(buffer, lines, 3); });
  auto *meta = gst_cuda_vision_buffer_get_lines_meta(carried.buffer.get());
  ASSERT_EQ(gst_cuda_vision_lines_meta_get_n(meta), 2u);
  for (guint i = 0; i < 2; ++i) {
    GstCudaVisionLine line{};
    ASSERT_TRUE(gst_cuda_vision_lines_meta_get_line(meta, i, &line));
    EXPECT_NEAR(line.x1, 100 / 1.5, 1e-2);
    EXPECT_NEAR(line.y1, 200 / 1.5, 1e-2);
    EXPECT_NEAR(line.x2, 598, 1e-2);
    EXPECT_NEAR(line.y2, 399, 1e-2);
  }
}

TEST_F(CudaRectify, marks_and_shapes_of_zones_go_along) {
  const Owned<GstElement> line = parse(
      "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=320,height=240 ! "
      "cudavisionzones zones=\"{\\\"lines\\\": [{\\\"name\\\": \\\"door\\\", \\\"from\\\": [20, 30], "
      "\\\"to\\\": [50, 70]}]}\" ! "
      "cudarectify backend=" +
      backend() +
      " view=plane homography=\"2 0 10 0 2 -6 0 0 1\" ! fakesink name=sink enable-last-sample=true");
  ASSERT_TRUE(plays_to_the_end(line));
  GstSample *last = nullptr;
  g_object_get(child(line, "sink"), "last-sample", &last, nullptr);
  const Owned<GstSample> sample(last);
  ASSERT_TRUE(sample);
  GstCustomMeta *meta = gst_buffer_get_custom_meta(gst_sample_get_buffer(last), "GstCudaVisionZonesMeta");
  ASSERT_NE(meta, nullptr);
  g_autofree gchar *text = gst_structure_to_string(gst_custom_meta_get_structure(meta));
  for (const char *part : {"width=(int)320", "door", "(double\\\\\\)49.5", "(double\\\\\\)53.5",
                           "(double\\\\\\)109.5", "(double\\\\\\)133.5"})
    EXPECT_NE(std::string(text).find(part), std::string::npos) << part << " in " << text;
}

}  // namespace
