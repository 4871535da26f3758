// SPDX-License-Identifier: LGPL-2.1-or-later
// The decoders of the picture files that mask-location names.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <string>
#include <string_view>

#include "cuda/common/status.h"
#include "gst/inpaint/mask_pixels.h"

namespace cudavision {

// Decode the contents of a file with libpng or libjpeg-turbo. Both take bounded time and memory, whatever the file
// holds: its size and that of the picture are bounded, and so is the work for a pixel. Throw std::bad_alloc.
Status decode_png(std::string_view file, MaskPixels *pixels);
Status decode_jpeg(std::string_view file, MaskPixels *pixels);

// The place to which libpng and libjpeg jump with std::longjmp at an error, and the text of the error.
struct DecoderError {
  std::jmp_buf place;
  char text[256] = "";  // libjpeg writes at most 200 bytes
};

// Calls one step of a decoder; returns false if it met an error. The step must have no variables that need a
// destructor, because std::longjmp calls none.
template <typename Step>
bool attempt(DecoderError *error, const Step &step) {
  if (setjmp(error->place) != 0) return false;
  step();
  return true;
}

}  // namespace cudavision
