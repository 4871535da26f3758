// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns the exceptions that leave an algorithm into a Status: none may pass through GStreamer.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/common/stop.h"

namespace cudavision {

template <typename Function>
Status guarded(const Function &function) {
  try {
    return catch_bad_alloc(function);
  } catch (const Stopped &) {
    return {Status::Code::stopped, "the work was stopped"};
  }
}

}  // namespace cudavision
