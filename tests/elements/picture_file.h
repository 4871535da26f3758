// SPDX-License-Identifier: LGPL-2.1-or-later
// Masks as the bytes of PNG and JPEG files, written with libpng and libjpeg.
#pragma once

#include <string>

#include "tests/support/picture.h"

namespace cudavision::test {

// What a pixel of a mask file shows. Only some kinds of files can be transparent.
constexpr int kDark = 0, kBright = 255, kTransparent = 1;  // a transparent pixel is bright

struct PngKind {
  int bits;        // of a sample
  int color_type;  // PNG_COLOR_TYPE_...
  bool interlaced = false;
  bool transparent = false;  // kTransparent pixels are transparent; otherwise they are bright
  int alpha = 127;           // of transparent pixels, if the file can store it
};
std::string png_file(const Picture &mask, const PngKind &kind);
// The file with this chunk right after its header.
std::string with_chunk(std::string png, const std::string &type, const std::string &data);

struct JpegKind {
  int components;  // 1: grey, 3: colour, 4: CMYK, or YCCK with ycck
  bool progressive = false, arithmetic = false, ycck = false;
};
// exif: what follows the word Exif in a marker; no marker if it is empty.
std::string jpeg_file(const Picture &mask, const JpegKind &kind, const std::string &exif = {});
// The progressive file with its last scan and that scan's table repeated so often.
std::string with_scans(const std::string &jpeg, int count);

}  // namespace cudavision::test
