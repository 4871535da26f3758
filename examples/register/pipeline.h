// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends pictures into GStreamer pipelines and receives them.
#pragma once

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <memory>
#include <opencv2/core.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "../one_file.h"
#include "../warnings.h"

// A pipeline, optionally with an appsrc "in" and an appsink "out".
class Pipeline {
 public:
  explicit Pipeline(const std::string &description) {
    read_nothing_else();
    GError *error = nullptr;
    pipeline_ = gst_parse_launch(description.c_str(), &error);
    if (error != nullptr) {  // the pipeline may exist in spite of the error
      const std::string text = error->message;
      g_error_free(error);
      if (pipeline_ != nullptr) gst_object_unref(pipeline_);
      throw std::runtime_error(text);
    }
    print_warnings(pipeline_);
    in_ = gst_bin_get_by_name(GST_BIN(pipeline_), "in");
    out_ = gst_bin_get_by_name(GST_BIN(pipeline_), "out");
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  }
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    if (in_ != nullptr) gst_object_unref(in_);
    if (out_ != nullptr) gst_object_unref(out_);
    gst_object_unref(pipeline_);
  }
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  GstElement *element(const char *name) const { return gst_bin_get_by_name(GST_BIN(pipeline_), name); }

  void push(const cv::Mat &picture, const char *format) const {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format), static_cast<guint>(picture.cols),
                              static_cast<guint>(picture.rows));
    GstCaps *caps = gst_video_info_to_caps(&info);
    gst_app_src_set_caps(GST_APP_SRC(in_), caps);
    gst_caps_unref(caps);
    GstBuffer *buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
    const auto stride = static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0));
    for (int y = 0; y < picture.rows; ++y)
      gst_buffer_fill(buffer, stride * static_cast<gsize>(y), picture.ptr(y),
                      static_cast<gsize>(picture.cols) * picture.elemSize());
    gst_app_src_push_buffer(GST_APP_SRC(in_), buffer);
  }
  // Returns when all pushed data has been written.
  void finish() const {
    gst_app_src_end_of_stream(GST_APP_SRC(in_));
    throw_error(GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS);
  }

  // Returns null at the end of the stream.
  std::unique_ptr<GstSample, void (*)(GstSample *)> pull() const {
    GstSample *sample = nullptr;
    // After an error, neither a sample nor EOS arrives, so the wait is limited.
    while (sample == nullptr && !gst_app_sink_is_eos(GST_APP_SINK(out_))) {
      sample = gst_app_sink_try_pull_sample(GST_APP_SINK(out_), 100 * GST_MSECOND);
      throw_error(0);  // also drops warnings from the bus
    }
    return {sample, gst_sample_unref};
  }

 private:
  // Waits at most `wait` for an error, or for a message of type `other`, which ends the wait.
  void throw_error(GstClockTime wait, GstMessageType other = GST_MESSAGE_UNKNOWN) const {
    GstBus *bus = gst_element_get_bus(pipeline_);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, wait, static_cast<GstMessageType>(GST_MESSAGE_ERROR | other));
    gst_object_unref(bus);
    if (message == nullptr) return;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) return gst_message_unref(message);
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::string text = error->message;
    g_error_free(error);
    gst_message_unref(message);
    throw std::runtime_error(text);
  }

  GstElement *pipeline_ = nullptr, *in_ = nullptr, *out_ = nullptr;
};

// The first frames of a file, in grey.
inline std::vector<cv::Mat> frames_of(const std::string &file, int most) {
  const Pipeline pipeline(
      "filesrc location=\"" + file +
      "\" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=out sync=false");
  std::vector<cv::Mat> frames;
  for (auto sample = pipeline.pull(); sample && static_cast<int>(frames.size()) < most;
       sample = pipeline.pull()) {
    GstVideoInfo info;
    GstVideoFrame frame;
    gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get()));
    if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ))
      throw std::runtime_error("a frame cannot be read");
    frames.push_back(cv::Mat(info.height, info.width, CV_8UC1, GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                             static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)))
                         .clone());
    gst_video_frame_unmap(&frame);
  }
  if (frames.empty()) throw std::runtime_error("no picture");
  return frames;
}
inline std::vector<cv::Mat> read_frames(const std::string &file, int most) {
  try {
    return frames_of(file, most);
  } catch (const std::exception &e) {
    throw std::runtime_error(file + ": " + e.what());
  }
}

inline void write_png(const cv::Mat &bgr, const std::string &file) {
  const Pipeline pipeline("appsrc name=in format=time ! videoconvert ! pngenc ! filesink location=\"" + file +
                          "\"");
  pipeline.push(bgr, "BGR");
  pipeline.finish();
}
