// SPDX-License-Identifier: LGPL-2.1-or-later
// The lifetime of metas: copies share their data, removal releases it, pools recycle it.
#include <gst/video/video.h>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

class MetaLife : public testing::Test {
 protected:
  void SetUp() override { memory_counts().reset(); }
  void TearDown() override { EXPECT_EQ(memory_counts().alive, 0); }
};

const GstCudaVisionTensorMeta *grid_of(const Owned<GstBuffer> &buffer) {
  return gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "grid");
}

void expect_shared(const Owned<GstBuffer> &a, const Owned<GstBuffer> &b) {
  const GstCudaVisionTensorMeta *grid_a = grid_of(a), *grid_b = grid_of(b);
  ASSERT_TRUE(grid_a != nullptr && grid_b != nullptr);
  EXPECT_NE(grid_a, grid_b);
  EXPECT_EQ(grid_a->data, grid_b->data);
  EXPECT_EQ(grid_a->id, grid_b->id);
  EXPECT_EQ(dims_of(grid_a), dims_of(grid_b));
  EXPECT_EQ(grid_a->frame_width, grid_b->frame_width);
  EXPECT_EQ(grid_a->step_y, grid_b->step_y);
  guint n = 0;
  EXPECT_EQ(
      gst_cuda_vision_keypoints_meta_get_keypoints(gst_cuda_vision_buffer_get_keypoints_meta(a.get()), &n),
      gst_cuda_vision_keypoints_meta_get_keypoints(gst_cuda_vision_buffer_get_keypoints_meta(b.get()), &n));
  EXPECT_EQ(n, some_keypoints().size());
  EXPECT_EQ(gst_cuda_vision_lines_meta_get_lines(gst_cuda_vision_buffer_get_lines_meta(a.get()), &n),
            gst_cuda_vision_lines_meta_get_lines(gst_cuda_vision_buffer_get_lines_meta(b.get()), &n));
  EXPECT_EQ(n, some_lines().size());
}

TEST_F(MetaLife, copies_share_by_reference) {
  Owned<GstBuffer> buffer = frame();
  attach_all(buffer.get());
  const Owned<GstBuffer> copy(gst_buffer_copy(buffer.get())), deep(gst_buffer_copy_deep(buffer.get()));
  expect_shared(buffer, copy);
  expect_shared(buffer, deep);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(grid_of(buffer)->data), 3);
  EXPECT_EQ(memory_counts().maps + memory_counts().copies, 0);

  buffer.reset();  // the copies stay valid
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(grid_of(copy)->data), 2);
  EXPECT_EQ(values_of<guint8>(grid_of(copy)), kGrid);
  EXPECT_EQ(memory_counts().maps, 1);
  expect_same(gst_cuda_vision_buffer_get_lines_meta(copy.get()), some_lines());
}

TEST_F(MetaLife, a_copy_of_a_part_of_the_bytes_keeps_the_metas) {
  const Owned<GstBuffer> buffer = frame();
  attach_all(buffer.get());
  const auto flags = static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_META | GST_BUFFER_COPY_MEMORY);
  const Owned<GstBuffer> part(gst_buffer_copy_region(buffer.get(), flags, 30, 60));
  expect_shared(buffer, part);
}

TEST_F(MetaLife, copied_results_stay_without_the_frame) {
  Owned<GstBuffer> buffer = frame();
  attach_all(buffer.get());
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 1, 2, 3, 4);
  const Owned<GstBuffer> copy(gst_cuda_vision_buffer_copy_metas(buffer.get()));
  expect_shared(buffer, copy);
  EXPECT_EQ(gst_buffer_n_memory(copy.get()), 0u);
  EXPECT_EQ(gst_buffer_get_n_meta(copy.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 0u);
  gst_buffer_remove_meta(buffer.get(),
                         gst_buffer_get_meta(buffer.get(), GST_CUDA_VISION_TENSOR_META_API_TYPE));
  buffer.reset();
  EXPECT_EQ(values_of<guint8>(grid_of(copy)), kGrid);
  expect_same(gst_cuda_vision_buffer_get_lines_meta(copy.get()), some_lines());
}

TEST_F(MetaLife, an_empty_buffer_carries_them) {
  const Owned<GstBuffer> empty(gst_buffer_new());
  attach_all(empty.get());
  const Owned<GstBuffer> copy(gst_buffer_copy(empty.get()));
  expect_shared(empty, copy);
}

TEST_F(MetaLife, a_hundred_times_added_and_removed_leaves_nothing) {
  const Owned<GstBuffer> buffer = frame();
  for (int i = 0; i < 100; ++i) {
    attach_all(buffer.get());
    EXPECT_EQ(memory_counts().alive, 1);
    gst_buffer_foreach_meta(
        buffer.get(),
        [](GstBuffer *, GstMeta **meta, gpointer) -> gboolean {
          *meta = nullptr;  // makes GStreamer remove the meta
          return TRUE;
        },
        nullptr);
    EXPECT_EQ(memory_counts().alive, 0);
  }
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), nullptr), nullptr);
}

