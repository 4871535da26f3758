// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudainpaint must give: the room's CPU backend, which has tests of its own, on a test's frames and
// masks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"
#include "cuda/inpaint/inpaint.h"
#include "tests/support/picture.h"

namespace cudavision::test {

// Takes the frames of one size one after the other.
class InpaintReference {
 public:
  explicit InpaintReference(Size size);

  // mask: not 0 is removed. opaque: as mask-alpha does.
  VideoFrame filled(VideoFrame frame, const Picture &mask, const InpaintParams &params, bool opaque = false);
  const InpaintReport &report() const { return report_; }  // of the last frame

 private:
  std::unique_ptr<Inpaint> room_;
  InpaintReport report_;
};

VideoFrame with_filled(const VideoFrame &frame, const Picture &mask, const InpaintParams &params,
                       bool opaque = false);

// 255 within the regions, which lie in the frame.
Picture mask_of(Size size, const std::vector<Region> &regions);

// Plays one frame from the pipeline's appsrc `in` to its appsink `out`, and gives what arrives.
std::vector<std::uint8_t> through(const Owned<GstElement> &pipeline, const VideoFrame &frame);

}  // namespace cudavision::test
