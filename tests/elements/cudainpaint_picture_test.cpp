// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture files of cudainpaint's masks: every kind of PNG is read, and no file takes long or much memory.
#include <glib/gstdio.h>
#include <png.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "tests/elements/cost.h"
#include "tests/elements/picture_file.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaInpaintPicture : public ElementTest {
 protected:
  void SetUp() override {
    ElementTest::SetUp();
    gchar *made = nullptr;
    const int file = g_file_open_tmp("cudainpaint-XXXXXX", &made, nullptr);
    ASSERT_GE(file, 0);
    close(file);
    location_ = made;
    g_free(made);
  }
  void TearDown() override {
    g_unlink(location_.c_str());
    ElementTest::TearDown();
  }

  const std::string &location() const { return location_; }
  void write(const std::string &bytes) const { std::ofstream(location_, std::ios::binary) << bytes; }
  // What the element removes from a frame of this size with the file as its mask.
  std::vector<std::uint8_t> removed(const std::string &bytes, Size size) const {
    write(bytes);
    Harness inpaint("cudainpaint display=false attach-mask=true mask-location=" + location_);
    return elements_of<std::uint8_t>(
        tensor_of(buffer_from(&inpaint, VideoFrame("GRAY8", size, 1)), "removal-mask"));
  }
  // The error of an element with this mask; nothing if it starts.
  std::optional<Complaint> error_of(const std::string &bytes) const {
    write(bytes);
    return error();
  }
  std::optional<Complaint> error() const {
    const Owned<GstElement> inpaint =
        parse("cudainpaint backend=" + backend() + " mask-location=" + location_);
    gst_element_set_state(inpaint.get(), GST_STATE_PAUSED);
    return take_error(inpaint.get());
  }
  testing::AssertionResult is_unreadable(const std::string &bytes, const std::string &words) const {
    return is(error_of(bytes), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, words);
  }

 private:
  std::string location_;
};

// Small enough for every kind, with an odd width and pixels of all three sorts.
Picture small_mask() {
  Picture mask(Size{19, 13});
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) {
      const int sort = (x * x + 3 * y + x * y) % 3;
      mask.at(x, y) = static_cast<std::uint8_t>(sort == 0 ? kDark : sort == 1 ? kBright : kTransparent);
    }
  return mask;
}

Picture blocks() {
  Picture mask(Size{40, 24});
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x)
      mask.at(x, y) = (x < 8 && y < 16) || (x >= 16 && x < 32 && y < 8) ? kBright : kDark;
  return mask;
}

