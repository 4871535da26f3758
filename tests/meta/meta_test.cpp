// SPDX-License-Identifier: LGPL-2.1-or-later
// Metas on a buffer: they are read back as attached, invalid arguments are refused, nothing leaks.
#include <gst/video/gstvideometa.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

constexpr gsize kHuge = std::numeric_limits<gsize>::max();

GstCudaVisionTensorMeta *add(GstBuffer *buffer, const char *id, GstCudaVisionElementType type,
                             const std::vector<gsize> &dims, GstBuffer *data) {
  return gst_cuda_vision_buffer_add_tensor_meta(buffer, id, type, guint(dims.size()), dims.data(), data);
}

TEST(ElementType, has_a_size_and_a_name) {
  const struct {
    GstCudaVisionElementType type;
    gsize size;
    const char *name;
  } types[] = {{GST_CUDA_VISION_ELEMENT_TYPE_U8, 1, "u8"},
               {GST_CUDA_VISION_ELEMENT_TYPE_U16, 2, "u16"},
               {GST_CUDA_VISION_ELEMENT_TYPE_U32, 4, "u32"},
               {GST_CUDA_VISION_ELEMENT_TYPE_I32, 4, "i32"},
               {GST_CUDA_VISION_ELEMENT_TYPE_F32, 4, "f32"}};
  for (const auto &t : types) {
    EXPECT_EQ(gst_cuda_vision_element_type_size(t.type), t.size);
    EXPECT_STREQ(gst_cuda_vision_element_type_to_string(t.type), t.name);
  }
}

TEST(ElementType, none_of_them_has_neither) {
  const auto none = static_cast<GstCudaVisionElementType>(7);
  EXPECT_EQ(gst_cuda_vision_element_type_size(none), 0u);
  EXPECT_EQ(gst_cuda_vision_element_type_to_string(none), nullptr);
}

TEST(TensorMeta, is_read_back) {
  const Owned<GstBuffer> buffer = frame();
  const std::vector<guint32> counts{5, 0, 7, 4000000000u, 1, 2};
  GstBuffer *data = numbers(counts);
  GstCudaVisionTensorMeta *meta =
      add(buffer.get(), "histogram", GST_CUDA_VISION_ELEMENT_TYPE_U32, {3, 2}, data);
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->frame_width, 0u);
  EXPECT_EQ(meta->step_x, 0);
  gst_cuda_vision_tensor_meta_set_geometry(meta, 320, 240, 1.5, -2, 4, 8);

  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), nullptr), meta);
  EXPECT_STREQ(gst_cuda_vision_tensor_meta_get_id(meta), "histogram");
  EXPECT_EQ(meta->id, g_quark_from_string("histogram"));
  EXPECT_EQ(meta->element_type, GST_CUDA_VISION_ELEMENT_TYPE_U32);
  EXPECT_EQ(dims_of(meta), (std::vector<gsize>{3, 2}));
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_size(meta), 24u);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_data(meta), data);
  EXPECT_EQ(values_of<guint32>(meta), counts);
  EXPECT_EQ(meta->frame_width, 320u);
  EXPECT_EQ(meta->frame_height, 240u);
  EXPECT_EQ(meta->origin_x, 1.5);
  EXPECT_EQ(meta->origin_y, -2);
  EXPECT_EQ(meta->step_x, 4);
  EXPECT_EQ(meta->step_y, 8);
}

TEST(TensorMeta, bytes_behind_the_last_number_are_ignored) {
  const Owned<GstBuffer> buffer = frame();
  const auto *meta = add(buffer.get(), "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, {2}, numbers<guint8>({1, 2, 3}));
  EXPECT_EQ(values_of<guint8>(meta), (std::vector<guint8>{1, 2}));
}

TEST(TensorMeta, several_are_found_by_id_and_listed_in_order) {
  const Owned<GstBuffer> buffer = frame();
  std::vector<GstCudaVisionTensorMeta *> added;
  for (const char *id : {"first", "second", "first", "third"})
    added.push_back(add(buffer.get(), id, GST_CUDA_VISION_ELEMENT_TYPE_U8, {1}, numbers<guint8>({9})));
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), nullptr), added[0]);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "first"), added[0]);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "second"), added[1]);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "third"), added[3]);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "a name that nothing has"), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), ""), nullptr);
  const Owned<GPtrArray> all(gst_cuda_vision_buffer_get_tensor_metas(buffer.get()));
  ASSERT_EQ(all->len, added.size());
  for (guint i = 0; i < all->len; ++i) EXPECT_EQ(g_ptr_array_index(all.get(), i), added[i]);
}

