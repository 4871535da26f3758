// SPDX-License-Identifier: LGPL-2.1-or-later
// Metas into which other elements or programs have written anything: the library reads them as nothing, and says so.
#include <gst/video/gstvideometa.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/meta/support.h"
#include "tests/support/dlpack.h"

namespace cudavision::test {
namespace {

constexpr gsize kHuge = G_MAXSIZE;

// --- tensors ---

GstCudaVisionTensorMeta *add_numbers(GstBuffer *buffer, const char *id = "numbers") {
  const gsize dims[] = {2, 3};
  return gst_cuda_vision_buffer_add_tensor_meta(buffer, id, GST_CUDA_VISION_ELEMENT_TYPE_U8, 2, dims,
                                                gst_buffer_new_memdup("\1\2\3\4\5\6", 6));
}

std::string refusal(const GstCudaVisionTensorMeta *meta) {
  return error_of([meta](GError **error) {
    const Tensor tensor(gst_cuda_vision_tensor_meta_to_dlpack(meta, kNone, kNoStream, error));
    return tensor != nullptr;
  });
}

// Gives the tensor other data, which must not be null.
void replace_data(GstCudaVisionTensorMeta *meta, GstBuffer *data) {
  gst_buffer_unref(meta->data);
  meta->data = data;
}

// Values that C writes and C++ has no cast for.
void set_type(GstCudaVisionTensorMeta *meta, int type) {
  std::memcpy(&meta->element_type, &type, sizeof type);
}

struct Spoiled {
  const char *fault;
  std::function<void(GstCudaVisionTensorMeta *)> spoil;
  bool has_shape = false;
};
const std::vector<Spoiled> kSpoiled = {
    {"no id", [](auto *meta) { meta->id = 0; }, true},
    {"no id", [](auto *meta) { meta->id = G_MAXUINT32; }, true},  // nobody has made this quark
    {"no dimensions", [](auto *meta) { meta->n_dims = 0; }},
    {"more than 8 dimensions", [](auto *meta) { meta->n_dims = 9; }},
    {"more than 8 dimensions", [](auto *meta) { meta->n_dims = 1000; }},
    {"more than 8 dimensions", [](auto *meta) { meta->n_dims = G_MAXUINT; }},
    {"a dimension of size 0", [](auto *meta) { meta->dims[1] = 0; }},
    {"bytes instead of", [](auto *meta) { meta->dims[0] = 3; }, true},
    {"bytes instead of", [](auto *meta) { meta->n_dims = 1, meta->dims[0] = (gsize{1} << 61) + 6; }, true},
    {"bytes instead of", [](auto *meta) { meta->n_dims = 1, meta->dims[0] = G_MAXSSIZE; }, true},
    {"address space", [](auto *meta) { meta->n_dims = 1, meta->dims[0] = gsize{G_MAXSSIZE} + 1; }},
    {"address space", [](auto *meta) { meta->n_dims = 1, meta->dims[0] = kHuge; }},
    {"address space", [](auto *meta) { meta->dims[0] = kHuge, meta->dims[1] = kHuge; }},
    {"unknown element type", [](auto *meta) { set_type(meta, 77); }},
    {"unknown element type", [](auto *meta) { set_type(meta, -1); }},
    {"bytes instead of", [](auto *meta) { meta->element_type = GST_CUDA_VISION_ELEMENT_TYPE_F32; }, true},
    {"bytes instead of", [](auto *meta) { gst_buffer_set_size(meta->data, 5); }, true},
    {"bytes instead of", [](auto *meta) { replace_data(meta, gst_buffer_new()); }, true},
    {"no data", [](auto *meta) { gst_clear_buffer(&meta->data); }, true},
    {"no data", [](auto *meta) { replace_data(meta, reinterpret_cast<GstBuffer *>(gst_caps_new_any())); },
     true}};

TEST(HostileTensor, is_read_as_nothing) {
  for (std::size_t i = 0; i < kSpoiled.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + ": " + kSpoiled[i].fault);
    const Owned<GstBuffer> buffer(gst_buffer_new());
    GstCudaVisionTensorMeta *meta = add_numbers(buffer.get());
    kSpoiled[i].spoil(meta);
    const Criticals criticals;
    EXPECT_NE(refusal(meta).find(kSpoiled[i].fault), std::string::npos) << refusal(meta);
    EXPECT_EQ(dims_of(meta).empty(), !kSpoiled[i].has_shape);
    EXPECT_EQ(gst_cuda_vision_tensor_meta_get_size(meta) == 0, !kSpoiled[i].has_shape);
    EXPECT_EQ(gst_cuda_vision_tensor_meta_get_bytes(meta), nullptr);
    gint device = -1;
    EXPECT_EQ(gst_cuda_vision_tensor_meta_get_dlpack_device(meta, &device), kDLCPU);
    const Owned<GstBuffer> copy(gst_buffer_copy(buffer.get()));
    EXPECT_EQ(refusal(gst_cuda_vision_buffer_get_tensor_meta(copy.get(), nullptr)), refusal(meta));
#if GST_CHECK_VERSION(1, 24, 0)
    const Owned<GByteArray> bytes(g_byte_array_new());
    EXPECT_FALSE(gst_meta_serialize_simple(&meta->meta, bytes.get()));
#endif
    EXPECT_EQ(criticals.count(), 0) << criticals.last();
  }
}

// Positions that make no sense do not make a tensor invalid: its values can be read.
TEST(HostileTensor, may_lie_anywhere) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  GstCudaVisionTensorMeta *meta = add_numbers(buffer.get());
  meta->origin_x = NAN, meta->step_y = -INFINITY, meta->frame_width = G_MAXUINT;
  EXPECT_EQ(values_of<guint8>(meta), (std::vector<guint8>{1, 2, 3, 4, 5, 6}));
}

