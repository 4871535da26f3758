// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture in the memory of a backend with guard bytes before, after and between its rows. Tests fail if a
// guard byte is overwritten.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include "tests/support/emulated.h"
#include "tests/support/memory.h"
#include "tests/support/picture.h"

namespace cudavision::test {

// The placement of a picture in memory.
struct Placement {
  const char *name;
  int misalignment_bytes;  // distance of the first pixel from a multiple of 256
  int pitch_multiple;      // the pitch is a multiple of this, in bytes,
  int padding_bytes;       // plus this

  friend std::ostream &operator<<(std::ostream &out, const Placement &p) { return out << p.name; }
};
inline constexpr Placement kAligned{"aligned", 0, 256, 0}, kTight{"tight", 0, 1, 0},
    kOddPitch{"odd pitch", 0, 2, 13}, kMisaligned{"misaligned", 5, 16, 16},
    kMisalignedOddPitch{"misaligned, odd pitch", 3, 2, 7};
inline constexpr Placement kPlacements[] = {kAligned, kTight, kOddPitch, kMisaligned, kMisalignedOddPitch};

// All placements for elements of one byte; for larger elements those that keep them aligned.
template <typename T>
class TestImage {
 public:
  TestImage(const Execution &execution, Size size, const Placement &placement)
      : size_(size),
        row_bytes_(static_cast<std::size_t>(size.width) * sizeof(T)),
        first_(kGuardBytes + static_cast<std::size_t>(placement.misalignment_bytes)),
        pitch_(round_up(row_bytes_, static_cast<std::size_t>(placement.pitch_multiple)) +
               static_cast<std::size_t>(placement.padding_bytes)),
        memory_(execution, size.height == 0 ? first_ + kGuardBytes : end_of_rows() + bytes_behind()) {
    std::vector<std::uint8_t> bytes(memory_.count());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = guard(i);
    memory_.write(bytes);
    forbid_guards();
  }
  TestImage(const Execution &execution, const HostImage<T> &pixels, const Placement &placement)
      : TestImage(execution, pixels.size(), placement) {
    upload(pixels);
  }

  // Before the first upload the pixels hold the pattern of the guard bytes.
  ImageView<T> view() const {
    return {reinterpret_cast<T *>(memory_.data() + first_), static_cast<std::ptrdiff_t>(pitch_), size_.width,
            size_.height};
  }

  void upload(const HostImage<T> &pixels) {
    ASSERT_EQ(pixels.size(), size_);
    std::vector<std::uint8_t> bytes = read();
    for (int y = 0; y < size_.height; ++y) std::memcpy(bytes.data() + row(y), pixels.row(y), row_bytes_);
    memory_.allow(0, memory_.count());
    memory_.write(bytes);
    forbid_guards();
  }

  // Waits for enqueued work. Fails the test if a guard byte has changed.
  HostImage<T> download() const {
    const std::vector<std::uint8_t> bytes = read();
    HostImage<T> pixels(size_);
    for (int y = 0; y < size_.height; ++y) std::memcpy(pixels.row(y), bytes.data() + row(y), row_bytes_);
    expect_guards(bytes);
    return pixels;
  }

 private:
  static constexpr std::size_t kGuardBytes = 256;
  // Emulated device memory ends with the last pixel: AddressSanitizer then also detects reads beyond it.
  static std::size_t bytes_behind() { return kEmulated && kSanitized ? 0 : kGuardBytes; }

  static std::size_t round_up(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
  }
  // Neighbouring values differ, so that shifted writes are detected.
  static std::uint8_t guard(std::size_t i) { return static_cast<std::uint8_t>(i * 37 + 11); }
  std::size_t row(int y) const { return first_ + pitch_ * static_cast<std::size_t>(y); }
  std::size_t end_of_rows() const { return row(size_.height - 1) + row_bytes_; }

  std::vector<std::uint8_t> read() const {
    memory_.allow(0, memory_.count());
    std::vector<std::uint8_t> bytes = memory_.read();
    forbid_guards();
    return bytes;
  }

  // Calls visit(begin, end) for each range of bytes that belongs to no pixel.
  template <typename Visit>
  void for_each_gap(const Visit &visit) const {
    std::size_t begin = 0;
    for (int y = 0; y < size_.height; ++y) {
      if (begin != row(y)) visit(begin, row(y));
      begin = row(y) + row_bytes_;
    }
    if (begin != memory_.count()) visit(begin, memory_.count());
  }
  void forbid_guards() const {
    for_each_gap([&](std::size_t begin, std::size_t end) { memory_.forbid(begin, end); });
  }
  void expect_guards(const std::vector<std::uint8_t> &bytes) const {
    for_each_gap([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (bytes[i] != guard(i)) {
          ADD_FAILURE() << "guard byte "
                        << static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(first_)
                        << " bytes after the first pixel changed, pitch " << pitch_;
          return;
        }
    });
  }

  Size size_;
  std::size_t row_bytes_, first_, pitch_;
  Memory memory_;
};

}  // namespace cudavision::test
