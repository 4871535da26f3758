// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson between two pads of the test, and its lines as json-glib reads them.
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

// A line that was read back. A path names members and counts items: "tensors.0.sum".
class Json {
 public:
  explicit Json(const std::string &line);

  bool has(const std::string &path) const { return find(path) != nullptr; }
  bool is_null(const std::string &path) const;
  // The tests fail where the path holds something else.
  std::string text(const std::string &path) const;
  gint64 whole(const std::string &path) const;
  double real(const std::string &path) const;
  std::size_t length(const std::string &path) const;
  // Names in the order of the text, of the object at the path; "" is the line itself.
  std::vector<std::string> members(const std::string &path = "") const;

 private:
  JsonNode *find(const std::string &path) const;
  JsonNode *value(const std::string &path, GType type) const;

  std::shared_ptr<JsonParser> parser_;
};

// A folder of its own for files, removed with what is in it.
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
// The lines of a file; the test fails when the last one has no end.
std::vector<std::string> lines(const std::string &file);

class JsonHarness {
 public:
  // An element with these properties that writes to a file of its own, or to `location` when it is given.
  explicit JsonHarness(const std::string &properties = "", const std::string &location = "");
  ~JsonHarness() { gst_harness_teardown(harness_); }
  JsonHarness(const JsonHarness &) = delete;
  JsonHarness &operator=(const JsonHarness &) = delete;

  GstElement *element() const { return element_.get(); }
  GstHarness *get() const { return harness_; }
  const std::string &file() const { return file_; }

  // As gst-launch-1.0 reads them; of 640x480 pixels from the beginning on.
  void negotiate(const std::string &caps);
  GstFlowReturn push(Owned<GstBuffer> frame) { return gst_harness_push(harness_, frame.release()); }
  // Pushes a frame and gives its line.
  std::string line_of(Owned<GstBuffer> frame);
  Json json_of(Owned<GstBuffer> frame) { return Json(line_of(std::move(frame))); }
  // To NULL and to PLAYING again, as a new stream; 640x480 again.
  void restart();

 private:
  Folder folder_;
  Owned<GstElement> element_;
  GstHarness *harness_;
  std::string file_;
};

// A frame without pixels, at this time.
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

// dims: those of the tensor; [values] when there are none.
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
