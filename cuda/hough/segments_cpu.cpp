// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's search for segments: a first parallel pass over the lines walks and claims pixels, a
// second one judges the candidates.
#include "cuda/hough/segments_cpu.h"

#include <algorithm>

namespace cudavision::hough {
namespace {

constexpr int kLinesPerTask = 32;

// Joins present steps to runs, piece by piece, and cuts off short pieces at the ends of the runs (walk_rules.h).
struct RunFinder {
  int max_gap;
  int first = -1, last = 0;             // the current run; there is none if first is negative
  int pieces = 0;                       // the number of pieces of the current run
  int first_end = 0, second_begin = 0;  // last step of the first piece, first step of the second piece
  int last_begin = 0, before_last = 0;  // first step of the last piece, last step of the piece before

  // Adds the steps [step, step + 31]; bit i is set if step + i is present. Calls close(first, last) for each
  // run that has ended.
  template <typename Close>
  void feed(unsigned bits, int step, const Close &close) {
    while (bits != 0) {
      const int begin = trailing_zeros(bits), length = trailing_zeros(~(bits >> begin));
      add(step + begin, step + begin + length - 1, close);
      bits = begin + length >= 32 ? 0 : bits >> (begin + length) << (begin + length);
    }
  }
  // Ends the current run, if there is one.
  template <typename Close>
  void finish(const Close &close) {
    if (first < 0) return;
    if (pieces > 1 && first_end - first + 1 < second_begin - first_end - 1) first = second_begin, --pieces;
    if (pieces > 1 && last - last_begin + 1 < last_begin - before_last - 1) last = before_last;
    close(first, last);
    first = -1, pieces = 0;
  }

 private:
  template <typename Close>
  void add(int begin, int end, const Close &close) {
    if (first >= 0 && begin - last - 1 > max_gap) finish(close);
    if (first >= 0 && begin == last + 1) {  // continues the last piece
      if (pieces == 1) first_end = end;
    } else {
      if (first < 0) first = begin, first_end = end;
      if (pieces == 1) second_begin = begin;
      before_last = last, last_begin = begin;
      ++pieces;
    }
    last = end;
  }
};

}  // namespace

void SegmentFinder::claim(const LineWalk &walk, ImageView<const std::uint8_t> edges, const Run &run) {
  const auto rank = static_cast<std::uint32_t>(run.rank);
  for (int step = run.first; step <= run.last; ++step)
    for (unsigned bits = edges_of_step(walk, edges, step); bits != 0; bits &= bits - 1) {
      const Pixel pixel = pixel_of(walk, step, trailing_zeros(bits));
      const std::atomic_ref<std::uint32_t> owned(owner(pixel, edges.width));
      std::uint32_t before = owned.load(std::memory_order_relaxed);
      while (rank < before && !owned.compare_exchange_weak(before, rank, std::memory_order_relaxed)) {
      }
    }
}

bool SegmentFinder::owns(const LineWalk &walk, ImageView<const std::uint8_t> edges, const Run &run) {
  int present = 0, own = 0;
  for (int step = run.first; step <= run.last; ++step) {
    const unsigned edge_bits = edges_of_step(walk, edges, step);
    bool is_own = false;
    for (unsigned bits = edge_bits; bits != 0; bits &= bits - 1)
      is_own |=
          owner(pixel_of(walk, step, trailing_zeros(bits)), edges.width) == static_cast<unsigned>(run.rank);
    present += edge_bits != 0, own += is_own;
  }
  return 2 * own > present;
}

Status SegmentFinder::find(const Workers &workers, const Accumulator &accumulator, const Array<Key> &keys,
                           int line_count, ImageView<const std::uint8_t> edges, const HoughParams &params) {
  owners_.assign(static_cast<std::size_t>(accumulator.width) * static_cast<std::size_t>(accumulator.height),
                 kUnclaimed);
  const int tasks = divide_up(line_count, kLinesPerTask);
  found_.resize(std::max(found_.size(), static_cast<std::size_t>(tasks)));
  CUDAVISION_TRY(workers.run(tasks, [&](int task, int) {
    Array<Key> &found = found_[static_cast<std::size_t>(task)];
    found.clear();
    for (int rank = task * kLinesPerTask; rank < std::min(line_count, (task + 1) * kLinesPerTask); ++rank) {
      const LineWalk walk = walk_of(accumulator, peak_of(accumulator, keys[static_cast<std::size_t>(rank)]));
      const auto close = [&](int first, int last) {
        if (!may_be_long(first, last, params.min_length)) return;
        if (!is_long(end_of_run(walk, edges, first), end_of_run(walk, edges, last), params.min_length))
          return;
        found.push_back(Run{rank, first, last}.pack());
        claim(walk, edges, {rank, first, last});
      };
      RunFinder finder{params.max_gap};
      for (int step = 0; step < walk.steps; step += 32) {
        unsigned bits = 0;
        for (int i = 0; i < std::min(32, walk.steps - step); ++i)
          bits |= static_cast<unsigned>(edges_of_step(walk, edges, step + i) != 0) << i;
        finder.feed(bits, step, close);
      }
      finder.finish(close);
    }
  }));
  CUDAVISION_TRY(workers.run(tasks, [&](int task, int) {
    std::erase_if(found_[static_cast<std::size_t>(task)], [&](Key key) {
      const Run run = Run::unpack(key);
      return !owns(walk_of(accumulator, peak_of(accumulator, keys[static_cast<std::size_t>(run.rank)])),
                   edges, run);
    });
  }));
  segments_.clear();
  for (int task = 0; task < tasks; ++task)
    segments_.insert(segments_.end(), found_[static_cast<std::size_t>(task)].begin(),
                     found_[static_cast<std::size_t>(task)].end());
  return {};
}

}  // namespace cudavision::hough
