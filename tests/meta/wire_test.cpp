// SPDX-License-Identifier: LGPL-2.1-or-later
// Serialised metas: they are read back unchanged, and truncated or invalid ones are refused.
#include "gst/meta/wire.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

#if GST_CHECK_VERSION(1, 24, 0)
constexpr const char *kMetas[] = {"GstCudaVisionTensorMeta", "GstCudaVisionKeypointsMeta",
                                  "GstCudaVisionLinesMeta"};

std::vector<guint8> serialised(const GstMeta *meta) {
  const Owned<GByteArray> bytes(g_byte_array_new());
  EXPECT_TRUE(gst_meta_serialize_simple(meta, bytes.get()));
  return {bytes->data, bytes->data + bytes->len};
}

// The serialised bytes behind GStreamer's header, which is two sizes, the name with its NUL, and the version.
std::vector<guint8> payload(const GstMeta *meta) {
  const std::vector<guint8> bytes = serialised(meta);
  return {bytes.begin() + std::ptrdiff_t(8 + std::strlen(g_type_name(meta->info->type)) + 2), bytes.end()};
}

GstMeta *find(GstBuffer *buffer, const char *name) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(buffer, &state))
    if (meta->info == gst_meta_get_info(name)) return meta;
  return nullptr;
}

GstMeta *deserialised(GstBuffer *buffer, const char *name, const std::vector<guint8> &bytes,
                      guint8 version = kWireVersion) {
  const GstMetaInfo *info = gst_meta_get_info(name);
  const std::vector<guint8> exact(bytes);  // lets a sanitizer detect reads beyond the end
  return info->deserialize_func(info, buffer, exact.data(), exact.size(), version);
}

class Serialised : public testing::Test {
 protected:
  void SetUp() override {
    memory_counts().reset();
    attach_all(source_.get());
  }
  Owned<GstBuffer> source_ = frame(), target_ = frame();
};

TEST_F(Serialised, all_come_back_as_they_were) {
  std::vector<guint8> bytes;
  for (const char *name : kMetas) {
    const std::vector<guint8> one = serialised(find(source_.get(), name));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  std::size_t at = 0;
  while (at < bytes.size()) {
    guint32 consumed = 0;
    ASSERT_NE(gst_meta_deserialize(target_.get(), bytes.data() + at, bytes.size() - at, &consumed), nullptr);
    at += consumed;
  }
  const auto *before = gst_cuda_vision_buffer_get_tensor_meta(source_.get(), nullptr);
  const auto *after = gst_cuda_vision_buffer_get_tensor_meta(target_.get(), nullptr);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->id, before->id);
  EXPECT_EQ(after->element_type, before->element_type);
  EXPECT_EQ(dims_of(after), dims_of(before));
  EXPECT_EQ(values_of<guint8>(after), kGrid);
  EXPECT_EQ(after->frame_width, before->frame_width);
  EXPECT_EQ(after->frame_height, before->frame_height);
  EXPECT_EQ(after->origin_x, before->origin_x);
  EXPECT_EQ(after->origin_y, before->origin_y);
  EXPECT_EQ(after->step_x, before->step_x);
  EXPECT_EQ(after->step_y, before->step_y);
  EXPECT_EQ(after->is_drawn, before->is_drawn);
  expect_same(gst_cuda_vision_buffer_get_keypoints_meta(target_.get()), some_keypoints());
  expect_same(gst_cuda_vision_buffer_get_lines_meta(target_.get()), some_lines());
}

