// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: the files of cudacameracheck's model-location.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gst/cameracheck/saved_looks.h"

namespace {

using namespace cudavision;

// An accepted look must work: a frame is compared with it, and it learns the frame.
void use(CameraLook &look, Size size) {
  std::vector<std::uint8_t> cells(look.means().size());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<std::uint8_t>(i * 37);
  for (const bool everywhere : {false, true}) {
    const CameraFit fit = look.compare({cells, size}, everywhere);
    if (!(fit.kept >= 0 && fit.kept <= 1 && fit.flat >= 0 && fit.flat <= 1)) std::abort();
  }
  look.approach({cells, size}, 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char *>(data), size);
  SavedLooks saved;
  const Status status = saved.decode(bytes);
  if (status.text().size() > 600) std::abort();
  if (!status.ok()) return 0;
  if (saved.encode() != bytes) std::abort();
  for (CameraLook &look : saved.looks)
    if (look.is_learnt()) use(look, camera_cells({saved.region.width, saved.region.height}));
  return 0;
}