TEST(TensorMeta, what_is_none_is_refused_and_its_data_released) {
  const Owned<GstBuffer> buffer = frame();
  const auto u32 = GST_CUDA_VISION_ELEMENT_TYPE_U32;
  const struct {
    const char *reason;
    const char *id;
    GstCudaVisionElementType type;
    std::vector<gsize> dims;
  } cases[] = {{"no dimensions", "t", u32, {}},
               {"size 0", "t", u32, {2, 0}},
               {"8 dimensions", "t", u32, std::vector<gsize>(GST_CUDA_VISION_TENSOR_MAX_DIMS + 1, 1)},
               {"address space", "t", u32, {kHuge / 4 + 1}},
               {"address space", "t", u32, {kHuge, kHuge}},
               {"address space", "t", u32, {gsize{1} << 32, gsize{1} << 31}},
               {"do not fit", "t", u32, {3, 3}},
               {"element type", "t", static_cast<GstCudaVisionElementType>(7), {1}},
               {"id", "", u32, {1}},
               {"id", nullptr, u32, {1}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.reason);
    const Criticals criticals;
    EXPECT_EQ(add(buffer.get(), c.id, c.type, c.dims, counted_numbers(std::vector<guint8>(35))), nullptr);
    EXPECT_EQ(criticals.count(), 1);
    EXPECT_NE(criticals.last().find(c.reason), std::string::npos) << criticals.last();
    EXPECT_EQ(memory_counts().alive, 0);
  }
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), nullptr), nullptr);
}

TEST(TensorMeta, no_data_no_dims_and_the_frame_itself_as_data_are_refused) {
  const Owned<GstBuffer> buffer = frame();
  const gsize dims[] = {1};
  const Criticals criticals;
  EXPECT_EQ(add(buffer.get(), "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, {1}, nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_add_tensor_meta(buffer.get(), "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, 1,
                                                   nullptr, numbers<guint8>({1})),
            nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_add_tensor_meta(nullptr, "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, 1, dims,
                                                   numbers<guint8>({1})),
            nullptr);
  GstBuffer *itself = gst_buffer_new_allocate(nullptr, 8, nullptr);
  EXPECT_EQ(add(itself, "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, {1}, itself), nullptr);  // releases it
  EXPECT_EQ(criticals.count(), 4);
}

TEST(TensorMeta, a_geometry_that_is_not_finite_is_refused) {
  const Owned<GstBuffer> buffer = frame();
  auto *meta = add(buffer.get(), "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, {1}, numbers<guint8>({1}));
  const Criticals criticals;
  gst_cuda_vision_tensor_meta_set_geometry(meta, 1, 1, NAN, 0, 1, 1);
  gst_cuda_vision_tensor_meta_set_geometry(meta, 1, 1, 0, 0, 1, INFINITY);
  EXPECT_EQ(criticals.count(), 2);
  EXPECT_EQ(meta->frame_width, 0u);
}

TEST(TensorMeta, data_that_cannot_be_mapped_gives_no_bytes) {
  const Owned<GstBuffer> buffer = frame();
  const auto *meta = add(buffer.get(), "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, {1}, counted_numbers({1}));
  memory_counts().mappable = false;
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_bytes(meta), nullptr);
  memory_counts().mappable = true;
  EXPECT_EQ(values_of<guint8>(meta), (std::vector<guint8>{1}));
}

TEST(KeypointsMeta, is_read_back) {
  const Owned<GstBuffer> buffer = frame();
  const auto keypoints = some_keypoints();
  auto *meta =
      gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), keypoints.data(), guint(keypoints.size()));
  EXPECT_EQ(gst_cuda_vision_buffer_get_keypoints_meta(buffer.get()), meta);
  expect_same(meta, keypoints);
  guint n = 0;
  const GstCudaVisionKeypoint *all = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &n);
  ASSERT_EQ(n, keypoints.size());
  EXPECT_EQ(all[1].x, 10.25f);
  GstCudaVisionKeypoint beyond{1, 1, 1, 1};
  EXPECT_FALSE(gst_cuda_vision_keypoints_meta_get_keypoint(meta, n, &beyond));
  EXPECT_EQ(beyond.x, 0);
}

TEST(LinesMeta, is_read_back) {
  const Owned<GstBuffer> buffer = frame();
  const auto lines = some_lines();
  auto *meta = gst_cuda_vision_buffer_add_lines_meta(buffer.get(), lines.data(), guint(lines.size()));
  EXPECT_EQ(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), meta);
  expect_same(meta, lines);
  guint n = 0;
  const GstCudaVisionLine *all = gst_cuda_vision_lines_meta_get_lines(meta, &n);
  ASSERT_EQ(n, lines.size());
  EXPECT_EQ(all[0].votes, 230u);
  GstCudaVisionLine beyond{1, 1, 1, 1, 1, 1, 1};
  EXPECT_FALSE(gst_cuda_vision_lines_meta_get_line(meta, n, &beyond));
  EXPECT_EQ(beyond.votes, 0u);
}