// An id becomes a quark, which lives as long as the process.
TEST_F(Serialised, ids_are_bounded_in_length_and_number) {
  const gsize dims[] = {1};
  const auto add = [&](const std::string &id) {
    const auto *meta = gst_cuda_vision_buffer_add_tensor_meta(
        source_.get(), id.c_str(), GST_CUDA_VISION_ELEMENT_TYPE_U8, 1, dims, counted_numbers({7}));
    return payload(&meta->meta);
  };
  EXPECT_NE(deserialised(target_.get(), kMetas[0], add(std::string(256, 'i'))), nullptr);
  EXPECT_EQ(deserialised(target_.get(), kMetas[0], add(std::string(257, 'i'))), nullptr);

  const std::vector<guint8> known = add("number-00000");
  const auto accepted_between = [&](int first, int end) {  // no quark has these ids yet
    int accepted = 0;
    std::thread([&] {
      for (int i = first; i < end; ++i) {
        std::vector<guint8> fresh = known;
        char digits[12];
        std::snprintf(digits, sizeof digits, "%05d", i);
        std::copy_n(digits, 5, fresh.begin() + 7);  // behind "number-"
        const Owned<GstBuffer> buffer = frame();
        accepted += deserialised(buffer.get(), kMetas[0], fresh) != nullptr;
      }
    }).join();
    return accepted;
  };
  EXPECT_EQ(accepted_between(1, 1000), 256) << "of one stream";
  EXPECT_EQ(accepted_between(2000, 3000), 256) << "of another one";
  EXPECT_NE(deserialised(target_.get(), kMetas[0], known), nullptr)
      << "ids that are known are no more memory";
}

TEST_F(Serialised, tensor_whose_data_was_cut_is_refused) {
  const gsize dims[] = {40};
  auto *meta = gst_cuda_vision_buffer_add_tensor_meta(source_.get(), "cut", GST_CUDA_VISION_ELEMENT_TYPE_U8,
                                                      1, dims, counted_numbers(std::vector<guint8>(40)));
  gst_buffer_set_size(meta->data, 39);
  const Owned<GByteArray> bytes(g_byte_array_new());
  EXPECT_FALSE(gst_meta_serialize_simple(&meta->meta, bytes.get()));
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_bytes(meta), nullptr);
}

TEST_F(Serialised, tensors_of_every_type_come_back) {
  const std::vector<guint8> raw(48, 0xa5);
  for (int type = 0; type <= GST_CUDA_VISION_ELEMENT_TYPE_F32; ++type) {
    const auto element_type = static_cast<GstCudaVisionElementType>(type);
    const gsize dims[] = {2, 3, 8 / gst_cuda_vision_element_type_size(element_type)};
    const auto *meta = gst_cuda_vision_buffer_add_tensor_meta(source_.get(), "typed", element_type, 3, dims,
                                                              counted_numbers(raw));
    const auto *back = reinterpret_cast<GstCudaVisionTensorMeta *>(
        deserialised(target_.get(), kMetas[0], payload(&meta->meta)));
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(back->element_type, element_type);
    EXPECT_EQ(values_of<guint8>(back), raw);
  }
}

TEST_F(Serialised, nothing_found_comes_back_as_nothing_found) {
  const auto *empty = gst_cuda_vision_buffer_add_lines_meta(source_.get(), nullptr, 0);
  const auto *back = reinterpret_cast<GstCudaVisionLinesMeta *>(
      deserialised(target_.get(), kMetas[2], payload(&empty->meta)));
  expect_same(back, {});
}

TEST_F(Serialised, a_tensor_without_content_is_not_written) {
  const GstMeta *meta = gst_buffer_add_meta(source_.get(), GST_CUDA_VISION_TENSOR_META_INFO, nullptr);
  const Owned<GByteArray> bytes(g_byte_array_new());
  EXPECT_FALSE(gst_meta_serialize_simple(meta, bytes.get()));
  EXPECT_EQ(bytes->len, 0u);
}

