// SPDX-License-Identifier: LGPL-2.1-or-later
// A clock that measures the time that has passed in a stream.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// A time that never goes back. It advances as the running time does, and stands still when the running time goes back.
// A frame without a timestamp advances it by the frame duration of the caps.
class ZoneClock {
 public:
  // duration: of a frame, by the caps; 0 if they have no rate.
  void follow_caps(GstClockTime duration) { duration_ = duration; }
  // Call it if the next frame does not continue the last one: the time between these two frames is not counted.
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
