// SPDX-License-Identifier: LGPL-2.1-or-later
// The time that has passed in a stream.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// A time that never goes back: it grows by what the running time grows, and not at all where that goes back. A frame without a
// timestamp comes one frame duration of the caps after the one before.
class ZoneClock {
 public:
  // duration: 0 if the caps have no rate.
  void follow_caps(GstClockTime duration) { duration_ = duration; }
  // The next frame does not follow the last one.
  void restart() { last_ = GST_CLOCK_TIME_NONE, ahead_ = 0; }
  // The time of a frame with this running time, which may be GST_CLOCK_TIME_NONE.
  GstClockTime next(GstClockTime running_time) {
    if (!GST_CLOCK_TIME_IS_VALID(running_time)) return ahead_ += duration_, now_ += duration_;
    if (GST_CLOCK_TIME_IS_VALID(last_) && running_time > last_ + ahead_)
      now_ += running_time - last_ - ahead_;
    last_ = running_time, ahead_ = 0;
    return now_;
  }

 private:
  GstClockTime now_ = 0, last_ = GST_CLOCK_TIME_NONE, duration_ = 0;
  GstClockTime ahead_ = 0;  // what frames without a timestamp have added since last_
};

}  // namespace cudavision
