// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson with metas into which others have written anything: each line is valid JSON and says what cannot be
// read, and the stream goes on with one warning.
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/elements/json_lines.h"

namespace {

using namespace cudavision::test;

class CudaVisionJsonHostile : public ElementTest {};

constexpr const char *kModes[] = {"none", "summary", "full"};

GstCudaVisionTensorMeta *tensor_in(GstBuffer *buffer) {
  add_tensor<guint32>(buffer, "numbers", {1, 2, 3, 4}, {2, 2});
  return gst_cuda_vision_buffer_get_tensor_meta(buffer, "numbers");
}

std::string tensors_in(const std::string &line) { return line.substr(line.find("\"tensors\"")); }

// Pools of GStreamer 1.24 clear metas, which then have neither id nor data.
TEST_F(CudaVisionJsonHostile, metas_that_a_pool_has_cleared_are_unreadable) {
  for (const char *mode : kModes) {
    JsonHarness json("tensor-data=" + std::string(mode));
    Owned<GstBuffer> buffer = frame();
    for (const GstMetaInfo *info : {GST_CUDA_VISION_TENSOR_META_INFO, GST_CUDA_VISION_KEYPOINTS_META_INFO,
                                    GST_CUDA_VISION_LINES_META_INFO})
      ASSERT_NE(gst_buffer_add_meta(buffer.get(), info, nullptr), nullptr);
    EXPECT_EQ(
        json.line_of(std::move(buffer)),
        R"({"frame":0,"pts":0,"running-time":0,"width":640,"height":480,)"
        R"("keypoints":[{"unreadable":"there is no list"}],"lines":[{"unreadable":"there is no list"}],)"
        R"("regions":[],"tensors":[{"id":null,"unreadable":"no id"}]})");
    EXPECT_TRUE(is(take_warning(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "no id"));
  }
}

TEST_F(CudaVisionJsonHostile, tensor_that_somebody_has_changed_is_unreadable) {
  const struct {
    std::function<void(GstCudaVisionTensorMeta *)> spoil;
    const char *id, *fault;
    bool with_none = true;  // also without the numbers
  } cases[] = {
      {[](auto *meta) { meta->id = 0; }, "null", "no id"},
      {[](auto *meta) { meta->id = G_MAXUINT32; }, "null", "no id"},
      {[](auto *meta) { meta->n_dims = 1000; }, "\"numbers\"", "more than 8 dimensions"},
      {[](auto *meta) { meta->n_dims = 0; }, "\"numbers\"", "no dimensions"},
      {[](auto *meta) { meta->dims[0] = 0; }, "\"numbers\"", "a dimension of size 0"},
      {[](auto *meta) { meta->dims[0] = G_MAXSIZE; }, "\"numbers\"", "larger than the address space"},
      {[](auto *meta) { std::memset(&meta->element_type, 77, sizeof meta->element_type); }, "\"numbers\"",
       "unknown element type"},
      {[](auto *meta) { gst_clear_buffer(&meta->data); }, "\"numbers\"", "no data"},
      {[](auto *meta) { meta->dims[0] = gsize{1} << 59; }, "\"numbers\"",
       "data that is too short or cannot be mapped", false},
      {[](auto *meta) { gst_buffer_set_size(meta->data, 15); }, "\"numbers\"",
       "data that is too short or cannot be mapped", false}};
  for (const char *mode : kModes) {
    JsonHarness json("tensor-data=" + std::string(mode));
    for (const auto &c : cases) {
      if (!c.with_none && std::string(mode) == "none") continue;
      Owned<GstBuffer> buffer = frame();
      c.spoil(tensor_in(buffer.get()));
      add_tensor<guint8>(buffer.get(), "readable", {7});
      const std::string line = json.line_of(std::move(buffer));
      EXPECT_EQ(tensors_in(line).find(std::string("\"tensors\":[{\"id\":") + c.id + ",\"unreadable\":\"" +
                                      c.fault + "\"},{\"id\":\"readable\",\"dims\":[1]"),
                0u)
          << mode << ": " << line;
    }
    EXPECT_TRUE(take_warning(json.element()));
    EXPECT_FALSE(take_warning(json.element())) << "one is enough";
    EXPECT_FALSE(take_error(json.element()));
  }
}

// After another start the element warns again.
TEST_F(CudaVisionJsonHostile, warning_comes_once_a_start) {
  JsonHarness json;
  for (int start = 0; start < 2; ++start) {
    for (int i = 0; i < 3; ++i) {
      Owned<GstBuffer> buffer = frame();
      gst_buffer_add_meta(buffer.get(), GST_CUDA_VISION_TENSOR_META_INFO, nullptr);
      json.line_of(std::move(buffer));
    }
    EXPECT_TRUE(take_warning(json.element()));
    EXPECT_FALSE(take_warning(json.element()));
    json.restart();
  }
}

TEST_F(CudaVisionJsonHostile, list_that_is_none_is_unreadable_beside_others) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  add_keypoints(buffer.get(), {{1, 0, 0, 0}});
  add_keypoints(buffer.get(), {{2, 0, 0, 0}, {3, 0, 0, 0}});
  GstCudaVisionKeypointsMeta *first = gst_cuda_vision_buffer_get_keypoints_meta(buffer.get());
  g_bytes_unref(first->items);
  first->items = g_bytes_new("7 bytes", 7);
  const Json line = json.json_of(std::move(buffer));
  ASSERT_EQ(line.length("keypoints"), 3u);
  EXPECT_EQ(line.text("keypoints.0.unreadable"), "the bytes of the list are no whole items");
  EXPECT_EQ(line.real("keypoints.2.x"), 3.0);
}

// Numbers may begin at any byte of their memory.
TEST_F(CudaVisionJsonHostile, numbers_that_are_not_aligned_are_read) {
  JsonHarness json("tensor-data=full");
  Owned<GstBuffer> buffer = frame();
  GstBuffer *data = gst_buffer_new_allocate(nullptr, 17, nullptr);
  const guint32 values[] = {1, 2, 3, 4000000000u};
  gst_buffer_fill(data, 1, values, sizeof values);
  gst_buffer_resize(data, 1, -1);
  const gsize dims[] = {4};
  gst_cuda_vision_buffer_add_tensor_meta(buffer.get(), "odd", GST_CUDA_VISION_ELEMENT_TYPE_U32, 1, dims,
                                         data);
  EXPECT_NE(json.line_of(std::move(buffer)).find("\"data\":[1,2,3,4000000000]"), std::string::npos);
}

// A summary counts valid vectors only, and here nobody knows which vectors are valid.
TEST_F(CudaVisionJsonHostile, field_whose_validity_cannot_be_read_is_unreadable) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  add_tensor<float>(buffer.get(), "field", {1, 2, 3, 4}, {1, 2, 2});
  add_tensor<guint8>(buffer.get(), "field-valid", {1, 1});
  gst_clear_buffer(&gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "field-valid")->data);
  const Json line = json.json_of(std::move(buffer));
  EXPECT_EQ(line.text("tensors.0.unreadable"), "the tensor of its valid vectors cannot be read");
  EXPECT_EQ(line.text("tensors.1.unreadable"), "no data");
}

