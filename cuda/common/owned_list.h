// SPDX-License-Identifier: LGPL-2.1-or-later
// A list that a backend writes and the host reads after each frame.
#pragma once

#include "cuda/common/owned_memory.h"

namespace cudavision {

// A count followed by an array of items in one allocation. The whole allocation is copied to the host at
// once, so the host need not read the count before it copies the items.
template <typename Count, typename Item>
class OwnedList {
 public:
  // Replaces the list by one for `capacity` items; its contents are undefined. On failure the capacity is 0.
  Status allocate(const Execution &execution, int capacity) {
    capacity_ = 0;
    const std::size_t bytes = kItemsBegin + static_cast<std::size_t>(capacity) * sizeof(Item);
    CUDAVISION_TRY(memory_.allocate(execution, bytes));
    CUDAVISION_TRY(host_.allocate(execution, memory_));
    capacity_ = capacity;
    return {};
  }
  int capacity() const { return capacity_; }

  // The count and the items in the backend's memory.
  Count *count() const { return static_cast<Count *>(memory_.data()); }
  Item *items() const { return items_of<Item, unsigned char>(memory_.data()); }

  // CUDA: enqueues the copy to the host; the host may read it after the stream has been synchronised. CPU:
  // does nothing.
  Status fetch(const Execution &execution) { return host_.fetch(execution, memory_); }
  const Count &count_on_host() const { return *static_cast<const Count *>(host_.data()); }
  const Item *items_on_host() const { return items_of<const Item, const unsigned char>(host_.data()); }

 private:
  static constexpr std::size_t kItemsBegin =
      (sizeof(Count) + alignof(Item) - 1) / alignof(Item) * alignof(Item);

  template <typename Pointed, typename Byte, typename Memory>
  static Pointed *items_of(Memory *memory) {
    return reinterpret_cast<Pointed *>(static_cast<Byte *>(memory) + kItemsBegin);
  }

  OwnedBytes memory_;
  HostCopy host_;
  int capacity_ = 0;
};

}  // namespace cudavision
