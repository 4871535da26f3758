// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes PNG pictures with libpng.
#include <glib.h>
#include <png.h>

#include <vector>

#include "gst/base/input/excerpt.h"
#include "gst/inpaint/decode_picture.h"

namespace cudavision {
namespace {

class PngReader {
 public:
  explicit PngReader(std::string_view file) : rest_(file) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader &) = delete;
  PngReader &operator=(const PngReader &) = delete;

  Status read(MaskPixels *pixels) {
    if (!attempt(&error_, [this] { read_header(); })) return failure();
    CUDAVISION_TRY(pixels->begin(size(), 0));
    std::vector<png_byte> row(png_get_rowbytes(png_, info_));
    if (png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE) return read_rows(pixels, &row);
    return read_passes(pixels, &row);
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

  Size size() const {
    return {static_cast<int>(png_get_image_width(png_, info_)),
            static_cast<int>(png_get_image_height(png_, info_))};
  }
  Status failure() const { return {Status::Code::unreadable_file, excerpt(error_.text)}; }

  bool read_row(std::vector<png_byte> *row) {
    return attempt(&error_, [this, row] { png_read_row(png_, row->data(), nullptr); });
  }

  Status read_rows(MaskPixels *pixels, std::vector<png_byte> *row) {
    for (int y = 0; y < size().height; ++y) {
      if (!read_row(row)) return failure();
      pixels->put(row->data(), size().width, 0, 1, y);
    }
    return {};
  }

  // Reads the passes of an interlaced picture, each of which holds some columns of some rows, straight to their places.
  Status read_passes(MaskPixels *pixels, std::vector<png_byte> *row) {
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
      const auto count = static_cast<int>(PNG_PASS_COLS(size().width, pass));
      if (count == 0) continue;  // such a pass has no rows in the file
      for (int y = PNG_PASS_START_ROW(pass); y < size().height; y += 1 << PNG_PASS_ROW_SHIFT(pass)) {
        if (!read_row(row)) return failure();
        pixels->put(row->data(), count, PNG_PASS_START_COL(pass), 1 << PNG_PASS_COL_SHIFT(pass), y);
      }
    }
    return {};
  }

  std::string_view rest_;  // the bytes of the file that are not read yet
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  DecoderError error_;
};

}  // namespace

Status decode_png(std::string_view file, MaskPixels *pixels) { return PngReader(file).read(pixels); }

}  // namespace cudavision
