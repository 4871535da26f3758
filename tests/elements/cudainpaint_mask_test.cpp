// SPDX-License-Identifier: LGPL-2.1-or-later
// The masks of cudainpaint: from files, colours, transparency and regions of interest.
#include <glib/gstdio.h>
#include <gst/video/video.h>
#include <png.h>
#include <sys/stat.h>
#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/drawn_frame.h"
#include "tests/elements/hog_reference.h"
#include "tests/elements/inpaint_reference.h"
#include "tests/elements/picture_file.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::InpaintParams;
using cudavision::Region;
using cudavision::Size;

constexpr Size kSize{40, 32};
constexpr char kSmall[] = "cudainpaint patch-size=5 ";

InpaintParams small_params() {
  InpaintParams params;
  params.patch_size = 5;
  return params;
}

class CudaInpaintMask : public ElementTest {
 protected:
  void SetUp() override {
    ElementTest::SetUp();
    gchar *made = g_dir_make_tmp("cudainpaint-XXXXXX", nullptr);
    ASSERT_NE(made, nullptr);
    folder_ = made;
    g_free(made);
  }
  void TearDown() override {
    for (const std::string &file : files_) g_unlink(file.c_str());
    g_rmdir(folder_.c_str());
    ElementTest::TearDown();
  }

  std::string path(const std::string &name) {
    files_.push_back(folder_ + "/" + name);
    return files_.back();
  }
  // Saves a picture that is white where the mask is not 0 and black elsewhere, and returns its path.
  std::string save(const Picture &mask, const std::string &name) {
    return save(png_file(mask, {8, PNG_COLOR_TYPE_RGB}), name);
  }
  std::string save(const std::string &bytes, const std::string &name) {
    const std::string location = path(name);
    std::ofstream(location, std::ios::binary) << bytes;
    return location;
  }

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

TEST_F(CudaInpaintMask, pictures_of_any_size_are_scaled_to_the_frame) {
  const VideoFrame frame("NV12", kSize, 1);
  const VideoFrame expected = with_filled(frame, mask_of(kSize, {{12, 8, 8, 8}}), small_params());
  for (const auto &[scale_2, name] : {std::pair{2, "same.png"}, {4, "twice.png"}, {1, "half.png"}}) {
    const Picture mask = mask_of({kSize.width * scale_2 / 2, kSize.height * scale_2 / 2},
                                 {{12 * scale_2 / 2, 8 * scale_2 / 2, 8 * scale_2 / 2, 8 * scale_2 / 2}});
    Harness inpaint(kSmall + ("mask-location=" + save(mask, name)));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(same_bytes(inpaint.work(frame), expected)) << name;
  }
}

// The ratios are no integers. The width is enlarged: a pixel takes the picture pixel that contains its
// centre. The height is reduced: a pixel is set if any picture pixel that it covers, even in part, is set.
TEST_F(CudaInpaintMask, scaling_takes_the_nearest_pixel_or_any) {
  const VideoFrame frame("RGB", kSize, 2);
  const Size size{27, 50};
  Picture mask(size), expected(kSize);
  for (int y = 20; y < 27; ++y)
    for (int x = 9; x < 14; ++x) mask.at(x, y) = 255;
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x)
      for (int j = 0; j < size.height; ++j)
        if (j + 1 > y * (50 / 32.0) && j < (y + 1) * (50 / 32.0))
          expected.at(x, y) |= mask.at(static_cast<int>((x + 0.5) * size.width / kSize.width), j);
  Harness inpaint(kSmall + ("mask-location=" + save(mask, "odd.png")));
  EXPECT_TRUE(same_bytes(inpaint.work(frame), with_filled(frame, expected, small_params())));
}

// The lines are one pixel wide in a picture four times as large as the frame.
TEST_F(CudaInpaintMask, thin_masks_survive_the_scaling) {
  const VideoFrame frame("RGB", kSize, 2);
  const Size large{kSize.width * 4, kSize.height * 4};
  const Picture mask = mask_of(large, {{41, 32, 1, 40}, {80, 50, 40, 1}});
  Harness inpaint(kSmall + ("mask-location=" + save(mask, "thin.png")));
  EXPECT_TRUE(
      same_bytes(inpaint.work(frame),
                 with_filled(frame, mask_of(kSize, {{10, 8, 1, 10}, {20, 12, 10, 1}}), small_params())));
}

