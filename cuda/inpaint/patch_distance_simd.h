// SPDX-License-Identifier: LGPL-2.1-or-later
// The exemplar search of the CPU backend: compares the filled pixels of a target with many candidates at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

// The features as a structure of arrays: one plane per byte. The search reads up to kRowPadding bytes beyond
// the end of a row, so the caller must allocate them.
struct ComparedPlanes {
  static constexpr int kRowPadding = 128;

  const std::uint8_t *plane[3];
  std::ptrdiff_t pitch_bytes;
  // The number of planes: 1 for gray, else 3.
  int count;
};

// The filled pixels of the patch around a target.
struct Target {
  int count = 0;
  // The offset of each pixel from the centre in a plane: dy * pitch_bytes + dx.
  std::ptrdiff_t offset[kMaxPatchPixels];
  std::uint8_t byte[3][kMaxPatchPixels];
};

struct Search {
  ComparedPlanes planes;
  // Not 0 where the patch around the pixel is a candidate. The pitch is that of the planes.
  ImageView<const std::uint8_t> sources;
  const Target *target;
};

// Lowers *best to the smallest source_key() of the candidates (x, y) with first <= x < last. A candidate is
// abandoned as soon as its partial sum exceeds the sum of *best.
void search_row(const Search &search, int y, int first, int last, std::atomic<std::uint64_t> *best);

// The source_key() of one candidate.
std::uint64_t key_of(const Search &search, int x, int y);

}  // namespace cudavision::inpaint
