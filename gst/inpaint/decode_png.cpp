// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes PNG pictures with libpng.
#include <glib.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <string>
#include <vector>

#include "cuda/common/backends.h"
#include "cuda/luma/luma.h"
#include "gst/base/input/excerpt.h"
#include "gst/inpaint/mask_picture.h"

namespace cudavision {
namespace {

// The place to which libpng jumps with std::longjmp at an error, and the text of the error.
struct DecoderError {
  std::jmp_buf place;
  char text[256] = "";
};

// Calls one step of the decoder; returns false if it met an error. The step must have no variables that need a
// destructor, because std::longjmp calls none.
template <typename Step>
bool attempt(DecoderError *error, const Step &step) {
  if (setjmp(error->place) != 0) return false;
  step();
  return true;
}

Status check_size(Size size) {
  constexpr int kMostPixels = 1 << 25;  // a frame of 7680x4320
  if (size.width > kMaxSide || size.height > kMaxSide || std::int64_t{size.width} * size.height > kMostPixels)
    return invalid_argument("it has " + to_string(size) + " pixels; at most " + std::to_string(kMostPixels) +
                            ", and " + std::to_string(kMaxSide) +
                            " on a side, are read. A smaller picture is scaled to the frame");
  return {};
}

class PngReader {
 public:
  PngReader(std::string_view file, MaskPixels *mask) : rest_(file), mask_(mask) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader &) = delete;
  PngReader &operator=(const PngReader &) = delete;

  Status read() {
    if (!attempt(&error_, [this] { read_header(); })) return failure();
    mask_->size = {static_cast<int>(png_get_image_width(png_, info_)),
                   static_cast<int>(png_get_image_height(png_, info_))};
    CUDAVISION_TRY(check_size(mask_->size));
    mask_->pixels.assign(std::size_t{png_get_image_width(png_, info_)} * png_get_image_height(png_, info_),
                         0);
    if (png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE)
      return {Status::Code::unreadable_file, "it is interlaced: save it without interlacing"};
    std::vector<png_byte> row(png_get_rowbytes(png_, info_));
    for (int y = 0; y < mask_->size.height; ++y) {
      if (!attempt(&error_, [this, &row] { png_read_row(png_, row.data(), nullptr); })) return failure();
      put(row.data(), y);
    }
    return {};
  }

 private:
  static PngReader *self(png_voidp pointer) { return static_cast<PngReader *>(pointer); }
  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    DecoderError &error = self(png_get_error_ptr(png))->error_;
    g_strlcpy(error.text, text, sizeof error.text);
    std::longjmp(error.place, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void take_bytes(png_structp png, png_bytep bytes, std::size_t count) {
    std::string_view &rest = self(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "it ends too early");
    rest.copy(reinterpret_cast<char *>(bytes), count);
    rest.remove_prefix(count);
  }

  // Reads the header, and has libpng convert pixels to four bytes, RGBA. Chunks that pixels do not depend on, such as
  // texts and profiles, are skipped unread. The others are small: the palette, and the transparency of its colours.
  void read_header() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      g_strlcpy(error_.text, "the host has no memory left for it", sizeof error_.text);
      std::longjmp(error_.place, 1);
    }
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_read_fn(png_, this, take_bytes);
    png_read_info(png_, info_);
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_add_alpha(png_, 0xff, PNG_FILLER_AFTER);
    png_read_update_info(png_, info_);
  }

  Status failure() const { return {Status::Code::unreadable_file, excerpt(error_.text)}; }

  // Takes row y, whose pixels are RGBA.
  void put(const png_byte *rgba, int y) {
    std::uint8_t *pixel = mask_->pixels.data() + std::ptrdiff_t{y} * mask_->size.width;
    for (int x = 0; x < mask_->size.width; ++x, rgba += 4) {
      const int luma = luma_of_rgb(rgba[0], rgba[1], rgba[2]);
      const bool is_opaque = rgba[3] >= 128;
      pixel[x] = luma >= kLeastMaskLuma && is_opaque ? 255 : 0;
      if (is_opaque) mask_->brightest = std::max(mask_->brightest.value_or(0), luma);
    }
  }

  std::string_view rest_;  // the bytes of the file that are not read yet
  MaskPixels *mask_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  DecoderError error_;
};

}  // namespace

Status decode_png(std::string_view file, MaskPixels *mask) { return PngReader(file, mask).read(); }

}  // namespace cudavision
