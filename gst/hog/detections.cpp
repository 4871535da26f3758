// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the boxes that cudahog has detected to a buffer.
#include "gst/hog/detections.h"

#include <gst/cudavision/cudavision.h>

#include "gst/base/results/analytics.h"
#include "gst/meta/free_ids.h"

namespace cudavision {

Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label) {
  FreeIds ids(job.buffer);
  bool ok = gst_cuda_vision_buffer_mark_analysed(job.buffer, label, 0, nullptr);
  for (int i = 0; i < count && ok; ++i)
    ok = gst_cuda_vision_buffer_add_region(job.buffer, label, job.region.x + boxes[i].x,
                                           job.region.y + boxes[i].y, static_cast<guint>(boxes[i].width),
                                           static_cast<guint>(boxes[i].height),
                                           static_cast<double>(boxes[i].score), nullptr, ids.next(), nullptr);
  if (!ok) return invalid_argument("the boxes could not be attached");
  const GQuark type = g_quark_from_string(label);
  return attach_detections(job.buffer, count, [&](int i) {
    const HogBox &box = boxes[i];
    return Detection{0, type, job.region.x + box.x, job.region.y + box.y, box.width, box.height, box.score};
  });
}

}  // namespace cudavision
