// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs cudavisionjson between two pads of the test and parses its lines with json-glib.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <json-glib/json-glib.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/elements/support.h"

namespace cudavision::test {

// A parsed line. A path consists of member names and item indices: "tensors.0.sum".
class Json {
 public:
  explicit Json(const std::string &line);

  bool has(const std::string &path) const { return find(path) != nullptr; }
  bool is_null(const std::string &path) const;
  // These fail the test if the value at the path has another type.
  std::string text(const std::string &path) const;
  gint64 whole(const std::string &path) const;
  double real(const std::string &path) const;
  std::size_t length(const std::string &path) const;
  // The names of the members of the object at the path, in the order of the text; "" is the line itself.
  std::vector<std::string> members(const std::string &path = "") const;

 private:
  JsonNode *find(const std::string &path) const;
  JsonNode *value(const std::string &path, GType type) const;

  std::shared_ptr<JsonParser> parser_;
};

// A temporary folder, removed with its files.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string path(const std::string &name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string content(const std::string &file);
// The lines of a file. Fails the test if the last line has no newline.
std::vector<std::string> lines(const std::string &file);

class JsonHarness {
 public:
  // Makes an element with these properties that writes to `location`, or to a temporary file if that is empty.
  explicit JsonHarness(const std::string &properties = "", const std::string &location = "");
  ~JsonHarness() { gst_harness_teardown(harness_); }
  JsonHarness(const JsonHarness &) = delete;
  JsonHarness &operator=(const JsonHarness &) = delete;

  GstElement *element() const { return element_.get(); }
  GstHarness *get() const { return harness_; }
  const std::string &file() const { return file_; }

  // Caps as gst-launch-1.0 reads them; 640x480 pixels by default.
  void negotiate(const std::string &caps);
  GstFlowReturn push(Owned<GstBuffer> frame) { return gst_harness_push(harness_, frame.release()); }
  // Pushes a frame and returns its line.
  std::string line_of(Owned<GstBuffer> frame);
  Json json_of(Owned<GstBuffer> frame) { return Json(line_of(std::move(frame))); }
  // Sets the element to NULL and to PLAYING again, as a new stream of 640x480 pixels.
  void restart();
  // Sends both events of a flush, and a new segment.
  void flush();

 private:
  Folder folder_;
  Owned<GstElement> element_;
  GstHarness *harness_;
  std::string file_;
};

// A frame without pixels, with this timestamp.
Owned<GstBuffer> frame(GstClockTime pts = 0);

void add_keypoints(GstBuffer *frame, const std::vector<GstCudaVisionKeypoint> &keypoints);
void add_lines(GstBuffer *frame, const std::vector<GstCudaVisionLine> &lines);
GstVideoRegionOfInterestMeta *add_region(GstBuffer *frame, const char *type);
void add_score(GstVideoRegionOfInterestMeta *region, double score);

template <typename T>
constexpr GstCudaVisionElementType kElementType = GST_CUDA_VISION_ELEMENT_TYPE_F32;
template <>
inline constexpr auto kElementType<guint8> = GST_CUDA_VISION_ELEMENT_TYPE_U8;
template <>
inline constexpr auto kElementType<guint16> = GST_CUDA_VISION_ELEMENT_TYPE_U16;
template <>
inline constexpr auto kElementType<guint32> = GST_CUDA_VISION_ELEMENT_TYPE_U32;
template <>
inline constexpr auto kElementType<gint32> = GST_CUDA_VISION_ELEMENT_TYPE_I32;

// dims: the dimensions of the tensor; empty for {values.size()}.
template <typename T>
void add_tensor(GstBuffer *frame, const char *id, const std::vector<T> &values,
                std::vector<gsize> dims = {}) {
  if (dims.empty()) dims = {values.size()};
  EXPECT_NE(gst_cuda_vision_buffer_add_tensor_meta(
                frame, id, kElementType<T>, static_cast<guint>(dims.size()), dims.data(),
                gst_buffer_new_memdup(values.data(), values.size() * sizeof(T))),
            nullptr);
}

}  // namespace cudavision::test
