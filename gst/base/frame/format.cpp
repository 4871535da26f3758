// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/frame/format.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cuda/luma/luma.h"
#include "gst/base/device/device_context.h"
#include "gst/base/frame/repacked_format.h"

namespace cudavision {
namespace {

constexpr char kSizes[] = "width=(int)[1, 16384], height=(int)[1, 16384], framerate=(fraction)[0, max]";
constexpr char kCudaMemory[] = "memory:CUDAMemory";

// The names of the formats, as in caps. GStreamer's CUDA memory has no grey format.
std::string native_formats(bool in_cuda_memory) {
  return std::string("NV12, I420, ") + (in_cuda_memory ? "" : "GRAY8, ") +
         "RGB, BGR, RGBx, BGRx, RGBA, BGRA, NV21, YV12, Y42B, Y444, YUY2, UYVY";
}

// The formats that elements repack (repacked_format.h) are in a second caps structure: a source that can make all
// formats then chooses one from the first structure, which needs no copy.
GstCaps *caps_of_formats(bool in_cuda_memory) {
  const auto structure = [](const std::string &formats) {
    return "video/x-raw, format=(string){ " + formats + " }, " + kSizes;
  };
  return gst_caps_from_string(
      (structure(native_formats(in_cuda_memory)) + "; " + structure(repacked_formats(in_cuda_memory)))
          .c_str());
}

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// Returns true if the plane's rows do not overlap and lie within the mapped memory. Also returns true if the
// plane of the whole frame begins outside of `mapped`: a custom memory type may map itself elsewhere, which cannot
// be checked.
//
// With a negative stride the picture is stored upside down, and the first row lies last.
bool lies_in(const GstMapInfo &mapped, const void *whole, const Planes::Plane &plane) {
  const auto pitch = static_cast<std::uint64_t>(std::abs(plane.pitch_bytes)),
             row = static_cast<std::uint64_t>(plane.row_bytes),
             others = pitch * static_cast<std::uint64_t>(plane.rows - 1);
  if (pitch < row) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(plane.data),
             begin = reinterpret_cast<std::uintptr_t>(mapped.data), end = begin + mapped.size;
  const auto is_mapped = [begin, end](std::uintptr_t address) { return address >= begin && address < end; };
  if (!is_mapped(reinterpret_cast<std::uintptr_t>(whole))) return true;
  if (!is_mapped(first)) return false;
  if (plane.pitch_bytes < 0) return others <= first - begin && row <= end - first;
  return others + row <= end - first;
}

}  // namespace

GstCaps *template_caps() {
  GstCaps *caps = caps_of_formats(false);
  if (!DeviceContext::in_this_build()) return caps;
  GstCaps *cuda = caps_of_formats(true);
  gst_caps_set_features_simple(cuda, gst_caps_features_new_single(kCudaMemory));
  gst_caps_append(cuda, caps);
  return cuda;
}

GstCaps *in_system_memory(GstCaps *caps) {
  GstCaps *system = gst_caps_new_empty_simple("video/x-raw");
  GstCaps *common = gst_caps_intersect_full(caps, system, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(system);
  return common;
}

GstCaps *restricted_to(GstCaps *caps, GstCaps *wanted) {
  if (wanted == nullptr) return caps;
  GstCaps *common = gst_caps_intersect_full(wanted, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return common;
}

bool asks_for_cuda_memory(const GstCaps *caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), kCudaMemory) != FALSE;
}

bool has_cuda_memory(GstVideoFormat format) {
  GstCaps *caps = caps_of_formats(true);
  GstCaps *asked = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                       gst_video_format_to_string(format), nullptr);
  const bool found = gst_caps_can_intersect(caps, asked);
  gst_caps_unref(caps);
  gst_caps_unref(asked);
  return found;
}

PixelLayout pixel_layout(const GstVideoInfo &info) {
  PixelLayout layout;
  layout.model = GST_VIDEO_INFO_IS_RGB(&info)    ? ColorModel::rgb
                 : GST_VIDEO_INFO_IS_GRAY(&info) ? ColorModel::gray
                                                 : ColorModel::yuv;
  for (guint i = 0; i < std::min(3u, GST_VIDEO_INFO_N_COMPONENTS(&info)); ++i)
    layout.place[i] = {static_cast<int>(GST_VIDEO_INFO_COMP_PLANE(&info, i)),
                       static_cast<int>(GST_VIDEO_INFO_COMP_POFFSET(&info, i)),
                       static_cast<int>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, i)),
                       static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, i)),
                       static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, i))};
  return layout;
}

Planes planes_shape(const GstVideoInfo &info) {
  Planes planes;
  planes.count = static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info));
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(&info); ++i) {
    Planes::Plane &plane = planes.plane[GST_VIDEO_INFO_COMP_PLANE(&info, i)];
    plane.row_bytes = std::max(plane.row_bytes, static_cast<int>(GST_VIDEO_INFO_COMP_WIDTH(&info, i) *
                                                                 GST_VIDEO_INFO_COMP_PSTRIDE(&info, i)));
    plane.rows = static_cast<int>(GST_VIDEO_INFO_COMP_HEIGHT(&info, i));
  }
  return planes;
}

bool planes_of(const GstVideoFrame &frame, const GstVideoInfo &info, const PlaneOffsets &offsets,
               Planes *planes) {
  *planes = planes_shape(info);  // by the caps: the sizes in a GstVideoMeta may be larger
  for (int i = 0; i < planes->count; ++i) {
    Planes::Plane &plane = planes->plane[i];
    auto *const whole = static_cast<std::uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, i));
    plane.data = whole + offsets[static_cast<std::size_t>(i)];
    plane.pitch_bytes = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i);
    if (!lies_in(frame.map[frame.meta != nullptr ? i : 0], whole, plane)) return false;
  }
  return true;
}

YuvRange yuv_range_of(const GstVideoInfo &info) {
  YuvRange range;
  gdouble kr, kb;
  if (gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb)) range.kr = kr, range.kb = kb;
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, range.offset, range.scale);
  return range;
}

Color color_of(guint32 argb, const GstVideoInfo &info) {
  const auto channel = [argb](int shift) { return static_cast<std::uint8_t>(argb >> shift & 255); };
  const std::uint8_t alpha = channel(24), r = channel(16), g = channel(8), b = channel(0);
  if (GST_VIDEO_INFO_IS_RGB(&info)) return {{r, g, b}, alpha};
  if (GST_VIDEO_INFO_IS_GRAY(&info)) return {{luma_of_rgb(r, g, b), 128, 128}, alpha};
  const auto [kr, kb, offset, scale] = yuv_range_of(info);
  const double y = kr * r + (1 - kr - kb) * g + kb * b;  // 0 to 255
  const double u = (b - y) / (2 * (1 - kb)), v = (r - y) / (2 * (1 - kr));
  return {{to_byte(offset[0] + y / 255 * scale[0]), to_byte(offset[1] + u / 255 * scale[1]),
           to_byte(offset[2] + v / 255 * scale[2])},
          alpha};
}

}  // namespace cudavision
