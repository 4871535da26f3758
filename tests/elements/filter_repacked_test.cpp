// SPDX-License-Identifier: LGPL-2.1-or-later
// Formats that elements repack into 8 bits. The expected frame is that of the 8-bit format with the same
// picture; GStreamer's own functions unpack both.
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/elements/cuda_memory.h"
#include "tests/elements/every_element.h"
#include "tests/elements/harness.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

// Components 0 to 2 and alpha of a pixel, in 16 bits.
using Pixel = std::array<guint16, 4>;

// The pixels of a frame, row by row. Bits that the format does not have are 0.
std::vector<Pixel> unpacked(const VideoFrame &frame, const std::vector<std::uint8_t> &bytes) {
  const GstVideoInfo &info = frame.info();
  const GstVideoFormat format = info.finfo->unpack_format;
  const bool wide = format == GST_VIDEO_FORMAT_AYUV64 || format == GST_VIDEO_FORMAT_ARGB64;
  const auto width = static_cast<std::size_t>(info.width);
  gpointer planes[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
    planes[i] = const_cast<std::uint8_t *>(bytes.data()) + info.offset[i];
    strides[i] = info.stride[i];
  }
  std::vector<Pixel> pixels;
  std::vector<guint16> words(width * 4);
  std::vector<guint8> eights(width * 4);
  for (gint y = 0; y < info.height; ++y) {
    info.finfo->unpack_func(info.finfo, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE,
                            wide ? static_cast<gpointer>(words.data()) : eights.data(), planes, strides, 0, y,
                            info.width);
    for (std::size_t i = 0; i < width * 4; i += 4) {
      const auto at = [&](std::size_t c) {
        return wide ? words[i + c] : static_cast<guint16>(eights[i + c] << 8);
      };
      pixels.push_back({at(1), at(2), at(3), at(0)});
    }
  }
  return pixels;
}

// The frame in the format of 8 bits.
VideoFrame eight_of(const VideoFrame &frame, const char *format) {
  VideoFrame eight(format, frame.size());
  eight.set_colorimetry(frame.colorimetry());
  const std::vector<Pixel> pixels = unpacked(frame, frame.bytes());
  const auto at = [&](int x, int y, std::size_t component) {
    const auto pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.size().width) +
                       static_cast<std::size_t>(x);
    return static_cast<std::uint8_t>(pixels[pixel][component] >> 8);
  };
  for (int c = 0; c < eight.component_count(); ++c)
    for (int y = 0; y < eight.component_size(c).height; ++y)
      for (int x = 0; x < eight.component_size(c).width; ++x)
        eight.sample(c, x, y) = at(x << eight.shift_x(c), y << eight.shift_y(c), static_cast<std::size_t>(c));
  if (std::string(format) == "RGBA")
    for (int y = 0; y < frame.size().height; ++y)
      for (int x = 0; x < frame.size().width; ++x) (&eight.sample(0, x, y))[3] = at(x, y, 3);
  return eight;
}

// Names and bytes of all tensors of a frame.
std::vector<std::string> tensors_of(const Owned<GstBuffer> &buffer) {
  std::vector<std::string> all;
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer.get(), &state, GST_CUDA_VISION_TENSOR_META_API_TYPE)) {
    auto *tensor = reinterpret_cast<GstCudaVisionTensorMeta *>(meta);
    const auto bytes = elements_of<char>(tensor->data, gst_cuda_vision_tensor_meta_get_size(tensor));
    all.push_back(g_quark_to_string(tensor->id) + std::string(":") + std::string(bytes.begin(), bytes.end()));
  }
  return all;
}