TEST(HostileTensor, id_is_valid_text) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  EXPECT_STREQ(gst_cuda_vision_tensor_meta_get_id(add_numbers(buffer.get(), "T\xfcr")), "T\xef\xbf\xbdr");
  // An error shows the first bytes of the id. For one of these ids a character crosses that border.
  for (std::size_t ascii = 1; ascii < 100; ++ascii) {
    GstCudaVisionTensorMeta *meta = add_numbers(buffer.get(), (std::string(ascii, 'i') + "äöü").c_str());
    meta->n_dims = 0;
    EXPECT_TRUE(g_utf8_validate(refusal(meta).c_str(), -1, nullptr)) << ascii;
    EXPECT_LT(refusal(meta).size(), 200u);
  }
}

// --- lists ---

// Replaces the items of a meta of keypoints, which must then have `count` keypoints. Takes `items`.
void expect_keypoints(GBytes *items, guint count) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  GstCudaVisionKeypointsMeta *meta = gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), nullptr, 0);
  g_bytes_unref(meta->items);
  meta->items = items;
  const Owned<GstBuffer> copy(gst_buffer_copy(buffer.get()));
  for (GstBuffer *of : {buffer.get(), copy.get()}) {
    const GstCudaVisionKeypointsMeta *keypoints = gst_cuda_vision_buffer_get_keypoints_meta(of);
    guint n = 99;
    EXPECT_EQ(gst_cuda_vision_keypoints_meta_get_keypoints(keypoints, &n) == nullptr, count == 0);
    EXPECT_EQ(n, count);
    EXPECT_EQ(gst_cuda_vision_keypoints_meta_get_n(keypoints), count);
    GstCudaVisionKeypoint keypoint;
    EXPECT_EQ(gst_cuda_vision_keypoints_meta_get_keypoint(keypoints, 0, &keypoint), count > 0);
    const Owned<GBytes> bytes(gst_cuda_vision_keypoints_meta_get_bytes(keypoints));
    EXPECT_EQ(g_bytes_get_size(bytes.get()), count * sizeof(GstCudaVisionKeypoint));
    const gsize address = gst_cuda_vision_keypoints_meta_export_dlpack(keypoints, kUnversioned, nullptr);
    ASSERT_NE(address, 0u);
    EXPECT_EQ(reinterpret_cast<DLManagedTensor *>(address)->dl_tensor.shape[0], count);
    gst_cuda_vision_dlpack_release(address, kUnversioned);
  }
}

TEST(HostileList, that_is_none_has_no_items) {
  alignas(GstCudaVisionKeypoint) static constexpr guint8 kItems[3 * sizeof(GstCudaVisionKeypoint)] = {};
  const Criticals criticals;
  expect_keypoints(g_bytes_new_static(kItems, sizeof kItems), 3);
  expect_keypoints(nullptr, 0);
  expect_keypoints(g_bytes_new_static(kItems, sizeof kItems - 1), 0);      // the last item is cut
  expect_keypoints(g_bytes_new_static(kItems + 1, sizeof kItems / 3), 0);  // not aligned
  // One item more than a guint can count, which would wrap to 1. The items are not read.
  expect_keypoints(g_bytes_new_static(kItems, ((gsize{1} << 32) + 1) * sizeof(GstCudaVisionKeypoint)), 0);
  EXPECT_EQ(criticals.count(), 0) << criticals.last();
}

