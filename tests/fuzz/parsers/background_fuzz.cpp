// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: the files of cudabgsub's model-location. The first byte chooses the parameters that it must have.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cuda/bgsub/bgsub_scale.h"
#include "gst/bgsub/saved_background.h"

namespace {

using namespace cudavision;

// An accepted background must work: a subtractor resumes it and processes a frame. Aborts otherwise.
void use(const SavedBackground &saved) {
  static const Workers workers(1);
  const Execution execution{Backend::cpu, &workers, nullptr};
  const Size size = reduced_size({saved.region.width, saved.region.height}, saved.scale);
  const std::vector<std::uint8_t> picture(
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height * saved.channels), 100);
  std::vector<std::uint8_t> mask(picture.size() / static_cast<std::size_t>(saved.channels)),
      back(picture.size());
  const int step = saved.channels, pitch = size.width * step;
  const BgsubPicture frame{picture.data(), pitch, step, step, size.width, size.height};
  std::unique_ptr<BackgroundSubtractor> subtractor;
  const bool ok = make_bgsub(execution, size, step, saved.mixtures, &subtractor).ok() &&
                  subtractor->resume(saved.state).ok() &&
                  subtractor->run(frame, {}, {}, {mask.data(), size.width, size.width, size.height}).ok() &&
                  subtractor->background({}, {back.data(), pitch, step, step, size.width, size.height}).ok();
  if (!ok) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  SavedBackground expected, saved;
  expected.region = {0, 0, data[0] % 2 == 0 ? 5 : 9, 4};
  expected.scale = data[0] % 2 == 0 ? 1 : 2, expected.channels = data[0] % 4 < 2 ? 1 : 3;
  expected.mixtures = data[0] % 8 < 4 ? 5 : 2;
  const Status status = saved.decode(bytes, expected);
  if (status.text().size() > 600) std::abort();
  if (!status.ok()) return 0;
  if (saved.encode() != bytes) std::abort();
  use(saved);
  return 0;
}