TEST(ListMetas, none_found_is_not_the_same_as_not_looked) {
  const Owned<GstBuffer> buffer = frame();
  EXPECT_EQ(gst_cuda_vision_buffer_get_keypoints_meta(buffer.get()), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), nullptr);
  gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), nullptr, 0);
  gst_cuda_vision_buffer_add_lines_meta(buffer.get(), nullptr, 0);
  expect_same(gst_cuda_vision_buffer_get_keypoints_meta(buffer.get()), {});
  expect_same(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), {});
  guint n = 1;
  EXPECT_EQ(gst_cuda_vision_lines_meta_get_lines(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), &n),
            nullptr);
  EXPECT_EQ(n, 0u);
}

TEST(ListMetas, a_count_without_values_is_refused) {
  const Owned<GstBuffer> buffer = frame();
  const Criticals criticals;
  EXPECT_EQ(gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), nullptr, 1), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_add_lines_meta(buffer.get(), nullptr, 1), nullptr);
  EXPECT_EQ(criticals.count(), 2);
}

// The bytes of get_bytes() as items.
template <typename Item>
std::vector<Item> items_in(const Owned<GBytes> &bytes) {
  gsize size = 0;
  const void *data = g_bytes_get_data(bytes.get(), &size);
  EXPECT_EQ(size % sizeof(Item), 0u);
  std::vector<Item> items(size / sizeof(Item));
  if (size > 0) std::memcpy(items.data(), data, size);
  return items;
}

TEST(ListMetas, bytes_are_the_items_and_outlive_the_buffer) {
  Owned<GstBuffer> buffer = frame();
  attach_all(buffer.get());
  const auto *keypoints = gst_cuda_vision_buffer_get_keypoints_meta(buffer.get());
  const auto *lines = gst_cuda_vision_buffer_get_lines_meta(buffer.get());
  const Owned<GBytes> points(gst_cuda_vision_keypoints_meta_get_bytes(keypoints)),
      segments(gst_cuda_vision_lines_meta_get_bytes(lines));
  guint n = 0;
  EXPECT_EQ(g_bytes_get_data(points.get(), nullptr),
            gst_cuda_vision_keypoints_meta_get_keypoints(keypoints, &n))
      << "the points were copied";
  EXPECT_EQ(g_bytes_get_data(segments.get(), nullptr), gst_cuda_vision_lines_meta_get_lines(lines, &n))
      << "the lines were copied";
  buffer.reset();
  const auto floats = items_in<float>(points);
  ASSERT_EQ(floats.size(), 4 * some_keypoints().size());
  EXPECT_EQ((std::vector<float>{floats.begin() + 4, floats.begin() + 8}),
            (std::vector<float>{10.25f, 20.5f, 3, 1.25f}));
  // Votes are whole numbers, between floats.
  const auto words = items_in<guint32>(segments);
  ASSERT_EQ(words.size(), 7 * some_lines().size());
  EXPECT_EQ(words[2], 230u);
  EXPECT_EQ(words[9], 100u);
  EXPECT_EQ(items_in<float>(segments)[12], 319);
}

TEST(ListMetas, nothing_found_gives_no_bytes) {
  const Owned<GstBuffer> buffer = frame();
  auto *keypoints = gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), nullptr, 0);
  auto *lines = gst_cuda_vision_buffer_add_lines_meta(buffer.get(), nullptr, 0);
  for (int time = 0; time < 2; ++time) {
    const Owned<GBytes> points(gst_cuda_vision_keypoints_meta_get_bytes(keypoints)),
        segments(gst_cuda_vision_lines_meta_get_bytes(lines));
    EXPECT_EQ(g_bytes_get_size(points.get()), 0u);
    EXPECT_EQ(g_bytes_get_size(segments.get()), 0u);
    // Metas without items, as a pool of buffers leaves them.
    g_clear_pointer(&keypoints->items, g_bytes_unref);
    g_clear_pointer(&lines->items, g_bytes_unref);
  }
}

