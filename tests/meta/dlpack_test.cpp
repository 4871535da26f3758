// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors and lists on the host as DLPack's structs: shapes, types, sharing, copies, lifetimes, errors.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gst/meta/device_memory.h"
#include "tests/meta/support.h"
#include "tests/support/dlpack.h"

namespace cudavision::test {
namespace {

// The layout of the published header, on machines with pointers of 64 bits.
static_assert(sizeof(void *) != 8 ||
              (sizeof(DLTensor) == 48 && offsetof(DLTensor, dtype) == 20 &&
               offsetof(DLTensor, byte_offset) == 40 && sizeof(DLManagedTensor) == 64 &&
               offsetof(DLManagedTensorVersioned, flags) == 24 && sizeof(DLManagedTensorVersioned) == 80));

class Dlpack : public testing::Test {
 protected:
  void SetUp() override { memory_counts().reset(); }
  void TearDown() override { EXPECT_EQ(memory_counts().alive, 0); }
};

GstCudaVisionTensorMeta *add(GstBuffer *buffer, GstCudaVisionElementType type, std::vector<gsize> dims,
                             GstBuffer *data) {
  return gst_cuda_vision_buffer_add_tensor_meta(buffer, "numbers", type, static_cast<guint>(dims.size()),
                                                dims.data(), data);
}

// As if a plugin of another version had registered them for an allocator.
TEST_F(Dlpack, functions_of_another_version_are_not_called) {
  static constexpr DeviceMemoryAccess kNewer{.version = DeviceMemoryAccess::kVersion + 1,
                                             .place = nullptr,
                                             .order_consumer = nullptr,
                                             .order_writer = nullptr,
                                             .copy = nullptr};
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionTensorMeta *meta =
      add(buffer.get(), GST_CUDA_VISION_ELEMENT_TYPE_U8, {3}, counted_numbers({7, 8, 9}));
  const GType allocator = G_OBJECT_TYPE(gst_buffer_peek_memory(meta->data, 0)->allocator);
  offer_device_memory(allocator, &kNewer);
  gint device = -1;
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_dlpack_device(meta, &device), kDLCPU);
  const Tensor tensor = dlpack(meta);
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(static_cast<const std::uint8_t *>(tensor->dl_tensor.data)[2], 9);
  offer_device_memory(allocator, nullptr);
}

TEST_F(Dlpack, has_the_shape_and_the_type) {
  const struct {
    GstCudaVisionElementType type;
    std::uint8_t code, bits;
  } cases[] = {{GST_CUDA_VISION_ELEMENT_TYPE_U8, kDLUInt, 8},
               {GST_CUDA_VISION_ELEMENT_TYPE_U16, kDLUInt, 16},
               {GST_CUDA_VISION_ELEMENT_TYPE_U32, kDLUInt, 32},
               {GST_CUDA_VISION_ELEMENT_TYPE_I32, kDLInt, 32},
               {GST_CUDA_VISION_ELEMENT_TYPE_F32, kDLFloat, 32}};
  for (const auto &c : cases) {
    const Owned<GstBuffer> buffer(gst_buffer_new());
    const GstCudaVisionTensorMeta *meta =
        add(buffer.get(), c.type, {2, 3, 4}, gst_buffer_new_allocate(nullptr, 96, nullptr));
    const Tensor tensor = dlpack(meta);
    EXPECT_EQ(tensor->version.major, 1u);
    const DLTensor &t = tensor->dl_tensor;
    EXPECT_EQ(t.dtype.code, c.code);
    EXPECT_EQ(t.dtype.bits, c.bits);
    EXPECT_EQ(t.dtype.lanes, 1);
    EXPECT_EQ(std::vector(t.shape, t.shape + t.ndim), (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(std::vector(t.strides, t.strides + t.ndim), (std::vector<std::int64_t>{12, 4, 1}));
    EXPECT_EQ(t.device.device_type, kDLCPU);
    EXPECT_EQ(t.device.device_id, 0);
    EXPECT_EQ(t.byte_offset, 0u);
    gint device = -1;
    EXPECT_EQ(gst_cuda_vision_tensor_meta_get_dlpack_device(meta, &device), kDLCPU);
    EXPECT_EQ(device, 0);
  }
}

TEST_F(Dlpack, shares_the_numbers_read_only) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionTensorMeta *meta =
      add(buffer.get(), GST_CUDA_VISION_ELEMENT_TYPE_U8, {4}, numbers<guint8>({1, 2, 3, 4}));
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(meta->data, &map, GST_MAP_READ));
  for (const GstCudaVisionDlpackFlags flags : {kNone, kHost}) {
    const Tensor tensor = dlpack(meta, flags);
    EXPECT_EQ(tensor->dl_tensor.data, map.data);
    EXPECT_EQ(tensor->flags, kDLPackReadOnly);
  }
  gst_buffer_unmap(meta->data, &map);
}

TEST_F(Dlpack, copy_is_writable_and_alone) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionTensorMeta *meta =
      add(buffer.get(), GST_CUDA_VISION_ELEMENT_TYPE_U8, {4}, numbers<guint8>({1, 2, 3, 4}));
  const Tensor tensor = dlpack(meta, kCopy);
  EXPECT_EQ(tensor->flags, kDLPackIsCopied);
  auto *copy = static_cast<std::uint8_t *>(tensor->dl_tensor.data);
  EXPECT_EQ(std::vector(copy, copy + 4), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  copy[0] = 9;
  EXPECT_EQ(static_cast<std::uint8_t *>(dlpack(meta)->dl_tensor.data)[0], 1);
}

TEST_F(Dlpack, outlives_the_frame_and_is_released_on_any_thread) {
  Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionTensorMeta *meta =
      add(buffer.get(), GST_CUDA_VISION_ELEMENT_TYPE_U8, {3}, counted_numbers({7, 8, 9}));
  Tensor first = dlpack(meta), second = dlpack(meta);
  buffer.reset();
  EXPECT_EQ(memory_counts().alive, 1);
  const auto *numbers = static_cast<std::uint8_t *>(first->dl_tensor.data);
  EXPECT_EQ(std::vector(numbers, numbers + 3), (std::vector<std::uint8_t>{7, 8, 9}));
  first.reset();
  EXPECT_EQ(memory_counts().alive, 1);
  std::thread([&] { second.reset(); }).join();
  EXPECT_EQ(memory_counts().alive, 0);
}

TEST_F(Dlpack, unversioned_struct_for_old_consumers) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionTensorMeta *meta =
      add(buffer.get(), GST_CUDA_VISION_ELEMENT_TYPE_U8, {2, 2}, counted_numbers({1, 2, 3, 4}));
  const gsize address = gst_cuda_vision_tensor_meta_export_dlpack(meta, kUnversioned, -1, nullptr);
  const auto *tensor = reinterpret_cast<const DLManagedTensor *>(address);
  EXPECT_EQ(tensor->dl_tensor.ndim, 2);
  EXPECT_EQ(static_cast<std::uint8_t *>(tensor->dl_tensor.data)[3], 4);
  gst_cuda_vision_dlpack_release(address, kUnversioned);
  const gsize versioned = gst_cuda_vision_tensor_meta_export_dlpack(meta, kNone, -1, nullptr);
  EXPECT_EQ(reinterpret_cast<const DLManagedTensorVersioned *>(versioned)->dl_tensor.ndim, 2);
  gst_cuda_vision_dlpack_release(versioned, kNone);
  gst_cuda_vision_dlpack_release(0, kNone);
  EXPECT_EQ(memory_counts().maps, 2);
}