// Another thread or process may change numbers while they are read: a summary reads them twice.
TEST_F(CudaVisionJsonHostile, numbers_that_change_while_they_are_read_do_no_harm) {
  constexpr gsize kDims[] = {512, 512, 2};
  JsonHarness json;
  std::vector<float> numbers(kDims[0] * kDims[1] * kDims[2], 1.f);
  const gsize bytes = numbers.size() * sizeof(float);
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    for (float value = 2; !ends; value = 3 - value)
      for (float &number : numbers) std::atomic_ref(number).store(value, std::memory_order_relaxed);
  });
  for (int i = 0; i < (kSlow ? 10 : 40); ++i) {
    Owned<GstBuffer> buffer = frame();
    EXPECT_NE(gst_cuda_vision_buffer_add_tensor_meta(
                  buffer.get(), "flow", GST_CUDA_VISION_ELEMENT_TYPE_F32, 3, kDims,
                  gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, numbers.data(), bytes, 0, bytes,
                                              nullptr, nullptr)),
              nullptr);
    EXPECT_NE(tensors_in(json.line_of(std::move(buffer))).find("\"flow\""), std::string::npos);
  }
  ends = true;
  writer.join();
}

// A frame may have any number of tensors, so only the next 63 are searched for the validity.
TEST_F(CudaVisionJsonHostile, validity_is_one_of_the_next_63_tensors) {
  for (const int between : {62, 63}) {
    JsonHarness json;
    Owned<GstBuffer> buffer = frame();
    add_tensor<float>(buffer.get(), "field", {1, 2, 100, 200}, {1, 2, 2});
    for (int i = 0; i < between; ++i) add_tensor<guint8>(buffer.get(), "other", {1});
    add_tensor<guint8>(buffer.get(), "field-valid", {1, 0});
    EXPECT_EQ(json.json_of(std::move(buffer)).real("tensors.0.components.1.max"), between == 62 ? 2 : 200);
  }
}

