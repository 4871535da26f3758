// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes serialised metas: little endian, without padding, with bounds checks on reading.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cudavision {

template <std::size_t kSize>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using Type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using Type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = std::uint64_t;
};

// Copies from the machine's byte order to little endian or back. Both pointers may be unaligned.
inline void copy_little_endian(std::uint8_t *dst, const std::uint8_t *src, std::size_t size,
                               std::size_t element_size) {
  if constexpr (std::endian::native == std::endian::little) {
    if (size != 0) std::memcpy(dst, src, size);
  } else {
    for (std::size_t i = 0; i < size; ++i)
      dst[i] = src[i / element_size * element_size + element_size - 1 - i % element_size];
  }
}

// Writes into memory that the caller has made large enough.
class Writer {
 public:
  explicit Writer(std::uint8_t *to) : to_(to) {}

  template <typename T>
  void put(T value) {
    auto bits = std::bit_cast<typename UnsignedOf<sizeof(T)>::Type>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) *to_++ = static_cast<std::uint8_t>(bits >> (8 * i));
  }
  void put_elements(const std::uint8_t *src, std::size_t size, std::size_t element_size) {
    copy_little_endian(to_, src, size, element_size);
    to_ += size;
  }

 private:
  std::uint8_t *to_;
};

// Reads beyond the end return zeros and make ok() false.
class Reader {
 public:
  Reader(const std::uint8_t *from, std::size_t size) : from_(from), left_(size) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return left_; }

  template <typename T>
  T get() {
    using Bits = typename UnsignedOf<sizeof(T)>::Type;
    Bits bits = 0;
    if (const std::uint8_t *bytes = take(sizeof(T)); bytes != nullptr)
      for (std::size_t i = 0; i < sizeof(T); ++i) bits = static_cast<Bits>(bits | Bits{bytes[i]} << (8 * i));
    return std::bit_cast<T>(bits);
  }
  // The next `size` bytes, which are consumed; nullptr if fewer remain.
  const std::uint8_t *take(std::size_t size) {
    if (!ok_ || size > left_) {
      ok_ = false;
      return nullptr;
    }
    const std::uint8_t *bytes = from_;
    from_ += size;
    left_ -= size;
    return bytes;
  }

 private:
  const std::uint8_t *from_;
  std::size_t left_;
  bool ok_ = true;
};

}  // namespace cudavision
