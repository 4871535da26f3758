// SPDX-License-Identifier: LGPL-2.1-or-later
// Serialised metas: they are read back unchanged, and truncated or invalid ones are refused.
#include "gst/meta/wire.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <thread>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

TEST(Wire, is_little_endian_and_unpadded) {
  guint8 bytes[15] = {};
  Writer writer(bytes);
  writer.put<std::uint8_t>(0x12);
  writer.put<std::uint32_t>(0x3456789a);
  writer.put<std::uint16_t>(0xbcde);
  writer.put(1.0);
  const guint8 expected[] = {0x12, 0x9a, 0x78, 0x56, 0x34, 0xde, 0xbc, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
  EXPECT_TRUE(std::equal(std::begin(bytes), std::end(bytes), expected));
  Reader reader(bytes, sizeof bytes);
  EXPECT_EQ(reader.get<std::uint8_t>(), 0x12);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0x3456789au);
  EXPECT_EQ(reader.get<std::uint16_t>(), 0xbcde);
  EXPECT_EQ(reader.get<double>(), 1.0);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.left(), 0u);
}

TEST(Wire, reading_beyond_the_end_gives_zero_and_is_known) {
  const guint8 bytes[] = {1, 2, 3};
  Reader reader(bytes, sizeof bytes);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.get<std::uint8_t>(), 0u);  // even one that would fit
  EXPECT_EQ(reader.take(std::numeric_limits<std::size_t>::max()), nullptr);
}

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
                      guint8 version = 1) {
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
        std::copy_n(digits, 5, fresh.begin() + 4 + 7);
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
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(deserialised(target_.get(), name, {whole.begin(), whole.begin() + std::ptrdiff_t(size)}),
                nullptr);
    std::vector<guint8> longer = whole;
    longer.push_back(0);
    EXPECT_EQ(deserialised(target_.get(), name, longer), nullptr);
    EXPECT_EQ(deserialised(target_.get(), name, whole, 0), nullptr);  // other versions
    EXPECT_EQ(deserialised(target_.get(), name, whole, 2), nullptr);
  }
}

TEST_F(Serialised, wrong_fields_of_a_tensor_are_refused) {
  const std::vector<guint8> whole = payload(find(source_.get(), kMetas[0]));  // id "grid", u8, dims 2 and 3
  const struct {
    std::size_t at;
    std::vector<guint8> bytes;
  } cases[] = {{0, {0xff, 0xff, 0xff, 0xff}},                           // an id of 4 GiB
               {4, {0xff}},                                             // an id that is not text
               {4, {0}},                                                // an id with a NUL
               {8, {5}},                                                // an invalid element type
               {9, {0}},                                                // no dimensions
               {9, {9}},                                                // too many dimensions
               {10, std::vector<guint8>(8, 0)},                         // a dimension of 0
               {10, std::vector<guint8>(16, 0xff)},                     // more than the address space
               {10, {0, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0}},  // 2^64 and 6 in 64 bits
               {34, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}}};                   // an origin that is NaN
  for (const auto &c : cases) {
    SCOPED_TRACE(c.at);
    std::vector<guint8> wrong = whole;
    std::copy(c.bytes.begin(), c.bytes.end(), wrong.begin() + std::ptrdiff_t(c.at));
    EXPECT_EQ(deserialised(target_.get(), kMetas[0], wrong), nullptr);
  }
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
        EXPECT_FALSE(payload(meta).empty());
        gst_buffer_remove_meta(target_.get(), meta);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace cudavision::test
