// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes pictures and frames of videos with a GStreamer pipeline that ends in an appsink.
#include "support/decode.h"

#include <gst/app/app.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace cudavision::test {
namespace {

struct Unref {
  void operator()(GstElement *element) const {
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
  }
  void operator()(GstSample *sample) const { gst_sample_unref(sample); }
};
using Pipeline = std::unique_ptr<GstElement, Unref>;
using Sample = std::unique_ptr<GstSample, Unref>;

std::filesystem::path data_folder() {
  const char *folder = std::getenv("CUDAVISION_TEST_DATA");
  return folder != nullptr ? folder : "/usr/share/doc/opencv-doc/examples/data";
}

// Named decoders where one suffices: fewer plugins are needed than by decodebin.
std::string decoder_of(const std::filesystem::path &path) {
  if (path.extension() == ".png") return "pngdec";
  if (path.extension() == ".jpg") return "jpegdec";
  return "decodebin";
}

Photo copy_pixels(GstSample *sample, int bytes_per_pixel) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return {{}, "the decoded picture cannot be read"};
  Photo photo{Picture({info.width * bytes_per_pixel, info.height}), ""};
  const auto *first = static_cast<const std::uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  for (int y = 0; y < info.height; ++y)
    std::memcpy(photo.pixels.row(y),
                first + static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
                static_cast<std::size_t>(photo.pixels.width()));
  gst_video_frame_unmap(&frame);
  return photo;
}

Photo decode(const std::filesystem::path &path, const char *format, int bytes_per_pixel, int frame) {
  if (!std::filesystem::exists(path)) return {{}, path.string() + " is missing (Debian: opencv-doc)"};
  gst_init(nullptr, nullptr);
  const std::string description = "filesrc name=source ! " + decoder_of(path) +
                                  " ! videoconvert ! video/x-raw,format=" + format +
                                  " ! appsink name=sink sync=false max-buffers=2";
  GError *error = nullptr;
  const Pipeline pipeline(gst_parse_launch(description.c_str(), &error));
  if (error != nullptr) {
    const std::string text = error->message;
    g_clear_error(&error);
    return {{}, path.string() + ": " + text};
  }
  const Pipeline source(gst_bin_get_by_name(GST_BIN(pipeline.get()), "source"));
  const Pipeline sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  g_object_set(source.get(), "location", path.c_str(), nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  Sample sample;
  for (int i = 0; i <= frame; ++i) {
    sample.reset(gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), 30 * GST_SECOND));
    if (!sample) return {{}, path.string() + " does not decode"};
  }
  return copy_pixels(sample.get(), bytes_per_pixel);
}

const Photo &decode_once(const std::string &file, const char *format, int bytes_per_pixel, int frame) {
  static std::map<std::pair<std::string, int>, Photo> decoded;
  const auto key = std::make_pair(file + " " + format, frame);
  const auto found = decoded.find(key);
  if (found != decoded.end()) return found->second;
  return decoded.emplace(key, decode(data_folder() / file, format, bytes_per_pixel, frame)).first->second;
}

}  // namespace

const Photo &gray_photo(const std::string &file, int frame) { return decode_once(file, "GRAY8", 1, frame); }
const Photo &rgb_photo(const std::string &file, int frame) { return decode_once(file, "RGB", 3, frame); }

}  // namespace cudavision::test
