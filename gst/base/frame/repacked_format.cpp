// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/frame/repacked_format.h"

#include <algorithm>
#include <iterator>

namespace cudavision {
namespace {

// Where the eight most significant bits of a component's first sample begin: at bit `bit` of byte `offset` of the
// plane. The samples are `step` bytes apart.
struct Place {
  int plane, offset, step, bit;
};
struct RepackedFormat {
  GstVideoFormat format, working;  // working: of the 8-bit copy, with the same components in the same order
  int low;                         // how many bits a sample has below these eight, padding included
  Place place[4];
};

// The table holds these places because GStreamer's own description has none for 10:10:10:2 formats, and those for
// P010's chroma differ between its versions.
constexpr RepackedFormat kFormats[] = {
    {GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_NV12, 8, {{0, 1, 2, 0}, {1, 1, 4, 0}, {1, 3, 4, 0}}},
    {GST_VIDEO_FORMAT_P012_LE, GST_VIDEO_FORMAT_NV12, 8, {{0, 1, 2, 0}, {1, 1, 4, 0}, {1, 3, 4, 0}}},
    {GST_VIDEO_FORMAT_P016_LE, GST_VIDEO_FORMAT_NV12, 8, {{0, 1, 2, 0}, {1, 1, 4, 0}, {1, 3, 4, 0}}},
    {GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I420, 2, {{0, 0, 2, 2}, {1, 0, 2, 2}, {2, 0, 2, 2}}},
    {GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_Y42B, 2, {{0, 0, 2, 2}, {1, 0, 2, 2}, {2, 0, 2, 2}}},
    {GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y42B, 4, {{0, 0, 2, 4}, {1, 0, 2, 4}, {2, 0, 2, 4}}},
    {GST_VIDEO_FORMAT_Y444_16LE, GST_VIDEO_FORMAT_Y444, 8, {{0, 1, 2, 0}, {1, 1, 2, 0}, {2, 1, 2, 0}}},
    // Words of 32 bits: 10 bits a component from bit 0 on, and 2 bits of alpha, which are never changed.
    {GST_VIDEO_FORMAT_BGR10A2_LE, GST_VIDEO_FORMAT_RGB, 2, {{0, 2, 4, 6}, {0, 1, 4, 4}, {0, 0, 4, 2}}},
    {GST_VIDEO_FORMAT_RGB10A2_LE, GST_VIDEO_FORMAT_RGB, 2, {{0, 0, 4, 2}, {0, 1, 4, 4}, {0, 2, 4, 6}}},
    {GST_VIDEO_FORMAT_ARGB,
     GST_VIDEO_FORMAT_RGBA,
     0,
     {{0, 1, 4, 0}, {0, 2, 4, 0}, {0, 3, 4, 0}, {0, 0, 4, 0}}},
    {GST_VIDEO_FORMAT_ABGR,
     GST_VIDEO_FORMAT_RGBA,
     0,
     {{0, 3, 4, 0}, {0, 2, 4, 0}, {0, 1, 4, 0}, {0, 0, 4, 0}}},
    {GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_RGB, 0, {{0, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}}},
    {GST_VIDEO_FORMAT_BGRP, GST_VIDEO_FORMAT_RGB, 0, {{2, 0, 1, 0}, {1, 0, 1, 0}, {0, 0, 1, 0}}},
    {GST_VIDEO_FORMAT_GBR, GST_VIDEO_FORMAT_RGB, 0, {{2, 0, 1, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}}},
    {GST_VIDEO_FORMAT_GBRA,
     GST_VIDEO_FORMAT_RGBA,
     0,
     {{2, 0, 1, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {3, 0, 1, 0}}},
    {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY8, 8, {{0, 1, 2, 0}}},
};

const RepackedFormat *find(GstVideoFormat format) {
  const auto *found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const RepackedFormat &f) { return f.format == format; });
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

std::string repacked_formats(bool in_cuda_memory) {
  std::string names;
  for (const RepackedFormat &f : kFormats)
    if (!in_cuda_memory || f.working != GST_VIDEO_FORMAT_GRAY8)
      names.append(names.empty() ? "" : ", ").append(gst_video_format_to_string(f.format));
  return names;
}

bool is_repacked(GstVideoFormat format) { return find(format) != nullptr; }

GstVideoInfo working_info(const GstVideoInfo &info) {
  const RepackedFormat *repacked = find(GST_VIDEO_INFO_FORMAT(&info));
  if (repacked == nullptr) return info;
  GstVideoInfo working;
  gst_video_info_init(&working);
  gst_video_info_set_format(&working, repacked->working, static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                            static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)));
  working.colorimetry = info.colorimetry;
  working.chroma_site = info.chroma_site;
  working.par_n = info.par_n, working.par_d = info.par_d;
  working.fps_n = info.fps_n, working.fps_d = info.fps_d;
  return working;
}

RepackedFrame repacked_frame(const GstVideoInfo &info, const Planes &wide, const Planes &eight,
                             const GrayRange &range) {
  const RepackedFormat &repacked = *find(GST_VIDEO_INFO_FORMAT(&info));
  const GstVideoFormatInfo *working = gst_video_format_get_info(repacked.working);
  RepackedFrame frame;
  frame.width = GST_VIDEO_INFO_WIDTH(&info);
  frame.height = GST_VIDEO_INFO_HEIGHT(&info);
  frame.count = static_cast<int>(GST_VIDEO_FORMAT_INFO_N_COMPONENTS(working));
  for (int i = 0; i < frame.count; ++i) {
    const Place &place = repacked.place[i];
    const Planes::Plane &from = wide.plane[place.plane],
                        &to = eight.plane[GST_VIDEO_FORMAT_INFO_PLANE(working, i)];
    const int shift_x = static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(working, i)),
              shift_y = static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(working, i));
    frame.component[i] = {.wide = {.data = from.data + place.offset,
                                   .pitch_bytes = from.pitch_bytes,
                                   .step_bytes = place.step,
                                   .shift_x = shift_x,
                                   .shift_y = shift_y},
                          .bit = place.bit,
                          .eight = {.data = to.data + GST_VIDEO_FORMAT_INFO_POFFSET(working, i),
                                    .pitch_bytes = to.pitch_bytes,
                                    .step_bytes = GST_VIDEO_FORMAT_INFO_PSTRIDE(working, i),
                                    .shift_x = shift_x,
                                    .shift_y = shift_y},
                          .low = repacked.low};
  }
  if (repacked.format == GST_VIDEO_FORMAT_GRAY16_LE && range != GrayRange{}) {
    frame.component[0].wide.data -= repacked.place[0].offset;  // the range applies to the whole 16-bit value
    frame.range = range;
  }
  return frame;
}

}  // namespace cudavision