// --- regions ---

GstCudaVisionRegion region_of(GstBuffer *buffer) {
  const Owned<GList> regions(gst_cuda_vision_buffer_get_regions(buffer));
  EXPECT_EQ(g_list_length(regions.get()), 1u);
  return *static_cast<const GstCudaVisionRegion *>(regions->data);
}

TEST(HostileRegion, may_begin_outside_of_the_frame) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", static_cast<guint>(-10),
                                               static_cast<guint>(-20), 60, G_MAXUINT);
  const GstCudaVisionRegion region = region_of(buffer.get());
  EXPECT_EQ(region.x, -10);
  EXPECT_EQ(region.y, -20);
  EXPECT_EQ(region.width, 60u);
  EXPECT_EQ(region.height, G_MAXUINT);
  const Owned<GBytes> bytes(gst_cuda_vision_buffer_get_regions_bytes(buffer.get()));
  const auto *packed = static_cast<const gint32 *>(g_bytes_get_data(bytes.get(), nullptr));
  EXPECT_EQ(packed[0], -10);
  EXPECT_EQ(packed[1], -20);
}

TEST(HostileRegion, parameters_that_are_none_are_left_out) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  auto *meta = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 1, 2, 3, 4);
  const Criticals criticals;
  meta->params = g_list_append(meta->params, nullptr);
#if !GST_CHECK_VERSION(1, 26, 0)  // the name is a public field
  meta->params = g_list_append(meta->params, gst_structure_new_empty("nameless"));
  static_cast<GstStructure *>(meta->params->next->data)->name = 0;
#endif
  EXPECT_TRUE(std::isnan(region_of(buffer.get()).score));
  const auto add = [meta](GstStructure *param) { meta->params = g_list_append(meta->params, param); };
  add(gst_structure_new("detection", "confidence", G_TYPE_STRING, "much", nullptr));
  add(gst_structure_new("tracking", "id", G_TYPE_INT, -1, nullptr));
  EXPECT_TRUE(std::isnan(region_of(buffer.get()).score));
  EXPECT_FALSE(region_of(buffer.get()).has_track);
  add(gst_structure_new("tracking", "id", G_TYPE_INT, 0, nullptr));
  EXPECT_TRUE(region_of(buffer.get()).has_track);
  EXPECT_EQ(criticals.count(), 0) << criticals.last();
  meta->params = g_list_remove(meta->params, nullptr);  // GStreamer would release it
}

TEST(HostileRegion, first_of_two_scores_counts) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  auto *meta = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 1, 2, 3, 4);
  for (const double score : {0.25, 0.75})
    gst_video_region_of_interest_meta_add_param(
        meta, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, score, nullptr));
  EXPECT_EQ(region_of(buffer.get()).score, 0.25);
}

TEST(HostileRegion, type_is_valid_text_or_none) {
  const Owned<GstBuffer> unknown(gst_buffer_new()), latin(gst_buffer_new()), length(gst_buffer_new());
  gst_buffer_add_video_region_of_interest_meta_id(unknown.get(), G_MAXUINT32, 1, 2, 3, 4);
  EXPECT_EQ(region_of(unknown.get()).type, nullptr);
  gst_buffer_add_video_region_of_interest_meta(latin.get(), "T\xfcr", 1, 2, 3, 4);
  EXPECT_STREQ(region_of(latin.get()).type, "T\xef\xbf\xbdr");
  // The array has room for 63 bytes: the 63rd would be half a character.
  const std::string type = std::string(62, 'x') + "ä";
  gst_buffer_add_video_region_of_interest_meta(length.get(), type.c_str(), 1, 2, 3, 4);
  const Owned<GBytes> bytes(gst_cuda_vision_buffer_get_regions_bytes(length.get()));
  EXPECT_EQ(static_cast<const char *>(g_bytes_get_data(bytes.get(), nullptr)) + 40, std::string(62, 'x'));
}

}  // namespace
}  // namespace cudavision::test