void expect_error(const GstCudaVisionTensorMeta *meta, GstResourceError code, const std::string &part) {
  for (const GstCudaVisionDlpackFlags flags : {kNone, kCopy, kUnversioned}) {
    GError *error = nullptr;
    EXPECT_EQ(gst_cuda_vision_tensor_meta_export_dlpack(meta, flags, -1, &error), 0u);
    ASSERT_NE(error, nullptr);
    EXPECT_TRUE(g_error_matches(error, GST_RESOURCE_ERROR, code));
    EXPECT_NE(std::string(error->message).find(part), std::string::npos) << error->message;
    g_error_free(error);
    EXPECT_EQ(gst_cuda_vision_tensor_meta_export_dlpack(meta, flags, -1, nullptr), 0u);
  }
}

TEST_F(Dlpack, errors_say_what_is_wrong) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionTensorMeta *meta =
      add(buffer.get(), GST_CUDA_VISION_ELEMENT_TYPE_U8, {4}, counted_numbers({1, 2, 3, 4}));
  memory_counts().mappable = false;
  expect_error(meta, GST_RESOURCE_ERROR_READ, "the tensor \"numbers\" cannot be mapped");
  memory_counts().mappable = true;
  const auto *cleared = reinterpret_cast<const GstCudaVisionTensorMeta *>(
      gst_buffer_add_meta(buffer.get(), GST_CUDA_VISION_TENSOR_META_INFO, nullptr));
  expect_error(cleared, GST_RESOURCE_ERROR_READ, "the tensor \"\" cannot be read: no id");
  gst_buffer_resize(meta->data, 0, 3);
  expect_error(meta, GST_RESOURCE_ERROR_READ, "has 3 bytes instead of 4");
}

