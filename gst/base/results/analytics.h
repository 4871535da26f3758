// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's own metas for analysis, in the versions that have them: object detections from 1.24 on, tensors
// and segmentation from 1.26 on. With an older version these functions do nothing.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <functional>
#include <optional>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/element/operation.h"

namespace cudavision {

// A detected object in pixels of the frame; the box may leave the frame. Of an object that is turned by an angle
// (GStreamer 1.26), it is the box around the turned one.
struct Detection {
  guint id = 0;  // of the item of the relation meta; set by detections_of()
  GQuark type = 0;
  gint x = 0, y = 0, width = 0, height = 0;
  gfloat confidence = 0;
};

// Appends detection(0) to detection(count - 1) to the buffer's relation meta, which all elements share and which is
// added if there is none. Fails if the meta cannot hold more.
Status attach_detections(GstBuffer *buffer, int count, const std::function<Detection(int)> &detection);
// The detections that are attached to the buffer, in order. Some are left out if the flag asks to stop.
std::vector<Detection> detections_of(GstBuffer *buffer, const StopFlag &stop);
// The id of a track that a detection of the buffer is related to.
std::optional<guint64> track_of_detection(GstBuffer *buffer, guint detection);
// Attaches those detections of `from` for which map() returns true, as map() has changed them, and their tracks to
// `to`.
void carry_detections(GstBuffer *from, GstBuffer *to, const std::function<bool(Detection *)> &map);
// Relates a detection of the buffer to a track. The times are those of the track's first and last frame.
Status attach_tracking(GstBuffer *buffer, guint detection, guint64 track, GstClockTime first,
                       GstClockTime last);

// Adds the tensor to the buffer's GstTensorMeta, without copying its data.
Status attach_gst_tensor(GstBuffer *buffer, const GstCudaVisionTensorMeta *tensor);
// Attaches a map of the region with the values 0 and 255, one byte per pixel without padding, as a semantic
// segmentation whose value 255 has the class `name`. The meta shares `data`, which must be writable: it gets
// a GstVideoMeta.
Status attach_segmentation(const Job &job, GstBuffer *data, const char *name);

// A segmentation of a frame: a mask, each value of which stands for a class of objects.
struct Segmentation {
  GstBuffer *mask;    // has a GstVideoMeta, unless somebody has removed it
  Region place;       // of the mask in the frame, in pixels
  bool selects[256];  // for each value of the mask, whether it stands for the class that is asked for
};
// Calls visit with each segmentation of the buffer, in order. type: the class that is asked for; null selects all
// values but 0 and those of the class `background`. Of values without a class, all but 0 are always selected.
void for_each_segmentation(GstBuffer *buffer, const char *type,
                           const std::function<void(const Segmentation &)> &visit);
// Removes all segmentations. If there are any, the relation meta keeps only detections and their tracks.
void drop_segmentations(GstBuffer *buffer);

}  // namespace cudavision