TEST_F(CudaInpaintMask, transparent_white_removes_nothing) {
  const VideoFrame frame("RGB", kSize, 2);
  const Picture mask = mask_of(kSize, {{12, 8, 8, 8}});
  Picture seen = mask;
  for (std::uint8_t &pixel : seen.pixels()) pixel = pixel != 0 ? kTransparent : kDark;
  const PngKind kind{8, PNG_COLOR_TYPE_RGB_ALPHA, false, true, 127};
  PngKind more_opaque = kind;
  more_opaque.alpha = 128;
  Harness faint(kSmall + ("mask-location=" + save(png_file(seen, kind), "faint.png"))),
      solid(kSmall + ("mask-location=" + save(png_file(seen, more_opaque), "solid.png")));
  EXPECT_TRUE(same_bytes(faint.work(frame), frame));
  EXPECT_TRUE(same_bytes(solid.work(frame), with_filled(frame, mask, small_params())));
}

TEST_F(CudaInpaintMask, mask_follows_new_caps) {
  const Picture mask = mask_of(kSize, {{12, 8, 8, 8}});
  Harness inpaint(kSmall + ("mask-location=" + save(mask, "mask.png")));
  const VideoFrame frame("RGB", kSize, 3), large("I420", {80, 64}, 4);
  EXPECT_TRUE(same_bytes(inpaint.work(frame), with_filled(frame, mask, small_params())));
  EXPECT_TRUE(same_bytes(inpaint.work(large),
                         with_filled(large, mask_of({80, 64}, {{24, 16, 16, 16}}), small_params())));
}

// The error of an element with this mask, which does not start.
std::optional<Complaint> error_of_mask(const std::string &location) {
  const Owned<GstElement> inpaint = parse("cudainpaint backend=" + backend() + " mask-location=" + location);
  EXPECT_EQ(gst_element_set_state(inpaint.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  return take_error(inpaint.get());
}

// The cyclic redundancy check of PNG: ISO/IEC 15948:2003, annex D.
guint32 crc_of(const std::string &bytes) {
  guint32 crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (0xedb88320 & (0u - (crc & 1)));
  }
  return ~crc;
}

std::string big_endian(guint32 number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}

// A file of some kilobytes may hold a picture of gigabytes: the header says so.
TEST_F(CudaInpaintMask, pictures_of_too_many_pixels_are_refused_by_their_header) {
  const std::string location = path("large.png");
  for (const auto &[width, height] : {std::pair{20000u, 20000u}, {16385u, 1u}, {8192u, 4097u}}) {
    const std::string chunk = "IHDR" + big_endian(width) + big_endian(height) + std::string("\1\0\0\0\0", 5);
    const std::string file =
        "\x89PNG\r\n\x1a\n" + big_endian(13) + chunk + big_endian(crc_of(chunk)) + big_endian(100) + "IDAT";
    ASSERT_TRUE(
        g_file_set_contents(location.c_str(), file.data(), static_cast<gssize>(file.size()), nullptr));
    EXPECT_TRUE(is(error_of_mask(location), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "it has " + std::to_string(width) + "x" + std::to_string(height) + " pixels"));
  }
}

TEST_F(CudaInpaintMask, other_formats_are_refused) {
  // A bitmap of one pixel: its headers of 14 and 40 bytes, and its pixel.
  std::string file = "BM" + std::string(56, '\0');
  for (const auto &[at, value] : {std::pair{2, 58}, {10, 54}, {14, 40}, {18, 1}, {22, 1}, {26, 1}, {28, 24}})
    file[static_cast<std::size_t>(at)] = static_cast<char>(value);
  const std::string location = path("mask.bmp");
  ASSERT_TRUE(g_file_set_contents(location.c_str(), file.data(), static_cast<gssize>(file.size()), nullptr));
  EXPECT_TRUE(
      is(error_of_mask(location), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "it is no PNG picture"));
}

TEST_F(CudaInpaintMask, what_is_no_file_is_refused_before_it_is_opened) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string &location : {pipe, std::string("/dev/zero")})
    EXPECT_TRUE(is(error_of_mask(location), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "it is a pipe or a device, not a file"));
}