// --- lists ---

TEST_F(Dlpack, lists_are_shared) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const std::vector<GstCudaVisionKeypoint> points = some_keypoints();
  const std::vector<GstCudaVisionLine> lines = some_lines();
  const GstCudaVisionKeypointsMeta *keypoints_meta = gst_cuda_vision_buffer_add_keypoints_meta(
      buffer.get(), points.data(), static_cast<guint>(points.size()));
  const GstCudaVisionLinesMeta *lines_meta =
      gst_cuda_vision_buffer_add_lines_meta(buffer.get(), lines.data(), static_cast<guint>(lines.size()));
  const Tensor first(reinterpret_cast<DLManagedTensorVersioned *>(
      gst_cuda_vision_keypoints_meta_export_dlpack(keypoints_meta, kNone, nullptr)));
  const Tensor second(reinterpret_cast<DLManagedTensorVersioned *>(
      gst_cuda_vision_lines_meta_export_dlpack(lines_meta, kNone, nullptr)));
  guint count = 0;
  EXPECT_EQ(first->dl_tensor.data, gst_cuda_vision_keypoints_meta_get_keypoints(keypoints_meta, &count));
  EXPECT_EQ(first->dl_tensor.shape[0], static_cast<std::int64_t>(points.size()));
  EXPECT_EQ(first->dl_tensor.shape[1], 4);
  EXPECT_EQ(first->dl_tensor.dtype.code, kDLFloat);
  EXPECT_EQ(second->dl_tensor.data, gst_cuda_vision_lines_meta_get_lines(lines_meta, &count));
  EXPECT_EQ(second->dl_tensor.shape[0], static_cast<std::int64_t>(lines.size()));
  EXPECT_EQ(second->dl_tensor.shape[1], 7);
  EXPECT_EQ(second->dl_tensor.dtype.code, kDLUInt);
}

TEST_F(Dlpack, list_outlives_the_frame_and_may_be_empty) {
  const Criticals criticals;
  Owned<GstBuffer> buffer(gst_buffer_new());
  const GstCudaVisionKeypoint point{1, 2, 3, 4};
  const Tensor held(reinterpret_cast<DLManagedTensorVersioned *>(gst_cuda_vision_keypoints_meta_export_dlpack(
      gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), &point, 1), kNone, nullptr)));
  const Tensor empty(reinterpret_cast<DLManagedTensorVersioned *>(gst_cuda_vision_lines_meta_export_dlpack(
      gst_cuda_vision_buffer_add_lines_meta(buffer.get(), nullptr, 0), kNone, nullptr)));
  buffer.reset();
  EXPECT_EQ(static_cast<const float *>(held->dl_tensor.data)[3], 4);
  EXPECT_EQ(empty->dl_tensor.shape[0], 0);
  EXPECT_EQ(criticals.count(), 0) << criticals.last();
}

}  // namespace
}  // namespace cudavision::test
