// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU's exemplar search: the distance of a target's filled pixels to many candidates at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

// What is compared, a plane for each byte. Rows may be read kRowPadding bytes beyond their end.
struct ComparedPlanes {
  static constexpr int kRowPadding = 128;

  const std::uint8_t *plane[3];
  std::ptrdiff_t pitch_bytes;
  int count;  // 1 (gray) or 3
};

// The filled pixels of a target's patch, relative to its middle.
struct Target {
  int count = 0;
  std::ptrdiff_t offset[kMaxPatchPixels];  // dy * pitch_bytes + dx
  std::uint8_t byte[3][kMaxPatchPixels];
};

struct Search {
  ComparedPlanes planes;
  ImageView<const std::uint8_t>
      sources;  // not 0: the patch around the pixel may be taken; rows as of the planes
  const Target *target;
};

// Lowers *best to the least source_key() of the candidates (x, y), first <= x < last. Candidates that cannot
// be it are left early: their sum so far is already larger than *best's.
void search_row(const Search &search, int y, int first, int last, std::atomic<std::uint64_t> *best);

// source_key() of one candidate.
std::uint64_t key_of(const Search &search, int x, int y);

}  // namespace cudavision::inpaint
