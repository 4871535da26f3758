// SPDX-License-Identifier: LGPL-2.1-or-later
// Masks as the bytes of PNG files, written with libpng.
#include "tests/elements/picture_file.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
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

// Calls use(row) for each row in the file; equal rows of a large mask are made once.
template <typename Use>
void for_each_row(const Picture &mask, const PngKind &kind, const Use &use) {
  std::vector<unsigned char> row;
  for (int y = 0; y < mask.height(); ++y) {
    if (y == 0 || !std::equal(mask.row(y), mask.row(y) + mask.width(), mask.row(y - 1)))
      row = row_of(mask, y, kind);
    use(row.data());
  }
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

}  // namespace cudavision::test
