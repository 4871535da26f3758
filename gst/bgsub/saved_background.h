// SPDX-License-Identifier: LGPL-2.1-or-later
// The file of cudabgsub's model-location: what a model has learnt.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cuda/bgsub/bgsub.h"

namespace cudavision {

struct SavedBackground {
  Region region;  // of the frame
  int scale = 1, channels = 1, mixtures = 1;
  BgsubState state;    // of reduced_size(region, scale)
  bool taken = false;  // by the first operation of a run

  // Reads the file that the property names; *saved stays null without a value, and if there is no file yet. The error names
  // the property and the file.
  static Status load(const std::optional<std::string> &location, std::shared_ptr<SavedBackground> *saved);
  // Replaces the file at once: whoever reads it finds the old or the new one. Fails if something else is there than such a
  // file, which then stays.
  Status save(const std::string &location) const;

  // The file: a line of text with the version, numbers of four bytes, and for each pixel the number of its modes and their
  // floats. Little-endian.
  std::string encode() const;
  // Fails with the reason if the bytes are not such a file. The memory that it allocates is bounded.
  static Status decode(const std::string &bytes, SavedBackground *saved);
};

}  // namespace cudavision
