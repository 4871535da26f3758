// SPDX-License-Identifier: LGPL-2.1-or-later
// The file that cudacameracheck's property model-location names: what a camera usually shows.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "gst/cameracheck/camera_look.h"

namespace cudavision {

struct SavedLooks {
  Region region;                    // of the frame that was analysed
  std::array<CameraLook, 2> looks;  // those that are learnt have camera_cells() of the region

  // Reads the file that the property names. *saved stays empty if the property is not set or there is no file yet.
  // The error names the property and the file.
  static Status load(const std::optional<std::string> &location, std::shared_ptr<SavedLooks> *saved);

  // The contents of the file: a line of text with the version, and numbers, all little-endian.
  std::string encode() const;
  // Fails with the reason if the contents are invalid.
  Status decode(const std::string &bytes);
};

}  // namespace cudavision