// The time depends on the number of regions, not on their area: four thousand regions once took seconds.
TEST_F(CudaInpaintMask, thousands_of_overlapping_regions_remove_their_union) {
  const VideoFrame frame("NV12", kSize, 5);
  Harness inpaint(kSmall + std::string("remove-type=box"));
  inpaint.negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  for (guint i = 0; i < 4096; ++i)
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "box", 12 + i % 3, 8 + i % 5, 1 + i % 6,
                                                 1 + i % 4);
  const Owned<GstBuffer> out = inpaint.exchange(std::move(buffer));
  EXPECT_TRUE(
      same_bytes(bytes_of(out.get()), with_filled(frame, mask_of(kSize, {{12, 8, 8, 8}}), small_params())));
}

TEST_F(CudaInpaintMask, missing_and_broken_files_fail_at_the_start) {
  const std::string broken = path("broken.png");
  ASSERT_TRUE(g_file_set_contents(broken.c_str(), "no picture", -1, nullptr));
  for (const auto &[location, code] :
       {std::pair{path("missing.png"), GST_RESOURCE_ERROR_NOT_FOUND}, {broken, GST_RESOURCE_ERROR_READ}}) {
    const Owned<GstElement> element =
        parse("cudainpaint mask-location=" + location + " backend=" + backend());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, code, location));
    // The element starts without the property.
    g_object_set(element.get(), "mask-location", nullptr, nullptr);
    EXPECT_NE(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  }
}

// --- colour and transparency ---

TEST_F(CudaInpaintMask, color_is_removed_in_every_format) {
  for (const std::string &format : kFormats) {
    SCOPED_TRACE(format);
    VideoFrame frame(format, kSize, 5);
    const std::uint32_t argb = 0xff20e030;
    const cudavision::Color color = color_in(frame, argb);
    cudavision::Frame view = view_of(&frame);
    for (int y = 8; y < 16; ++y)
      for (int x = 14; x < 22; ++x)
        for (int c = 0; c < frame.component_count(); ++c)
          view.component[c].at(x, y) = static_cast<std::uint8_t>(color.component[c] + (x + y) % 3);
    Picture mask(kSize);
    for (int y = 0; y < kSize.height; ++y)
      for (int x = 0; x < kSize.width; ++x) {
        bool near = true;
        for (int c = 0; c < frame.component_count(); ++c)
          near = near && std::abs(view.component[c].at(x, y) - color.component[c]) <= 2;
        mask.at(x, y) = near;
      }
    EXPECT_GE(count_of(mask, std::uint8_t{1}), 64);
    Harness inpaint(kSmall + std::string("mask-color=0xff20e030 mask-tolerance=2"));
    EXPECT_TRUE(same_bytes(inpaint.work(frame), with_filled(frame, mask, small_params())));
    set(inpaint.element(), "mask-color", "none");
    EXPECT_TRUE(same_bytes(inpaint.pass(frame), frame));
  }
}

TEST_F(CudaInpaintMask, opacity_of_the_colour_does_not_count) {
  VideoFrame frame("RGB", kSize, 6);
  for (int c = 0; c < 3; ++c)
    for (int y = 8; y < 14; ++y)
      for (int x = 10; x < 20; ++x) frame.sample(c, x, y) = static_cast<std::uint8_t>(10 + c);
  Harness one(kSmall + std::string("mask-color=#0a0b0c mask-tolerance=0")),
      other(kSmall + std::string("mask-color=0x000a0b0c mask-tolerance=0"));
  const std::vector<std::uint8_t> filled = one.work(frame);
  EXPECT_FALSE(same_bytes(filled, frame));
  EXPECT_EQ(other.work(frame), filled);
}

std::string take_info(GstElement *element) {
  const Owned<GstMessage> message = take_message(element, GST_MESSAGE_INFO);
  if (!message) return {};
  GError *info = nullptr;
  gst_message_parse_info(message.get(), &info, nullptr);
  const std::string text = info->message;
  g_error_free(info);
  return text;
}

