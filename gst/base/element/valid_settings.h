// SPDX-License-Identifier: LGPL-2.1-or-later
// Validates settings whose properties can contradict each other, such as range-min and range-max. Neither can
// be refused when it is set, so all settings are checked together when they are used.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <utility>

#include "cuda/common/status.h"

namespace cudavision {

// S is comparable and has validate(const S &). It may have two functions that return a sentence for the user, or an
// empty string: hint(const S &) about valid settings that are probably not meant, and futile(const S &) about valid
// settings with which no frame can have results. Only the streaming thread and start() call this class.
template <typename S>
class ValidSettings {
 public:
  // Called by start(), where a contradiction is an error.
  Status begin(gpointer element, const S &now) {
    Status status = validate(now);
    hint_.clear();
    told_of_futility_ = false;
    if (status.ok()) accept(element, now);
    refused_.reset();
    return status;
  }

  // The settings that the last begin() or take() accepted.
  const S &in_force() const { return in_force_; }

  // The settings of this frame: `now`, or the last valid ones if `now` is contradictory, which posts one warning.
  const S &take(gpointer element, const S &now) {
    if (now == refused_) return in_force_;
    if (now == in_force_) {
      refused_.reset();
    } else if (const Status status = validate(now); status.ok()) {
      accept(element, now);
      refused_.reset();
    } else {
      refused_ = now;
      GST_ELEMENT_WARNING(element, RESOURCE, SETTINGS,
                          ("%s: the last valid values stay in force", status.text().c_str()), (nullptr));
    }
    return in_force_;
  }

 private:
  void accept(gpointer element, const S &now) {
    in_force_ = now;
    if constexpr (requires { hint(now); }) {
      std::string text = hint(now);
      if (!text.empty() && text != hint_)
        GST_ELEMENT_INFO(element, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
      hint_ = std::move(text);
    }
    if constexpr (requires { futile(now); })
      if (const std::string text = futile(now); !text.empty() && !std::exchange(told_of_futility_, true))
        GST_ELEMENT_WARNING(element, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
  }

  S in_force_;
  std::string hint_;  // the last hint that was posted
  bool told_of_futility_ = false;
  std::optional<S> refused_;  // the contradictory settings of the last warning
};

}  // namespace cudavision
