// SPDX-License-Identifier: LGPL-2.1-or-later
// A test shared by algorithms that read complete inputs early: many frames are enqueued without waiting, and a GPU may
// work on several of them at the same time.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {

// card: a size at which a GPU has several frames in flight. The CPU backend gets a third of its width and height.
inline Size size_in_flight(const Execution &execution, Size card, Size emulated) {
  if (kEmulated) return emulated;
  return execution.backend == Backend::cuda ? card : Size{card.width / 3, card.height / 3};
}

// Expects that frames of two pictures by turns give the same results as single frames: first each frame with memory of
// its own for the result, then all with the same memory. run(luma, result, input) enqueues a frame and returns its
// Status. A frame writes `result_bytes` bytes at `result`, which are 0 before; it may write fewer if `writes_all` is
// false.
template <typename Run>
void expect_frames_in_flight_equal_frames_alone(const Execution &execution, Size size,
                                                std::size_t result_bytes, const Run &run,
                                                bool writes_all = true) {
  // On the emulated CUDA, each kernel of six frames has started beside those of the frame before.
  const std::size_t frames = kEmulated ? 6 : 12;
  const TestImage<std::uint8_t> pictures[] = {{execution, noise(size, 1), kAligned},
                                              {execution, smooth_noise(size, 2, 2), kAligned}};
  const auto result = [&] {
    auto memory = std::make_unique<Memory>(execution, result_bytes);
    memory->write(std::vector<std::uint8_t>(result_bytes));
    return memory;
  };
  std::vector<std::uint8_t> alone[2];
  for (int i = 0; i < 2; ++i) {
    const auto memory = result();
    ASSERT_TRUE(succeeds(run(pictures[i].view(), memory->data(), Input::in_stream_order)));
    alone[i] = memory->read();
  }
  ASSERT_NE(alone[0], alone[1]);
  // Only a card has frames in flight, whose order differs from round to round.
  const int rounds = !kEmulated && execution.backend == Backend::cuda ? 20 : 1;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<Memory>> results;
    for (std::size_t i = 0; i < frames; ++i) results.push_back(result());
    for (std::size_t i = 0; i < frames; ++i)
      ASSERT_TRUE(succeeds(run(pictures[i % 2].view(), results[i]->data(), Input::complete)));
    for (std::size_t i = 0; i < frames; ++i)
      ASSERT_EQ(results[i]->read(), alone[i % 2]) << "round " << round << ", frame " << i;
    if (!writes_all) continue;
    const auto shared = result();  // a frame that wrote it early would be overwritten by the frame before
    for (std::size_t i = 0; i < frames; ++i)
      ASSERT_TRUE(succeeds(run(pictures[i % 2].view(), shared->data(), Input::complete)));
    ASSERT_EQ(shared->read(), alone[(frames - 1) % 2]) << "round " << round;
  }
}

}  // namespace cudavision::test