TEST_F(Serialised, what_is_cut_short_or_too_long_is_refused) {
  for (const char *name : kMetas) {
    SCOPED_TRACE(name);
    const std::vector<guint8> whole = payload(find(source_.get(), name));
    EXPECT_NE(deserialised(target_.get(), name, whole), nullptr);
    // A list is nothing but its items, so that a few whole items are a list, too.
    const std::size_t item = name == kMetas[0]   ? whole.size()
                             : name == kMetas[1] ? sizeof(GstCudaVisionKeypoint)
                                                 : sizeof(GstCudaVisionLine);
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(
          deserialised(target_.get(), name, {whole.begin(), whole.begin() + std::ptrdiff_t(size)}) != nullptr,
          name != kMetas[0] && size % item == 0)
          << size;
    std::vector<guint8> longer = whole;
    longer.push_back(0);
    EXPECT_EQ(deserialised(target_.get(), name, longer), nullptr);
    EXPECT_EQ(deserialised(target_.get(), name, whole, 0), nullptr);  // other versions
    EXPECT_EQ(deserialised(target_.get(), name, whole, kWireVersion + 1), nullptr);
  }
}

struct Fields {
  const char *id = "grid";
  guchar type = GST_CUDA_VISION_ELEMENT_TYPE_U8;
  double origin = 0;
  std::vector<guint64> dims = {2, 3};
  gsize size = 6;
};

// A tensor in serialised form, as tensor_meta.cpp describes it.
std::vector<guint8> tensor_of(const Fields &fields) {
  const std::vector<guint8> numbers(fields.size);
  const Owned<GVariant> value(g_variant_ref_sink(g_variant_new(
      "(sybuudddd@at@ay)", fields.id, fields.type, FALSE, 64u, 48u, fields.origin, 0.0, 1.0, 1.0,
      g_variant_new_fixed_array(G_VARIANT_TYPE_UINT64, fields.dims.data(), fields.dims.size(), 8),
      g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, numbers.data(), numbers.size(), 1))));
  const auto *bytes = static_cast<const guint8 *>(g_variant_get_data(value.get()));
  return {bytes, bytes + g_variant_get_size(value.get())};
}

TEST_F(Serialised, wrong_fields_of_a_tensor_are_refused) {
  EXPECT_NE(deserialised(target_.get(), kMetas[0], tensor_of({})), nullptr);
  constexpr guint64 kMost = std::numeric_limits<guint64>::max();
  const Fields cases[] = {{.id = ""},
                          {.type = 5},
                          {.origin = std::numeric_limits<double>::quiet_NaN()},
                          {.dims = {}, .size = 1},
                          {.dims = std::vector<guint64>(9, 1), .size = 1},
                          {.dims = {0, 3}, .size = 0},
                          {.dims = {kMost, kMost}},
                          {.dims = {guint64{1} << 32, (guint64{1} << 32) + 6}, .size = 0},
                          {.size = 5},
                          {.size = 7}};
  for (const Fields &fields : cases)
    EXPECT_EQ(deserialised(target_.get(), kMetas[0], tensor_of(fields)), nullptr) << &fields - cases;
  std::vector<guint8> no_text = tensor_of({});
  no_text[0] = 0xff;
  EXPECT_EQ(deserialised(target_.get(), kMetas[0], no_text), nullptr);
}

TEST_F(Serialised, garbage_is_refused_or_read_within_bounds) {
  std::mt19937 random(7);
  for (const char *name : kMetas) {
    const std::vector<guint8> whole = payload(find(source_.get(), name));
    for (int i = 0; i < 3000; ++i) {
      std::vector<guint8> bytes = whole;
      if (i % 3 == 0)
        for (guint8 &byte : bytes) byte = static_cast<guint8>(random());
      else
        for (int j = 0; j < 3; ++j) bytes[random() % bytes.size()] = static_cast<guint8>(random());
      if (i % 2 == 0) bytes.resize(random() % (bytes.size() + 1));
      if (GstMeta *meta = deserialised(target_.get(), name, bytes)) {
        const Owned<GstBuffer> copy(gst_buffer_copy(target_.get()));
        EXPECT_FALSE(serialised(meta).empty());
        gst_buffer_remove_meta(target_.get(), meta);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace cudavision::test
