// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: pictures of mask-location.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "gst/inpaint/mask_picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::shared_ptr<const cudavision::MaskPicture> picture;
  const cudavision::Status status =
      cudavision::MaskPicture::decode({reinterpret_cast<const char *>(data), size}, &picture);
  if (status.ok() == (picture == nullptr)) std::abort();
  if (status.text().size() > 600) std::abort();
  if (picture && picture->scaled_to({37, 23}).size() != 37u * 23) std::abort();
  return 0;
}
