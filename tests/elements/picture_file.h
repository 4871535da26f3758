// SPDX-License-Identifier: LGPL-2.1-or-later
// Masks as the bytes of PNG files, written with libpng.
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

}  // namespace cudavision::test
