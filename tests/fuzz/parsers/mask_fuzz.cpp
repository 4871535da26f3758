// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: pictures of mask-location.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "gst/inpaint/mask_picture.h"

namespace {

// A file in memory with these bytes; gdk-pixbuf reads files by their names.
std::string file_with(const std::uint8_t *data, std::size_t size) {
  static const std::string name = "/dev/shm/mask_fuzz." + std::to_string(getpid());
  std::FILE *file = std::fopen(name.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) std::abort();
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string name = file_with(data, size);
  std::shared_ptr<const cudavision::MaskPicture> picture;
  const cudavision::Status status = cudavision::MaskPicture::load(name, &picture);
  unlink(name.c_str());
  if (status.ok() == (picture == nullptr)) std::abort();
  if (picture && picture->scaled_to({37, 23}).size() != 37u * 23) std::abort();
  return 0;
}
