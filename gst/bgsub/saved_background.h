// SPDX-License-Identifier: LGPL-2.1-or-later
// The file that cudabgsub's property model-location names: what a background model has learnt.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cuda/bgsub/bgsub.h"

namespace cudavision {

struct SavedBackground {
  Region region;  // the part of the frame that the model covers
  int scale = 1, channels = 1, mixtures = 1;
  BgsubState state;        // for pictures of reduced_size(region, scale)
  bool was_tried = false;  // an operation of this run has read the file

  // Tells the user for which frames the model is.
  std::string words() const;
  bool has_shape_of(const SavedBackground &other) const;

  // Reads everything except the state from the file that the property names. *saved stays as it is if the property is
  // not set or there is no file yet. The error names the property and the file.
  static Status load(const std::optional<std::string> &location, std::shared_ptr<SavedBackground> *saved);
  // Reads the whole file, which must be for the frames of `expected`: their size bounds the memory that this takes.
  Status read(const std::string &location, const SavedBackground &expected);
  // Replaces the file atomically: a reader finds the old or the new one. Fails, and keeps the old file, if it is of
  // another kind, if it is for these frames and has learnt more while this model has learnt fewer than `enough` frames,
  // or if it is for other frames and has learnt as much as this model, or `enough` frames.
  Status save(const std::string &location, std::int64_t enough) const;

  // Returns the contents of the file: a line of text with the version, numbers of four bytes, and for each pixel the
  // number of its modes and their floats, all little-endian. The model must have learnt a frame.
  std::string encode() const;
  // Reads the contents of a file. Fails with the reason if they are invalid, or not for the frames of `expected`.
  Status decode(const std::string &bytes, const SavedBackground &expected);

 private:
  Status decode_head(const std::string &bytes);
};

}  // namespace cudavision