TEST_F(CudaInpaintMask, nothing_to_remove_is_told_once) {
  const VideoFrame frame("RGB", kSize, 6);
  Harness inpaint("cudainpaint");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(same_bytes(inpaint.pass(frame), frame));
  EXPECT_NE(take_info(inpaint.element()).find("no property selects what to remove: set mask-location"),
            std::string::npos);
  EXPECT_EQ(take_info(inpaint.element()), "");
  for (const char *selects :
       {"mask-color=red", "mask-alpha=true", "remove-type=person", "region-width=3 region-height=2"})
    EXPECT_EQ(take_info(Harness(std::string("cudainpaint ") + selects).element()), "") << selects;
}

TEST_F(CudaInpaintMask, region_that_reaches_beyond_the_frame_is_told_once) {
  const VideoFrame frame("RGB", kSize, 6);
  Harness inpaint(kSmall + std::string("region-x=40 region-y=5 region-width=100 region-height=4"));
  for (int i = 0; i < 2; ++i) inpaint.work(frame);
  EXPECT_TRUE(is(take_warning(inpaint.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "100x4 pixels at (40, 5), reaches beyond the frame of"));
  EXPECT_FALSE(take_warning(inpaint.element()));
  set(inpaint.element(), "region-x", "45");  // it moves along
  inpaint.work(frame);
  EXPECT_FALSE(take_warning(inpaint.element()));
  set(inpaint.element(), "region-x", "1");
  set(inpaint.element(), "region-width", "2");
  inpaint.work(frame);
  EXPECT_FALSE(take_warning(inpaint.element())) << "it lies inside";
  set(inpaint.element(), "region-x", "70");
  inpaint.pass(frame);
  EXPECT_FALSE(take_warning(inpaint.element())) << "outside again";
}

TEST_F(CudaInpaintMask, transparent_pixels_are_removed_and_become_opaque) {
  for (const char *format : {"RGBA", "BGRA"}) {
    VideoFrame frame(format, kSize, 6);
    const Picture mask = mask_of(kSize, {{10, 8, 9, 7}, {30, 20, 3, 4}});
    for (int y = 0; y < kSize.height; ++y)
      for (int x = 0; x < kSize.width; ++x)
        frame.sample(3, x, y) = mask.at(x, y) != 0 ? static_cast<std::uint8_t>((x * y) % 128)
                                                   : static_cast<std::uint8_t>(128 + x);
    Harness inpaint(kSmall + std::string("mask-alpha=true"));
    EXPECT_TRUE(same_bytes(inpaint.work(frame), with_filled(frame, mask, small_params(), true))) << format;
    set(inpaint.element(), "mask-alpha", "false");
    EXPECT_TRUE(same_bytes(inpaint.pass(frame), frame)) << format;
  }
  // In a format without alpha nothing is transparent, whatever value the fourth byte has.
  const VideoFrame frame("RGBx", kSize, 7);
  Harness inpaint("cudainpaint mask-alpha=true");
  EXPECT_TRUE(same_bytes(inpaint.pass(frame), frame));
}

// --- regions of interest ---

Owned<GstBuffer> with_boxes(const VideoFrame &frame,
                            const std::vector<std::pair<const char *, Region>> &boxes) {
  Owned<GstBuffer> buffer = frame.buffer();
  for (const auto &[type, r] : boxes)
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), type, static_cast<guint>(r.x),
                                                 static_cast<guint>(r.y), static_cast<guint>(r.width),
                                                 static_cast<guint>(r.height));
  return buffer;
}

TEST_F(CudaInpaintMask, regions_of_interest_of_the_type_are_removed) {
  const VideoFrame frame("NV12", kSize, 8);
  const std::vector<std::pair<const char *, Region>> boxes = {
      {"person", {6, 6, 8, 10}}, {"car", {24, 4, 6, 6}}, {"person", {28, 20, 6, 8}}};
  const struct {
    const char *type;
    std::vector<Region> removed;
  } cases[] = {{"person", {boxes[0].second, boxes[2].second}},
               {"car", {boxes[1].second}},
               {"*", {boxes[0].second, boxes[1].second, boxes[2].second}},
               {"a-type-never-used", {}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.type);
    Harness inpaint(kSmall + std::string("remove-type=") + c.type);
    inpaint.negotiate(frame);
    const Owned<GstBuffer> out = inpaint.exchange(with_boxes(frame, boxes));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(
        same_bytes(bytes_of(out.get()), with_filled(frame, mask_of(kSize, c.removed), small_params())));
    // The metas stay on the buffer for the elements downstream.
    EXPECT_EQ(gst_buffer_get_n_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 3u);
    EXPECT_TRUE(same_bytes(inpaint.pass(frame), frame)) << "a frame without boxes";
  }
}

