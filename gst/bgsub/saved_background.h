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
  BgsubState state;        // of reduced_size(region, scale)
  bool was_tried = false;  // by the first operation of a run

  // For which frames it is, for the user.
  std::string words() const;
  bool has_shape_of(const SavedBackground &other) const;

  // Reads all but the state of the file that the property names; *saved stays null without a value, and if there is no file
  // yet. The error names the property and the file.
  static Status load(const std::optional<std::string> &location, std::shared_ptr<SavedBackground> *saved);
  // Reads the whole file, which must be one for the frames of `expected`: these bound the memory that it takes.
  Status read(const std::string &location, const SavedBackground &expected);
  // Replaces the file at once: whoever reads it finds the old or the new one. Fails if something else is there than such a
  // file, or one that has learnt more while this one has learnt fewer than `enough` frames, or one for other frames that has
  // learnt as much as this one or `enough`; it then stays.
  Status save(const std::string &location, std::int64_t enough) const;

  // The file: a line of text with the version, numbers of four bytes, and for each pixel the number of its modes and their
  // floats. Little-endian. The state must be that of frames that were learnt.
  std::string encode() const;
  // Fails with the reason if the bytes are not such a file, or not one for the frames of `expected`.
  Status decode(const std::string &bytes, const SavedBackground &expected);

 private:
  Status decode_head(const std::string &bytes);
};

}  // namespace cudavision