TEST_F(MetaLife, numbers_that_are_held_survive_the_frame) {
  Owned<GstBuffer> buffer = frame();
  attach_all(buffer.get());
  const Owned<GstBuffer> data(gst_buffer_ref(gst_cuda_vision_tensor_meta_get_data(grid_of(buffer))));
  const Owned<GBytes> bytes(gst_cuda_vision_tensor_meta_get_bytes(grid_of(buffer)));
  buffer.reset();
  EXPECT_EQ(gst_buffer_memcmp(data.get(), 0, kGrid.data(), kGrid.size()), 0);
  gsize size = 0;
  const auto *first = static_cast<const guint8 *>(g_bytes_get_data(bytes.get(), &size));
  EXPECT_EQ(std::vector<guint8>(first, first + size), kGrid);
}

TEST_F(MetaLife, a_meta_without_content_is_safe_to_read) {
  const Owned<GstBuffer> buffer = frame();
  const auto *tensor = reinterpret_cast<GstCudaVisionTensorMeta *>(
      gst_buffer_add_meta(buffer.get(), GST_CUDA_VISION_TENSOR_META_INFO, nullptr));
  gst_buffer_add_meta(buffer.get(), GST_CUDA_VISION_KEYPOINTS_META_INFO, nullptr);
  gst_buffer_add_meta(buffer.get(), GST_CUDA_VISION_LINES_META_INFO, nullptr);
  const Owned<GstBuffer> copy(gst_buffer_copy(buffer.get()));
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_id(tensor), nullptr);
  EXPECT_TRUE(dims_of(tensor).empty());
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_size(tensor), 0u);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_data(tensor), nullptr);
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_bytes(tensor), nullptr);
  expect_same(gst_cuda_vision_buffer_get_keypoints_meta(copy.get()), {});
  expect_same(gst_cuda_vision_buffer_get_lines_meta(copy.get()), {});
}

TEST_F(MetaLife, a_transform_of_an_unknown_kind_is_refused) {
  const Owned<GstBuffer> buffer = frame(), other = frame();
  attach_all(buffer.get());
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(buffer.get(), &state))
    EXPECT_FALSE(meta->info->transform_func(other.get(), meta, buffer.get(),
                                            g_quark_from_static_string("test-unknown"), nullptr));
  state = nullptr;
  EXPECT_EQ(gst_buffer_iterate_meta(other.get(), &state), nullptr);
}

// A pool of one buffer, so that the next buffer is the same one.
class OneBufferPool {
 public:
  OneBufferPool() : pool_(gst_buffer_pool_new()) {
    GstStructure *config = gst_buffer_pool_get_config(pool_);
    gst_buffer_pool_config_set_params(config, nullptr, 64, 1, 1);
    EXPECT_TRUE(gst_buffer_pool_set_config(pool_, config));
    EXPECT_TRUE(gst_buffer_pool_set_active(pool_, TRUE));
  }
  ~OneBufferPool() {
    gst_buffer_pool_set_active(pool_, FALSE);
    gst_object_unref(pool_);
  }
  OneBufferPool(const OneBufferPool &) = delete;
  OneBufferPool &operator=(const OneBufferPool &) = delete;

  Owned<GstBuffer> acquire() {
    GstBuffer *buffer = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr), GST_FLOW_OK);
    return Owned<GstBuffer>(buffer);
  }

 private:
  GstBufferPool *pool_;
};

TEST_F(MetaLife, a_recycled_buffer_has_none_of_the_last_frame) {
  OneBufferPool pool;
  const GstBuffer *first = nullptr;
  for (int i = 0; i < 10; ++i) {
    const Owned<GstBuffer> buffer = pool.acquire();
    if (first == nullptr) first = buffer.get();
    EXPECT_EQ(buffer.get(), first);
    EXPECT_EQ(grid_of(buffer), nullptr);
    EXPECT_EQ(gst_cuda_vision_buffer_get_keypoints_meta(buffer.get()), nullptr);
    EXPECT_EQ(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), nullptr);
    EXPECT_EQ(memory_counts().alive, 0);
    attach_all(buffer.get());
  }
}

#if GST_CHECK_VERSION(1, 24, 0)
TEST_F(MetaLife, a_pooled_meta_stays_and_is_cleared) {
  OneBufferPool pool;
  {
    const Owned<GstBuffer> buffer = pool.acquire();
    attach_all(buffer.get());
    gpointer state = nullptr;
    while (GstMeta *meta = gst_buffer_iterate_meta(buffer.get(), &state))
      meta->flags = static_cast<GstMetaFlags>(meta->flags | GST_META_FLAG_POOLED);
  }
  EXPECT_EQ(memory_counts().alive, 0);
  const Owned<GstBuffer> buffer = pool.acquire();
  const GstCudaVisionTensorMeta *tensor = gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), nullptr);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->data, nullptr);
  EXPECT_EQ(tensor->n_dims, 0u);
  EXPECT_TRUE(GST_META_FLAG_IS_SET(&tensor->meta, GST_META_FLAG_POOLED));
  expect_same(gst_cuda_vision_buffer_get_keypoints_meta(buffer.get()), {});
  expect_same(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), {});
}
#endif

}  // namespace
}  // namespace cudavision::test