TEST_F(CudaInpaintMask, mask_is_attached_on_request) {
  const VideoFrame frame("NV12", kSize, 8);
  const Region region{6, 5, 8, 10};
  const std::string described =
      kSmall + std::string("region-x=6 region-y=5 region-width=8 region-height=10 ");
  for (const char *display : {"true", "false"}) {
    SCOPED_TRACE(display);
    Harness inpaint(described + "attach-mask=true display=" + display);
    const Owned<GstBuffer> out = buffer_from(&inpaint, frame);
    const GstCudaVisionTensorMeta *mask = tensor_of(out, "removal-mask");
    ASSERT_NE(mask, nullptr);
    EXPECT_EQ(dims_of(mask), (std::vector<std::size_t>{32, 40}));
    EXPECT_EQ(geometry_of(mask), (Geometry{40, 32, 0, 0, 1, 1}));
    EXPECT_EQ(elements_of<std::uint8_t>(mask), mask_of(kSize, {region}).pixels());
    EXPECT_TRUE(
        same_bytes(bytes_of(out.get()),
                   *display == 't' ? with_filled(frame, mask_of(kSize, {region}), small_params()) : frame));
  }
  Harness nothing(kSmall + std::string("attach-mask=true"));
  EXPECT_EQ(elements_of<std::uint8_t>(tensor_of(buffer_from(&nothing, frame), "removal-mask")),
            std::vector<std::uint8_t>(40 * 32, 0));
  Harness unasked(described);
  EXPECT_EQ(tensor_count(buffer_from(&unasked, frame)), 0);
}

#if CUDAVISION_HAVE_ANALYTICS
TEST_F(CudaInpaintMask, object_detections_of_the_type_are_removed) {
  const VideoFrame frame("NV12", kSize, 8);
  Harness inpaint(kSmall + std::string("remove-type=person"));
  inpaint.negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  GstAnalyticsODMtd added;
  for (const auto &[type, x, y] :
       {std::tuple{"person", 6, 6}, std::tuple{"car", 24, 4}, std::tuple{"person", -3, 20}})
    ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string(type), x, y, 8, 7, 0.5f,
                                                       &added));
  const Owned<GstBuffer> out = inpaint.exchange(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()),
                         with_filled(frame, mask_of(kSize, {{6, 6, 8, 7}, {0, 20, 5, 7}}), small_params())));
}
#endif

TEST_F(CudaInpaintMask, boxes_beyond_the_frame_are_cut) {
  const VideoFrame frame("RGB", kSize, 9);
  Harness inpaint(kSmall + std::string("remove-type=person"));
  inpaint.negotiate(frame);
  const Owned<GstBuffer> out = inpaint.exchange(with_boxes(frame, {{"person", {34, 26, 100, G_MAXINT}},
                                                                   {"person", {-1, 3, 5, 5}},
                                                                   {"person", {20, -3, 4, 7}},
                                                                   {"person", {-9, 20, 9, 5}},
                                                                   {"person", {G_MININT, 12, G_MAXINT, 5}},
                                                                   {"person", {99, 3, 5, 5}}}));
  EXPECT_TRUE(same_bytes(
      bytes_of(out.get()),
      with_filled(frame, mask_of(kSize, {{34, 26, 6, 6}, {0, 3, 4, 5}, {20, 0, 4, 4}}), small_params())));
}

// A type whose quark does not exist yet must not match boxes without a type, whose quark is 0.
TEST_F(CudaInpaintMask, boxes_without_a_type_are_removed_only_by_the_wildcard) {
  const VideoFrame frame("RGB", kSize, 9);
  Harness type(kSmall + std::string("remove-type=a-type-of-no-box")),
      any(kSmall + std::string("remove-type=*"));
  for (Harness *inpaint : {&type, &any}) {
    inpaint->negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    gst_buffer_add_video_region_of_interest_meta_id(buffer.get(), 0, 10, 8, 7, 6);
    const Owned<GstBuffer> out = inpaint->exchange(std::move(buffer));
    EXPECT_TRUE(same_bytes(
        bytes_of(out.get()),
        inpaint == &type ? frame : with_filled(frame, mask_of(kSize, {{10, 8, 7, 6}}), small_params())));
  }
}