TEST(Regions, are_those_of_all_elements_in_order) {
  Owned<GstBuffer> buffer = frame();
  const Owned<GList> none(gst_cuda_vision_buffer_get_regions(buffer.get()));
  EXPECT_EQ(none, nullptr);
  auto *person = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 10, 20, 64, 128);
  person->id = 7;
  gst_video_region_of_interest_meta_add_param(
      person, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, nullptr));
  gst_video_region_of_interest_meta_add_param(
      person, gst_structure_new("tracking", "id", G_TYPE_UINT64, G_MAXUINT64 - 1, nullptr));
  auto *face = gst_buffer_add_video_region_of_interest_meta_id(buffer.get(), 0, 1, 2, 3, G_MAXUINT);
  face->id = -1, face->parent_id = 7;
  gst_video_region_of_interest_meta_add_param(face, gst_structure_new_empty("colour"));
  const Owned<GList> regions(gst_cuda_vision_buffer_get_regions(buffer.get()));
  buffer.reset();  // they are copies
  ASSERT_EQ(g_list_length(regions.get()), 2u);
  const auto *first = static_cast<const GstCudaVisionRegion *>(regions->data);
  EXPECT_STREQ(first->type, "person");
  EXPECT_EQ(first->x, 10);
  EXPECT_EQ(first->y, 20);
  EXPECT_EQ(first->width, 64u);
  EXPECT_EQ(first->height, 128u);
  EXPECT_EQ(first->id, 7);
  EXPECT_EQ(first->parent_id, 0);
  EXPECT_EQ(first->score, 0.75);
  EXPECT_EQ(first->track_id, G_MAXUINT64 - 1);
  EXPECT_TRUE(first->has_track);
  const auto *second = static_cast<const GstCudaVisionRegion *>(regions->next->data);
  EXPECT_EQ(second->type, nullptr);
  EXPECT_EQ(second->height, G_MAXUINT);
  EXPECT_EQ(second->id, -1);
  EXPECT_EQ(second->parent_id, 7);
  EXPECT_TRUE(std::isnan(second->score));
  EXPECT_EQ(second->track_id, 0u);
  EXPECT_FALSE(second->has_track);
}

TEST(Metas, a_buffer_that_is_not_writable_is_refused) {
  const Owned<GstBuffer> buffer = frame();
  const Owned<GstBuffer> second(gst_buffer_ref(buffer.get()));
  const Criticals criticals;
  EXPECT_EQ(add(buffer.get(), "t", GST_CUDA_VISION_ELEMENT_TYPE_U8, {1}, counted_numbers({1})), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), nullptr, 0), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_add_lines_meta(buffer.get(), nullptr, 0), nullptr);
  EXPECT_EQ(criticals.count(), 3);
  EXPECT_NE(criticals.last().find("writable"), std::string::npos);
  EXPECT_EQ(memory_counts().alive, 0);
}

TEST(Metas, nullptr_is_refused_everywhere) {
  const Criticals criticals;
  guint n = 0;
  gst_cuda_vision_buffer_add_keypoints_meta(nullptr, nullptr, 0);
  gst_cuda_vision_buffer_add_lines_meta(nullptr, nullptr, 0);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(nullptr, nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_metas(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_get_keypoints_meta(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_get_lines_meta(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_id(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_dims(nullptr, &n), nullptr);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_size(nullptr), 0u);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_data(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_bytes(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_keypoints_meta_get_n(nullptr), 0u);
  EXPECT_EQ(gst_cuda_vision_keypoints_meta_get_keypoints(nullptr, &n), nullptr);
  EXPECT_EQ(gst_cuda_vision_lines_meta_get_n(nullptr), 0u);
  EXPECT_EQ(gst_cuda_vision_lines_meta_get_lines(nullptr, &n), nullptr);
  EXPECT_EQ(gst_cuda_vision_keypoints_meta_get_bytes(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_lines_meta_get_bytes(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_get_regions(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_buffer_copy_metas(nullptr), nullptr);
  EXPECT_EQ(gst_cuda_vision_region_copy(nullptr), nullptr);
  gst_cuda_vision_region_free(nullptr);  // is allowed, as with every function that releases
  EXPECT_EQ(criticals.count(), 20);
}

TEST(Metas, registration_gives_the_same_type_again) {
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_info(), GST_CUDA_VISION_TENSOR_META_INFO);
  EXPECT_EQ(gst_meta_get_info("GstCudaVisionTensorMeta"), GST_CUDA_VISION_TENSOR_META_INFO);
  EXPECT_EQ(gst_meta_get_info("GstCudaVisionKeypointsMeta"), GST_CUDA_VISION_KEYPOINTS_META_INFO);
  EXPECT_EQ(gst_meta_get_info("GstCudaVisionLinesMeta"), GST_CUDA_VISION_LINES_META_INFO);
}

}  // namespace
}  // namespace cudavision::test