// --- regions ---

TEST_F(CudaVisionJsonHostile, region_that_begins_outside_of_the_frame_is_negative) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", static_cast<guint>(-10),
                                               static_cast<guint>(-20), 60, 120);
  const Json line = json.json_of(std::move(buffer));
  EXPECT_EQ(line.whole("regions.0.x"), -10);
  EXPECT_EQ(line.whole("regions.0.y"), -20);
}

TEST_F(CudaVisionJsonHostile, region_with_names_that_are_none) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  gst_buffer_add_video_region_of_interest_meta_id(buffer.get(), G_MAXUINT32, 1, 2, 3, 4);
  auto *region = add_region(buffer.get(), "T\xfcr");
  region->params = g_list_append(region->params, nullptr);
  gst_video_region_of_interest_meta_add_param(region,
                                              gst_structure_new_id_empty(g_quark_from_string("\xff \"\n")));
  const GList *null = region->params;
#if !GST_CHECK_VERSION(1, 26, 0)  // the public field is the name
  GstStructure *nameless = gst_structure_new_empty("nameless");
  nameless->name = 0;
  region->params = g_list_append(region->params, nameless);
#endif
  const Owned<GstBuffer> kept(gst_buffer_ref(buffer.get()));
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(line.find("\"params\":{\"\xef\xbf\xbd \\\"\\n\":{}}}]"), std::string::npos) << line;
  EXPECT_TRUE(Json(line).is_null("regions.0.type"));
  EXPECT_EQ(Json(line).text("regions.1.type"), "T\xef\xbf\xbdr");
  region->params =
      g_list_delete_link(region->params, const_cast<GList *>(null));  // GStreamer would release it
}

TEST_F(CudaVisionJsonHostile, values_that_are_null_are_null) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  auto *region = add_region(buffer.get(), "person");
  GstStructure *param = gst_structure_new("values", "text", G_TYPE_STRING, nullptr, nullptr);
  int number = 0;
  for (const GType type : {GST_TYPE_STRUCTURE, GST_TYPE_CAPS, GST_TYPE_BUFFER, GST_TYPE_SAMPLE,
                           GST_TYPE_TAG_LIST, GST_TYPE_SEGMENT, G_TYPE_DATE, GST_TYPE_DATE_TIME, G_TYPE_BYTES,
                           GST_TYPE_CAPS_FEATURES, G_TYPE_STRV, G_TYPE_ERROR, G_TYPE_POINTER, G_TYPE_OBJECT,
                           G_TYPE_VARIANT, GST_TYPE_ALLOCATION_PARAMS, G_TYPE_VALUE, G_TYPE_PTR_ARRAY}) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, type);
    gst_structure_set_value(param, ("field" + std::to_string(number++)).c_str(), &value);
    g_value_unset(&value);
  }
  gst_video_region_of_interest_meta_add_param(region, param);
  const Json line = json.json_of(std::move(buffer));
  EXPECT_EQ(line.members("regions.0.params.values").size(), static_cast<std::size_t>(number + 1));
  for (const std::string &name : line.members("regions.0.params.values"))
    EXPECT_TRUE(line.is_null("regions.0.params.values." + name)) << name;
}

// --- times ---

TEST_F(CudaVisionJsonHostile, reference_timestamps_of_no_clock_are_left_out) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  const Owned<GstCaps> caps(gst_caps_from_string("timestamp/x-unix"));
  auto *no_caps = gst_buffer_add_reference_timestamp_meta(buffer.get(), caps.get(), 1, GST_CLOCK_TIME_NONE);
  gst_clear_caps(&no_caps->reference);
  auto *no_time = gst_buffer_add_reference_timestamp_meta(buffer.get(), caps.get(), 1, GST_CLOCK_TIME_NONE);
  no_time->timestamp = G_MAXUINT64;
  const Owned<GstBuffer> kept(gst_buffer_ref(buffer.get()));
  EXPECT_FALSE(json.json_of(std::move(buffer)).has("utc"));
  no_caps->reference = gst_caps_ref(caps.get());  // GStreamer releases it
}

}  // namespace
