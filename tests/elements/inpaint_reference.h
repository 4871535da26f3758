// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudainpaint, computed by the CPU backend of inpainting, which has tests of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/inpaint/inpaint.h"
#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"
#include "tests/support/picture.h"

namespace cudavision::test {

// Fills successive frames of one size, with their history.
class InpaintReference {
 public:
  explicit InpaintReference(Size size);

  // Fills the pixels whose mask is not 0. opaque: makes them opaque, as mask-alpha does.
  VideoFrame filled(VideoFrame frame, const Picture &mask, const InpaintParams &params, bool opaque = false);
  // The report of the last frame.
  const InpaintReport &report() const { return report_; }

 private:
  std::unique_ptr<Inpaint> inpaint_;
  InpaintReport report_;
};

// One frame, filled without history.
VideoFrame with_filled(const VideoFrame &frame, const Picture &mask, const InpaintParams &params,
                       bool opaque = false);

// A mask that is 255 in the regions and 0 elsewhere. The regions must lie in the frame.
Picture mask_of(Size size, const std::vector<Region> &regions);

// Pushes one frame into the appsrc `in` of the pipeline and returns the bytes that arrive at the appsink `out`.
std::vector<std::uint8_t> through(const Owned<GstElement> &pipeline, const VideoFrame &frame);

}  // namespace cudavision::test
