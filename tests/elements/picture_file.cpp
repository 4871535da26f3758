// SPDX-License-Identifier: LGPL-2.1-or-later
// Masks as the bytes of PNG and JPEG files, written with libpng and libjpeg.
#include "tests/elements/picture_file.h"

#include <cstdio>
// jpeglib.h needs the definitions of cstdio.
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace cudavision::test {
namespace {

std::string big_endian(std::size_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text.push_back(static_cast<char>(number >> shift));
  return text;
}

void append(png_structp png, png_bytep bytes, std::size_t count) {
  static_cast<std::string *>(png_get_io_ptr(png))->append(reinterpret_cast<char *>(bytes), count);
}

bool has_alpha(const PngKind &kind) { return (kind.color_type & PNG_COLOR_MASK_ALPHA) != 0; }

int channels_of(const PngKind &kind) {
  if (kind.color_type == PNG_COLOR_TYPE_PALETTE) return 1;
  return ((kind.color_type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1) + (has_alpha(kind) ? 1 : 0);
}

// A bright sample that is transparent differs from all others by its value, where the file names that value.
int sample_of(int pixel, const PngKind &kind, int channel) {
  const int most = (1 << kind.bits) - 1;
  const bool through = pixel == kTransparent && kind.transparent;
  if (has_alpha(kind) && channel == channels_of(kind) - 1) return through ? kind.alpha * (most / 255) : most;
  if (kind.color_type == PNG_COLOR_TYPE_PALETTE) return pixel == kDark ? 0 : kind.bits > 1 && through ? 2 : 1;
  if (pixel == kDark) return kind.bits == 16 ? 0x7fff : most / 3;  // of 16 bits, the lower 8 do not count
  return through && !has_alpha(kind) ? most - 1 : most;
}

void set_colors(png_structp png, png_infop info, const PngKind &kind) {
  if (kind.color_type == PNG_COLOR_TYPE_PALETTE) {
    const png_color colors[] = {{90, 80, 70}, {240, 230, 220}, {240, 230, 220}};
    png_set_PLTE(png, info, colors, kind.bits > 1 ? 3 : 2);
    const png_byte alphas[] = {255, 255, static_cast<png_byte>(kind.alpha)};
    if (kind.transparent) png_set_tRNS(png, info, alphas, 3, nullptr);
  } else if (kind.transparent && !has_alpha(kind)) {
    const auto value = static_cast<png_uint_16>((1 << kind.bits) - 2);
    const png_color_16 color = {0, value, value, value, value};
    png_set_tRNS(png, info, nullptr, 0, &color);
  }
}

std::vector<png_byte> row_of(const Picture &mask, int y, const PngKind &kind) {
  std::vector<png_byte> row;
  for (int x = 0; x < mask.width(); ++x)
    for (int c = 0; c < channels_of(kind); ++c) {
      const int sample = sample_of(mask.at(x, y), kind, c);
      if (kind.bits == 16) row.push_back(static_cast<png_byte>(sample >> 8));
      row.push_back(static_cast<png_byte>(sample));
    }
  return row;
}

std::vector<JSAMPLE> row_of(const Picture &mask, int y, const JpegKind &kind) {
  std::vector<JSAMPLE> row;
  const JSAMPLE dark =
      kind.components == 4 ? 170 : 20;  // 170 of each colour are bright, but not with the black
  for (int x = 0; x < mask.width(); ++x)
    row.insert(row.end(), static_cast<std::size_t>(kind.components), mask.at(x, y) == kDark ? dark : 240);
  return row;
}

// Calls use(row) for each row in the file; equal rows of a large mask are made once.
template <typename Kind, typename Use>
void for_each_row(const Picture &mask, const Kind &kind, const Use &use) {
  std::vector<unsigned char> row;
  for (int y = 0; y < mask.height(); ++y) {
    if (y == 0 || !std::equal(mask.row(y), mask.row(y) + mask.width(), mask.row(y - 1)))
      row = row_of(mask, y, kind);
    use(row.data());
  }
}

jpeg_error_mgr *errors() {
  static jpeg_error_mgr manager;
  return jpeg_std_error(&manager);  // it ends the process at an error, which no test makes
}

void set_kind(jpeg_compress_struct *info, const JpegKind &kind) {
  jpeg_set_defaults(info);
  jpeg_set_quality(info, 100, TRUE);
  if (kind.ycck) jpeg_set_colorspace(info, JCS_YCCK);
  info->arith_code = kind.arithmetic ? TRUE : FALSE;
  info->optimize_coding = kind.arithmetic ? FALSE : TRUE;
  if (kind.progressive) jpeg_simple_progression(info);
}

}  // namespace

std::string png_file(const Picture &mask, const PngKind &kind) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append, [](png_structp) {});
  png_set_IHDR(png, info, static_cast<png_uint_32>(mask.width()), static_cast<png_uint_32>(mask.height()),
               kind.bits, kind.color_type, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  set_colors(png, info, kind);
  png_write_info(png, info);
  png_set_packing(png);
  for (int passes = png_set_interlace_handling(png); passes > 0; --passes)
    for_each_row(mask, kind, [png](png_bytep row) { png_write_row(png, row); });
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

std::string with_chunk(std::string png, const std::string &type, const std::string &data) {
  constexpr std::size_t kAfterHeader = 8 + 4 + 4 + 13 + 4;
  const std::string content = type + data;
  const auto check =
      crc32(0, reinterpret_cast<const Bytef *>(content.data()), static_cast<uInt>(content.size()));
  return png.insert(kAfterHeader, big_endian(data.size(), 4) + content + big_endian(check, 4));
}

std::string jpeg_file(const Picture &mask, const JpegKind &kind, const std::string &exif) {
  jpeg_compress_struct info{};
  info.err = errors();
  jpeg_create_compress(&info);
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(mask.width());
  info.image_height = static_cast<JDIMENSION>(mask.height());
  info.input_components = kind.components;
  info.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : kind.components == 3 ? JCS_RGB : JCS_CMYK;
  set_kind(&info, kind);
  jpeg_start_compress(&info, TRUE);
  const std::string marker = std::string("Exif\0\0", 6) + exif;
  if (!exif.empty())
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET *>(marker.data()),
                      static_cast<unsigned>(marker.size()));
  for_each_row(mask, kind, [&info](JSAMPROW row) { jpeg_write_scanlines(&info, &row, 1); });
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const std::string file(reinterpret_cast<const char *>(bytes), size);
  std::free(bytes);
  return file;
}

std::string with_scans(const std::string &jpeg, int count) {
  const std::size_t table = jpeg.rfind("\xff\xc4"), end = jpeg.size() - 2;
  const std::string last = jpeg.substr(table, end - table);
  std::string file = jpeg.substr(0, end);
  for (int i = 0; i < count; ++i) file += last;
  return file + jpeg.substr(end);
}

}  // namespace cudavision::test
