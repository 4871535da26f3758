// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps an element in push mode.
#pragma once

#include <gst/base/gstbasetransform.h>

namespace cudavision {

// Call it in the element's instance init. If a downstream element could pull frames, it would end the stream before
// this element is told to stop: stop() would run beside the work on a frame, because a thread that pulls does not hold
// the stream lock, and a frame that waits, as for a reader of JSON, would wait forever.
inline void work_in_push_mode_only(GstBaseTransform *element) {
  GstPad *source = GST_BASE_TRANSFORM_SRC_PAD(element);
  static const GstPadQueryFunction other_answers = GST_PAD_QUERYFUNC(source);  // the same for every element
  const auto answer = [](GstPad *pad, GstObject *parent, GstQuery *query) -> gboolean {
    if (GST_QUERY_TYPE(query) != GST_QUERY_SCHEDULING) return other_answers(pad, parent, query);
    gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0);
    gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
    return TRUE;
  };
  const auto activate = [](GstPad *, GstObject *, GstPadMode mode, gboolean) -> gboolean {
    return mode == GST_PAD_MODE_PUSH;
  };
  gst_pad_set_query_function_full(source, answer, nullptr, nullptr);
  gst_pad_set_activatemode_function_full(source, activate, nullptr, nullptr);
}

}  // namespace cudavision