TEST_F(CudaInpaintPicture, every_kind_of_png_is_read) {
  const Picture mask = small_mask();
  const struct {
    int color_type;
    std::vector<int> bits;
  } types[] = {{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
               {PNG_COLOR_TYPE_RGB, {8, 16}},
               {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
               {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
               {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}};
  for (const auto &type : types)
    for (const int bits : type.bits)
      for (const bool transparent : {false, true}) {
        if (transparent && bits == 1) continue;  // it has no third value
        std::vector<std::uint8_t> expected;
        for (const std::uint8_t pixel : mask.pixels())
          expected.push_back(pixel == kBright || (pixel == kTransparent && !transparent) ? 255 : 0);
        EXPECT_EQ(removed(png_file(mask, {bits, type.color_type, false, transparent}), mask.size()), expected)
            << "type " << type.color_type << ", " << bits << " bits" << (transparent ? ", transparent" : "");
      }
}

TEST_F(CudaInpaintPicture, interlaced_pngs_are_refused) {
  EXPECT_TRUE(is_unreadable(png_file(small_mask(), {8, PNG_COLOR_TYPE_GRAY, true}), "it is interlaced"));
}

// --- files that would take long or much memory ---

std::string repeated(const std::string &text, std::size_t count) {
  std::string all;
  for (all.reserve(text.size() * count); count > 0; --count) all += text;
  return all;
}

// What so many million zeros compress to.
std::string compressed_zeros(int count) {
  Bytef zeros[10000] = {}, part[1000];
  std::string text;
  z_stream stream{};
  deflateInit(&stream, 9);
  for (int left = 100 * count, result = Z_OK; result != Z_STREAM_END; left -= left > 0 ? 1 : 0) {
    stream.next_in = zeros, stream.avail_in = left > 0 ? sizeof zeros : 0;
    do {
      stream.next_out = part, stream.avail_out = sizeof part;
      result = deflate(&stream, left > 0 ? Z_NO_FLUSH : Z_FINISH);
      text.append(reinterpret_cast<char *>(part), sizeof part - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return text;
}

// A black and opaque picture in which one pixel has this colour.
std::string picture_with(std::array<std::uint8_t, 4> rgba) {
  constexpr std::size_t kSide = 9;
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < kSide * kSide; ++i) pixels.insert(pixels.end(), {0, 0, 0, 255});
  std::copy(rgba.begin(), rgba.end(), pixels.begin() + 80);
  png_image image{};
  image.version = PNG_IMAGE_VERSION, image.format = PNG_FORMAT_RGBA;
  image.width = image.height = kSide;
  std::string file(10000, 0);
  png_alloc_size_t size = file.size();
  EXPECT_NE(png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr), 0);
  file.resize(size);
  return file;
}

Picture one_kind(int pixel) {
  Picture mask(Size{9, 9});
  std::fill(mask.pixels().begin(), mask.pixels().end(), static_cast<std::uint8_t>(pixel));
  return mask;
}

// The warnings of an element with this mask, each on a line. Its frames are a second apart.
std::string warnings_of(const std::string &location, const std::string &properties = "",
                        unsigned frames = 3) {
  Harness inpaint("cudainpaint mask-location=" + location + " " + properties);
  const VideoFrame frame("GRAY8", {40, 30}, 1);
  inpaint.negotiate(frame);
  for (unsigned i = 0; i < frames; ++i) {
    Owned<GstBuffer> buffer = frame.buffer();
    GST_BUFFER_PTS(buffer.get()) = i * GST_SECOND;
    EXPECT_NE(inpaint.exchange(std::move(buffer)), nullptr);
  }
  std::string texts;
  while (const auto warning = take_warning(inpaint.element())) texts += warning->text + "\n";
  return texts;
}

// Masks as numpy saves them, with the values 0 and 1, and masks that people painted in red.
TEST_F(CudaInpaintPicture, mask_that_selects_nothing_is_told_once) {
  for (const auto &[color, words] :
       {std::pair{std::array<std::uint8_t, 4>{0, 0, 0, 255}, "its largest luma is 0,"},
        {{1, 1, 1, 255}, "its largest luma is 1,"},
        {{255, 0, 0, 255}, "its largest luma is 76,"},
        {{127, 127, 127, 255}, "its largest luma is 127,"},
        {{255, 255, 255, 127}, "its largest luma is 0,"}}) {
    write(picture_with(color));
    const std::string texts = warnings_of(location());
    EXPECT_NE(texts.find(words), std::string::npos) << texts;
    EXPECT_EQ(texts.find('\n'), texts.size() - 1) << texts;
  }
  write(png_file(one_kind(kTransparent), {8, PNG_COLOR_TYPE_GRAY_ALPHA, false, true}));
  EXPECT_NE(warnings_of(location()).find("all its pixels are transparent"), std::string::npos);
  write(picture_with({128, 128, 128, 128}));
  EXPECT_EQ(warnings_of(location()), "");
}

TEST_F(CudaInpaintPicture, selection_outside_of_the_region_of_interest_is_told_once) {
  write(picture_with(
      {255, 255, 255, 255}));  // its pixel is at (2, 2) of 9x9, in the frame at (9, 7) to (13, 9)
  EXPECT_EQ(warnings_of(location(), "roi-x=14 patch-size=3", 5), "") << "less than 5 s have passed";
  const std::string texts = warnings_of(location(), "roi-x=14 patch-size=3", 7);
  EXPECT_NE(texts.find("selected no pixel in the region of interest"), std::string::npos) << texts;
  EXPECT_EQ(texts.find('\n'), texts.size() - 1) << texts;
  for (const char *selects :
       {"roi-x=8 patch-size=3", "roi-x=14 mask-alpha=true", "roi-x=14 remove-type=person",
        "roi-x=14 mask-color=red", "roi-x=14 display=false"})
    EXPECT_EQ(warnings_of(location(), selects, 7), "") << selects;
}

TEST_F(CudaInpaintPicture, texts_and_profiles_of_pngs_are_not_read) {
  const Picture mask = small_mask();
  const std::string plain = png_file(mask, {8, PNG_COLOR_TYPE_GRAY});
  const std::vector<std::uint8_t> expected = removed(plain, mask.size());
  const std::string zeros = compressed_zeros(7);
  const std::string text =
      with_chunk(plain, "zTXt", std::string("k\0\0", 3) + zeros).substr(33, 12 + 3 + zeros.size());
  std::string texts = plain;
  texts.insert(33, repeated(text, 400));  // 2.8 GB
  const std::string files[] = {
      texts,
      with_chunk(plain, "iTXt", std::string("k\0\1\0\0\0", 6) + zeros),
      with_chunk(plain, "iCCP", std::string("k\0\0", 3) + compressed_zeros(400)),
      with_chunk(plain, "sPLT", std::string("k\0\x08", 3) + std::string(6000000, '\1')),
      with_chunk(plain, "abCd", std::string(7000000, '\1')),
  };
  for (const std::string &file : files) {
    EXPECT_TRUE(is_cheap([&] { EXPECT_EQ(removed(file, mask.size()), expected); })) << file.substr(37, 4);
  }
}

TEST_F(CudaInpaintPicture, pictures_of_the_most_pixels_stay_in_bounds) {
  const std::string file = png_file(Picture(Size{8192, 4096}), {16, PNG_COLOR_TYPE_RGB_ALPHA});
  EXPECT_TRUE(is_cheap([&] { EXPECT_FALSE(error_of(file)); }));
}

TEST_F(CudaInpaintPicture, files_full_of_chunks_stay_in_bounds) {
  const Picture mask = blocks();
  const std::string png = png_file(mask, {8, PNG_COLOR_TYPE_GRAY});
  const std::string chunk = with_chunk(png, "abCd", "").substr(33, 12);
  const std::string file = png.substr(0, 33) + repeated(chunk, 2700000) + png.substr(33);
  EXPECT_TRUE(is_cheap([&] { EXPECT_EQ(removed(file, mask.size()), mask.pixels()); }));
}

// The first bytes decide, so that no scan of a progressive JPEG costs time.
TEST_F(CudaInpaintPicture, jpegs_are_refused_unread) {
  const std::string begin = "\xff\xd8\xff";
  for (const std::string &file : {begin, begin + "\xe0" + std::string(std::size_t{32} << 19, 'x')})
    EXPECT_TRUE(is_cheap([&] {
      EXPECT_TRUE(is_unreadable(file, "it is a JPEG picture, which changes the edges of a mask"));
    }));
}

TEST_F(CudaInpaintPicture, files_that_end_too_early_are_refused) {
  const std::string png = png_file(blocks(), {8, PNG_COLOR_TYPE_GRAY});
  for (const std::size_t size : {20u, 50u, 60u})
    EXPECT_TRUE(is_unreadable(png.substr(0, size), "it ends too early"));
}

TEST_F(CudaInpaintPicture, large_files_are_refused_unread) {
  write("");
  EXPECT_TRUE(is(error(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "it is no PNG picture"));
  ASSERT_EQ(truncate(location().c_str(), off_t{1} << 34), 0);  // sparse: it takes no disk space
  EXPECT_TRUE(is_cheap([&] {
    EXPECT_TRUE(is(error(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "it has 17179869184 bytes, and at most 33554432 are read"));
  }));
}

}  // namespace