// Frames of the format come out as frames of 8 bits do, with the same tensors; bits below the eighth stay, but for
// elements that make new frames, whose own tests check them.
void expect_as_eight(const Repacked &repacked, const std::string &description, Size size,
                     const std::string &colorimetry) {
  SCOPED_TRACE(description);
  Harness wide_element(description), eight_element(description);
  const bool alpha = std::string(repacked.eight) == "RGBA",
             makes_new = description.starts_with("cudarectify");
  for (unsigned seed = 1; seed <= 2; ++seed) {  // optical flow needs two
    VideoFrame wide(repacked.format, size, seed);
    if (!colorimetry.empty() && !wide.is_rgb()) wide.set_colorimetry(colorimetry);
    const VideoFrame eight = eight_of(wide, repacked.eight);
    const Owned<GstBuffer> wide_out = buffer_from(&wide_element, wide),
                           eight_out = buffer_from(&eight_element, eight);
    EXPECT_TRUE(tensors_of(wide_out) == tensors_of(eight_out));
    const std::vector<Pixel> before = unpacked(wide, wide.bytes()),
                             after = unpacked(wide, bytes_of(wide_out.get())),
                             wanted = unpacked(eight, bytes_of(eight_out.get()));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < after.size(); ++i)
      for (std::size_t c = 0; c < 4; ++c) {
        const int top = c == 3 && !alpha ? before[i][3] >> 8 : wanted[i][c] >> 8;
        const int low = makes_new ? after[i][c] & 255 : before[i][c] & 255;
        const bool is_opaque = after[i][c] >= 0xc000;  // two bits of alpha that the 8-bit format lacks
        wrong += c == 3 && !alpha && makes_new ? !is_opaque : after[i][c] != (top << 8 | low);
      }
    EXPECT_EQ(wrong, 0u) << "samples of frame " << seed;
  }
}

class FilterRepacked : public ElementTest, public testing::WithParamInterface<Repacked> {};
INSTANTIATE_TEST_SUITE_P(, FilterRepacked, testing::ValuesIn(kRepacked),
                         [](const auto &format) { return std::string(format.param.format); });

TEST_P(FilterRepacked, every_element_gives_what_it_gives_for_8_bits) {
  for (const std::string &description :
       every_element({.property = "display",
       .own = {"cudacanny", "cudacanny display=false",
               "cudacanny output=overlay color=0x80ff8000 roi-x=5 roi-y=3 roi-width=20",
               "cudahistogram mode=channels", "cudahistogram display=false", "cudahog",
               "cudahog display=false", "cudahough threshold=20", "cudabgsub output=mask open=0 close=0",
               "cudabgsub output=background"},
       .left_out = {
           {"cudavisionoverlay", "has nothing to draw in these frames"},
           {"cudavisionredact", "keeps no lower bits of what it hides, which its own test checks"}}}))
    expect_as_eight(GetParam(), description, {45, 33}, "");
}

TEST_P(FilterRepacked, colours_follow_the_colorimetry) {
  for (const char *colorimetry : {"bt2020-10", "1:4:0:0"})  // limited and full range
    expect_as_eight(GetParam(), "cudacanny output=overlay color=0x80ff8000", {18, 14}, colorimetry);
}

TEST_P(FilterRepacked, sizes_of_one_pixel_work) {
  for (const Size size : {Size{1, 1}, Size{2, 1}, Size{1, 3}})
    expect_as_eight(GetParam(), "cudacanny", size, "");
}

// --- the range of 16-bit grey ---

// A frame of 16-bit grey whose values rise from `first` on by `step` along each row.
VideoFrame ramp(Size size, int first, int step) {
  VideoFrame frame("GRAY16_LE", size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int value = first + x * step;
      (&frame.sample(0, x, y))[0] = static_cast<std::uint8_t>(value & 255);
      (&frame.sample(0, x, y))[1] = static_cast<std::uint8_t>(value >> 8);
    }
  return frame;
}
int value_at(const std::vector<std::uint8_t> &bytes, const VideoFrame &frame, int x, int y) {
  const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.info().stride[0]) +
                         static_cast<std::size_t>(x) * 2;
  return bytes[at] | bytes[at + 1] << 8;
}

class FilterGray16 : public ElementTest {};

TEST_F(FilterGray16, range_decides_which_values_count) {
  const VideoFrame frame = ramp({64, 20}, 7000, 10);
  for (const auto &[range, first, last] : {std::tuple{"", 27, 29},  // 7000 / 256, 7630 / 256
                                           std::tuple{"gray16-min=7000 gray16-max=7639", 0, 252},
                                           std::tuple{"gray16-min=7300 gray16-max=7309", 0, 255}}) {
    Harness histogram(std::string("cudahistogram display=false ") + range);
    const auto counts = elements_of<std::uint32_t>(tensor_of(buffer_from(&histogram, frame), "histogram"));
    std::vector<int> seen;
    for (int i = 0; i < 256; ++i)
      if (counts[static_cast<std::size_t>(i)] != 0) seen.push_back(i);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front(), first) << range;
    EXPECT_EQ(seen.back(), last) << range;
  }
}

