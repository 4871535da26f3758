// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the tests of the metas: frames, numbers that count how they are read, GLib's messages.
#pragma once

#include <gst/cudavision/cudavision.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace cudavision::test {

struct Release {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GBytes *bytes) const { g_bytes_unref(bytes); }
  void operator()(GList *regions) const {
    g_list_free_full(regions, reinterpret_cast<GDestroyNotify>(gst_cuda_vision_region_free));
  }
  void operator()(GPtrArray *array) const { g_ptr_array_unref(array); }
  void operator()(GByteArray *array) const { g_byte_array_unref(array); }
  void operator()(GVariant *value) const { g_variant_unref(value); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

// Counts the critical messages during its lifetime and stores the last one.
class Criticals {
 public:
  Criticals();
  ~Criticals();
  Criticals(const Criticals &) = delete;
  Criticals &operator=(const Criticals &) = delete;

  int count() const { return count_; }
  const std::string &last() const { return last_; }

 private:
  static void handle(const char *domain, GLogLevelFlags level, const char *message, gpointer self);

  int count_ = 0;
  std::string last_;
  GLogFunc before_;
};

// The numbers of maps, copies and existing instances of the memory of counted_numbers().
struct MemoryCounts {
  std::atomic<int> maps = 0, copies = 0, alive = 0;
  std::atomic<bool> mappable = true;  // set by the test

  void reset() { maps = 0, copies = 0, alive = 0, mappable = true; }
};
MemoryCounts &memory_counts();
// A buffer of the bytes, in memory that counts its uses.
GstBuffer *counted_numbers(const std::vector<guint8> &bytes);

template <typename T>
GstBuffer *numbers(const std::vector<T> &values) {
  return gst_buffer_new_memdup(values.data(), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> values_of(const GstCudaVisionTensorMeta *meta) {
  const Owned<GBytes> bytes(gst_cuda_vision_tensor_meta_get_bytes(meta));
  if (bytes == nullptr) return {};
  gsize size = 0;
  const auto *first = static_cast<const T *>(g_bytes_get_data(bytes.get(), &size));
  return {first, first + size / sizeof(T)};
}
std::vector<gsize> dims_of(const GstCudaVisionTensorMeta *meta);

inline constexpr int kWidth = 320, kHeight = 240;
// A black RGB frame of that size.
Owned<GstBuffer> frame();
std::vector<GstCudaVisionKeypoint> some_keypoints();
std::vector<GstCudaVisionLine> some_lines();
// Attaches a 2 x 3 tensor "grid" in counted memory with a geometry, the keypoints and the lines.
void attach_all(GstBuffer *buffer);
inline const std::vector<guint8> kGrid{1, 2, 3, 4, 5, 6};

// Sends the frame through elements in gst-launch-1.0's syntax; nullptr if an element is not installed. caps: if not
// null, receives the caps of the result, which the caller releases.
Owned<GstBuffer> through(const std::string &elements, Owned<GstBuffer> buffer, GstCaps **caps = nullptr);

// Within 1e-4: positions in a frame are floats below 2^10, whose spacing is 2^-14, after a few steps in double.
void expect_near(const GstCudaVisionKeypoint &actual, const GstCudaVisionKeypoint &expected);
void expect_near(const GstCudaVisionLine &actual, const GstCudaVisionLine &expected);
// Compares bit for bit, except that NaN equals NaN.
void expect_same(const GstCudaVisionKeypointsMeta *actual,
                 const std::vector<GstCudaVisionKeypoint> &expected);
void expect_same(const GstCudaVisionLinesMeta *actual, const std::vector<GstCudaVisionLine> &expected);

}  // namespace cudavision::test
