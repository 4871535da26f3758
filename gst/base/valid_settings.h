// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings whose properties can contradict each other, as range-min and range-max: neither can be refused
// when it is set, so the whole is checked when it is used.
#pragma once

#include <gst/gst.h>

#include <optional>

#include "cuda/common/status.h"

namespace cudavision {

// S is comparable and has validate(const S &). Called by the streaming thread alone, and by start.
template <typename S>
class ValidSettings {
 public:
  // For start(): contradictions are an error then.
  Status begin(const S &now) {
    Status status = validate(now);
    if (status.ok()) in_force_ = now;
    refused_.reset();
    return status;
  }

  // The settings that the last begin() or take() accepted.
  const S &in_force() const { return in_force_; }

  // The settings of this frame: those of now, or the last valid ones, with one warning on the bus for each
  // contradiction.
  const S &take(gpointer element, const S &now) {
    if (now == refused_) return in_force_;
    if (const Status status = validate(now); status.ok()) {
      in_force_ = now;
      refused_.reset();
    } else {
      refused_ = now;
      GST_ELEMENT_WARNING(element, RESOURCE, SETTINGS,
                          ("%s: the last valid values stay in force", status.text().c_str()), (nullptr));
    }
    return in_force_;
  }

 private:
  S in_force_;
  std::optional<S> refused_;  // the contradiction that was warned of last
};

}  // namespace cudavision