TEST_F(FilterGray16, drawing_writes_values_of_the_range) {
  const VideoFrame frame = ramp({64, 20}, 7000, 10);
  Harness canny("cudacanny gray16-min=7000 gray16-max=7639 low-threshold=5 high-threshold=5");
  const std::vector<std::uint8_t> out = canny.work(frame);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 64; ++x) {
      const int value = value_at(out, frame, x, y);
      EXPECT_TRUE(value == 7000 || value == 7639 || value == 7000 + x * 10) << value;
    }
}

TEST_F(FilterGray16, empty_range_is_an_error_at_the_start_and_a_warning_later) {
  const Owned<GstElement> element = parse("cudacanny gray16-min=9 gray16-max=9 backend=" + backend());
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "gray16-min must be less than gray16-max"));
  Harness harness("cudacanny gray16-max=7639");
  const VideoFrame frame = ramp({40, 10}, 7000, 10);
  const std::vector<std::uint8_t> before = harness.work(frame);
  set(harness.element(), "gray16-min", "8000");
  EXPECT_TRUE(harness.work(frame) == before) << "the last valid values stay in force";
  EXPECT_TRUE(
      is(take_warning(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "gray16-min"));
  harness.work(frame);
  EXPECT_FALSE(take_warning(harness.element())) << "one warning is enough";
}

// --- interlaced video ---

class FilterInterlaced : public ElementTest {};

TEST_F(FilterInterlaced, is_refused_with_a_hint) {
  for (const char *mode : {"interleaved", "fields"}) {
    Harness harness;
    gst_harness_set_src_caps_str(
        harness.get(),
        (std::string("video/x-raw,format=I420,width=16,height=16,framerate=25/1,") + "interlace-mode=" + mode)
            .c_str());
    EXPECT_EQ(harness.push(VideoFrame("I420", {16, 16}).buffer()), GST_FLOW_NOT_NEGOTIATED) << mode;
    EXPECT_TRUE(is(take_error(harness.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "deinterlace"))
        << mode;
  }
}

TEST_F(FilterInterlaced, frames_of_mixed_video_warn_once) {
  for (const char *mode : {"mixed", "progressive"}) {
    Harness harness;
    const VideoFrame frame("I420", {16, 16});
    harness.negotiate(frame);
    Owned<GstCaps> caps = frame.caps();
    gst_caps_set_simple(caps.get(), "interlace-mode", G_TYPE_STRING, mode, nullptr);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_caps(caps.get())));
    const auto send = [&](bool interlaced) {
      Owned<GstBuffer> buffer = frame.buffer();
      if (interlaced) GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
      EXPECT_NE(harness.exchange(std::move(buffer)), nullptr);
    };
    send(false);
    EXPECT_FALSE(take_warning(harness.element())) << mode;
    send(true);
    EXPECT_EQ(is(take_warning(harness.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "deinterlace"),
              mode == std::string("mixed"));
    send(true);
    EXPECT_FALSE(take_warning(harness.element())) << mode;
  }
}

// --- CUDA memory ---

class CudaMemoryRepacked : public CudaMemoryTest, public testing::WithParamInterface<Repacked> {};
INSTANTIATE_TEST_SUITE_P(, CudaMemoryRepacked, testing::ValuesIn(kRepacked),
                         [](const auto &format) { return std::string(format.param.format); });

TEST_P(CudaMemoryRepacked, frames_in_cuda_memory_equal_those_in_system_memory) {
  const VideoFrame frame(GetParam().format, {44, 32}, 5);
  if (!is_cuda_format(GetParam().format)) GTEST_SKIP() << "this GStreamer has no such CUDA memory";
  const CudaSource source;
  for (const char *description :
       {"cudacanny output=overlay color=0x80ff8000", "cudahistogram mode=channels"}) {
    SCOPED_TRACE(description);
    Harness in_system(description);
    CudaHarness in_cuda(description);
    in_cuda.negotiate_cuda(frame);
    const Owned<GstBuffer> expected = buffer_from(&in_system, frame),
                           actual = in_cuda.exchange(source.buffer(frame));
    ASSERT_NE(actual, nullptr);
    EXPECT_TRUE(is_cuda(actual.get()));
    EXPECT_TRUE(samples_of(actual.get(), frame) == samples_of(expected.get(), frame));
    EXPECT_TRUE(tensors_of(actual) == tensors_of(expected));
  }
}

}  // namespace
