// SPDX-License-Identifier: LGPL-2.1-or-later
// An 8-bit image in the memory of a backend, for code that does not care which.
#pragma once

#include <cstdint>
#include <memory>

#include "common/execution.h"
#include "common/image.h"

namespace cudavision {

class OwnedImage {
 public:
  // Replaces what it holds by size.height rows of size.width bytes; their contents are undefined.
  Status allocate(const Execution &execution, Size size);
  ImageView<std::uint8_t> view() const { return view_; }

 private:
  std::shared_ptr<void> memory_;  // knows how it is freed
  ImageView<std::uint8_t> view_;
};

}  // namespace cudavision