// Other programs may have attached null as parameters.
TEST_F(CudaInpaintMask, boxes_with_broken_parameters_are_removed) {
  const VideoFrame frame("RGB", kSize, 9);
  Harness inpaint(kSmall + std::string("remove-type=person"));
  inpaint.negotiate(frame);
  Owned<GstBuffer> buffer = with_boxes(frame, {{"person", {10, 8, 7, 6}}});
  gst_buffer_get_video_region_of_interest_meta_id(buffer.get(), 0)->params = g_list_append(nullptr, nullptr);
  const Owned<GstBuffer> out = inpaint.exchange(std::move(buffer));
  EXPECT_TRUE(
      same_bytes(bytes_of(out.get()), with_filled(frame, mask_of(kSize, {{10, 8, 7, 6}}), small_params())));
  // GStreamer would release null.
  g_clear_pointer(&gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0)->params, g_list_free);
}

// cudahog, with a model written by OpenCV, and cudainpaint in one pipeline: the detections are filled, and
// all other bytes stay unchanged.
TEST_F(CudaInpaintMask, detections_of_cudahog_are_removed) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {61, 50}, 22);
  const Boxes boxes = opencv_boxes(mat_of(frame), model.opencv(), 4, 2);
  ASSERT_FALSE(boxes.empty());
  std::vector<Region> removed;
  for (const Box &box : boxes) {
    const cv::Rect r = box.rectangle & cv::Rect(0, 0, 61, 50);
    removed.push_back({r.x, r.y, r.width, r.height});
  }
  const VideoFrame expected = with_filled(frame, mask_of(frame.size(), removed), small_params());
  ASSERT_NE(expected.bytes(), frame.bytes()) << "the boxes leave something to fill from";
  const Owned<GstElement> pipeline =
      parse("appsrc name=in format=time ! cudahog group-method=mean win-stride=4 display=false backend=" +
            backend() + " model-location=" + model.location() + " ! " + kSmall +
            "remove-type=person backend=" + backend() + " ! appsink name=out sync=false");
  EXPECT_TRUE(same_bytes(through(pipeline, frame), expected));
}

// A detector and cudainpaint on a video.
TEST_F(CudaInpaintMask, moving_object_is_removed_in_its_box) {
  Harness inpaint(kSmall + std::string("remove-type=person mode=temporal dilate=2"));
  const VideoFrame background("I420", kSize, 10);
  InpaintReference reference(kSize);
  InpaintParams params = small_params();
  params.temporal = true;
  inpaint.negotiate(background);
  for (int i = 0; i < 5; ++i) {
    const Region box{4 + 6 * i, 10, 6, 10};
    VideoFrame frame = background;
    for (int y = box.y; y < box.y + box.height; ++y)
      for (int x = box.x; x < box.x + box.width; ++x)
        frame.sample(0, x, y) = static_cast<std::uint8_t>(x * 31 + y * 17);
    const Owned<GstBuffer> out = inpaint.exchange(with_boxes(frame, {{"person", box}}));
    const Picture mask = mask_of(kSize, {{box.x - 2, box.y - 2, box.width + 4, box.height + 4}});
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), reference.filled(frame, mask, params))) << i;
    if (i > 1) {
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), background)) << i;
    }
  }
}

TEST_F(CudaInpaintMask, sources_are_combined) {
  const VideoFrame frame("BGRx", kSize, 11);
  const std::string location = save(mask_of(kSize, {{5, 4, 6, 6}}), "mask.png");
  Harness inpaint(
      kSmall +
      ("remove-type=person region-x=30 region-y=22 region-width=5 region-height=5 dilate=1 mask-location=" +
       location));
  inpaint.negotiate(frame);
  const Owned<GstBuffer> out = inpaint.exchange(with_boxes(frame, {{"person", {20, 10, 4, 6}}}));
  const Picture mask = mask_of(kSize, {{4, 3, 8, 8}, {29, 21, 7, 7}, {19, 9, 6, 8}});
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_filled(frame, mask, small_params())));
}

}  // namespace
