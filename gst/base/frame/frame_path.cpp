// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes where a frame was stored and what was copied to process it.
#include "gst/base/frame/frame_path.h"

namespace cudavision {

std::string describe(const FramePath &path) {
  std::string text = "frames lie in ";
  text += !path.in_cuda_memory  ? "system memory"
          : path.in_our_context ? "CUDA memory of the same context"
                                : "CUDA memory of another context and are mapped on the host";
  text += "; ";
  if (path.backend == Backend::cpu || path.in_our_context) {
    text += "nothing is copied between host and GPU";
  } else {
    text += path.luma_alone ? "their luma is copied to the GPU" : "they are copied to the GPU";
    if (path.drawn_on) text += " and, drawn on, back";
  }
  if (path.repacked) text += "; 8 bits a component are extracted into a working copy";
  return text;
}

}  // namespace cudavision
