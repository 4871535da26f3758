// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: the numbers of tensors of all types, in full and as a summary, and the memory that a long
// list needs.
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/elements/json_lines.h"
#include "tests/support/pictures.h"

namespace {

struct SealedAllocator {
  GstAllocator parent;
};
struct SealedAllocatorClass {
  GstAllocatorClass parent_class;
};
G_DEFINE_TYPE(SealedAllocator, sealed_allocator, GST_TYPE_ALLOCATOR)

void sealed_allocator_class_init(SealedAllocatorClass *klass) {
  klass->parent_class.free = [](GstAllocator *, GstMemory *memory) { delete memory; };
}
void sealed_allocator_init(SealedAllocator *allocator) {
  allocator->parent.mem_map = [](GstMemory *, gsize, GstMapFlags) -> gpointer { return nullptr; };
}

using namespace cudavision::test;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class CudaVisionJsonTensor : public ElementTest {};

template <typename T>
std::string line_of(JsonHarness *json, const std::vector<T> &values, std::vector<gsize> dims = {}) {
  Owned<GstBuffer> buffer = frame();
  add_tensor<T>(buffer.get(), "numbers", values, std::move(dims));
  return json->line_of(std::move(buffer));
}

// The text of the tensors, without the members of the frame.
std::string tensors_in(const std::string &line) { return line.substr(line.find("\"tensors\"")); }

// --- all numbers ---

TEST_F(CudaVisionJsonTensor, every_type_is_written_to_its_limits) {
  JsonHarness json("tensor-data=full");
  const auto expect = [](const std::string &line, const std::string &type, const std::string &data) {
    EXPECT_NE(line.find("\"type\":\"" + type + "\",\"data\":[" + data + "]}"), std::string::npos) << line;
  };
  expect(line_of<guint8>(&json, {0, 7, 255}), "u8", "0,7,255");
  expect(line_of<guint16>(&json, {0, 256, 65535}), "u16", "0,256,65535");
  expect(line_of<guint32>(&json, {0, 2147483648u, 4294967295u}), "u32", "0,2147483648,4294967295");
  expect(line_of<gint32>(&json, {G_MININT32, -1, 0, G_MAXINT32}), "i32", "-2147483648,-1,0,2147483647");
  expect(line_of<float>(&json, {0, -0.0f, 1, 0.1f, -2.5f, 1e10f, 1.1754944e-38f, 3.4028235e38f, 1e-45f}),
         "f32", "0.0,-0.0,1.0,0.1,-2.5,1e+10,1.1754944e-38,3.4028235e+38,1e-45");
  expect(line_of<float>(&json, {kNan, kInfinity, -kInfinity, 1}), "f32", "null,null,null,1.0");
}

TEST_F(CudaVisionJsonTensor, data_is_flat_and_dims_are_outermost_first) {
  JsonHarness json("tensor-data=full");
  EXPECT_EQ(
      tensors_in(line_of<guint8>(&json, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3, 2})),
      R"("tensors":[{"id":"numbers","dims":[2,3,2],"type":"u8","data":[1,2,3,4,5,6,7,8,9,10,11,12]}]})");
  EXPECT_EQ(tensors_in(line_of<guint8>(&json, {9}, {1, 1, 1, 1, 1, 1, 1, 1})),
            R"("tensors":[{"id":"numbers","dims":[1,1,1,1,1,1,1,1],"type":"u8","data":[9]}]})");
}

TEST_F(CudaVisionJsonTensor, any_f32_reads_back_as_itself) {
  std::vector<float> values;
  Random random(7);
  while (values.size() < 5000) {
    const auto bits =
        static_cast<guint32>(random.byte() << 24 | random.byte() << 16 | random.byte() << 8 | random.byte());
    if (const auto value = std::bit_cast<float>(bits); std::isfinite(value)) values.push_back(value);
  }
  JsonHarness json("tensor-data=full");
  const Json line(line_of(&json, values));
  std::fesetenv(FE_DFL_ENV);  // keeps denormal numbers
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(static_cast<float>(line.real("tensors.0.data." + std::to_string(i))), values[i]);
}

#if defined(__SSE2__)
TEST_F(CudaVisionJsonTensor, smallest_reals_are_written_where_the_processor_takes_them_for_zero) {
  constexpr unsigned kFlushToZero = 0x8040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushToZero);
  JsonHarness json("tensor-data=full");
  const std::string line = line_of<float>(&json, {1e-45f, -1e-40f});
  EXPECT_EQ(_mm_getcsr() & kFlushToZero, kFlushToZero);
  _mm_setcsr(before);
  EXPECT_NE(line.find("[1e-45,-1e-40]"), std::string::npos) << line;
}
#endif

TEST_F(CudaVisionJsonTensor, bytes_behind_the_last_number_are_no_numbers) {
  JsonHarness json("tensor-data=full");
  const guint16 values[] = {1, 2, 3};
  const gsize dims[] = {2};
  Owned<GstBuffer> buffer = frame();
  gst_cuda_vision_buffer_add_tensor_meta(buffer.get(), "two", GST_CUDA_VISION_ELEMENT_TYPE_U16, 1, dims,
                                         gst_buffer_new_memdup(values, sizeof values));
  EXPECT_EQ(json.json_of(std::move(buffer)).length("tensors.0.data"), 2u);
}

TEST_F(CudaVisionJsonTensor, data_in_several_memories_is_one_list) {
  JsonHarness json("tensor-data=full");
  const gsize dims[] = {4};
  Owned<GstBuffer> buffer = frame();
  gst_cuda_vision_buffer_add_tensor_meta(
      buffer.get(), "halves", GST_CUDA_VISION_ELEMENT_TYPE_U8, 1, dims,
      gst_buffer_append(gst_buffer_new_memdup("\1\2", 2), gst_buffer_new_memdup("\3\4", 2)));
  EXPECT_NE(json.line_of(std::move(buffer)).find("\"data\":[1,2,3,4]"), std::string::npos);
}

// --- several tensors ---

TEST_F(CudaVisionJsonTensor, tensors_keep_their_order_and_ids) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  add_tensor<guint8>(buffer.get(), "b", {1});
  add_tensor<float>(buffer.get(), "a \"quoted\" ä", {2});
  add_tensor<guint16>(buffer.get(), "b", {3});
  const Json line = json.json_of(std::move(buffer));
  ASSERT_EQ(line.length("tensors"), 3u);
  EXPECT_EQ(line.text("tensors.0.id"), "b");
  EXPECT_EQ(line.text("tensors.1.id"), "a \"quoted\" ä");
  EXPECT_EQ(line.text("tensors.2.id"), "b");
  EXPECT_EQ(line.whole("tensors.2.sum"), 3);
}

// --- the modes ---

TEST_F(CudaVisionJsonTensor, mode_may_change_from_frame_to_frame) {
  JsonHarness json("tensor-data=none");
  const std::string head = R"("tensors":[{"id":"numbers","dims":[3],"type":"u8")";
  EXPECT_EQ(tensors_in(line_of<guint8>(&json, {1, 2, 6})), head + "}]}");
  set(json.element(), "tensor-data", "summary");
  EXPECT_EQ(tensors_in(line_of<guint8>(&json, {1, 2, 6})),
            head + R"(,"min":1,"max":6,"sum":9,"mean":3.0}]})");
  set(json.element(), "tensor-data", "full");
  EXPECT_EQ(tensors_in(line_of<guint8>(&json, {1, 2, 6})), head + R"(,"data":[1,2,6]}]})");
}

// Memory that cannot be mapped.
GstMemory *sealed_memory(gsize size) {
  auto *allocator = static_cast<GstAllocator *>(g_object_new(sealed_allocator_get_type(), nullptr));
  auto *memory = new GstMemory;
  gst_memory_init(memory, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, size, 0, 0, size);
  gst_object_unref(allocator);
  return memory;
}

void add_sealed_tensor(GstBuffer *frame) {
  GstBuffer *data = gst_buffer_new();
  gst_buffer_append_memory(data, sealed_memory(2));
  const gsize dims[] = {2};
  gst_cuda_vision_buffer_add_tensor_meta(frame, "sealed", GST_CUDA_VISION_ELEMENT_TYPE_U8, 1, dims, data);
}

TEST_F(CudaVisionJsonTensor, none_does_not_touch_the_numbers) {
  JsonHarness json("tensor-data=none");
  Owned<GstBuffer> buffer = frame();
  add_sealed_tensor(buffer.get());
  EXPECT_EQ(json.json_of(std::move(buffer)).text("tensors.0.id"), "sealed");
}

TEST_F(CudaVisionJsonTensor, tensor_that_cannot_be_mapped_is_unreadable) {
  for (const char *mode : {"tensor-data=summary", "tensor-data=full"}) {
    JsonHarness json(mode);
    Owned<GstBuffer> buffer = frame();
    add_tensor<guint8>(buffer.get(), "readable", {1});
    add_sealed_tensor(buffer.get());
    add_tensor<guint8>(buffer.get(), "readable too", {1});
    const Json line = json.json_of(std::move(buffer));
    EXPECT_EQ(line.length("tensors"), 3u);
    EXPECT_EQ(line.text("tensors.1.id"), "sealed");
    EXPECT_EQ(line.text("tensors.1.unreadable"), "data that is too short or cannot be mapped");
    EXPECT_EQ(line.text("tensors.2.id"), "readable too");
    EXPECT_TRUE(
        is(take_warning(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "cannot be read"));
  }
}

// --- summaries ---

template <typename T>
void expect_summary(const std::vector<T> &values, gint64 min, gint64 max, gint64 sum, double mean) {
  JsonHarness json;
  const Json line(line_of(&json, values));
  EXPECT_EQ(line.whole("tensors.0.min"), min);
  EXPECT_EQ(line.whole("tensors.0.max"), max);
  EXPECT_EQ(line.whole("tensors.0.sum"), sum);
  EXPECT_EQ(line.real("tensors.0.mean"), mean);
}

TEST_F(CudaVisionJsonTensor, summaries_of_whole_numbers_are_exact) {
  expect_summary<guint8>({5}, 5, 5, 5, 5);
  expect_summary<guint8>({3, 255, 0, 1}, 0, 255, 259, 64.75);
  expect_summary<guint16>({65535, 65535, 1}, 1, 65535, 131071, 131071.0 / 3);
  expect_summary<guint32>({4294967295u, 4294967295u, 4294967294u}, 4294967294, 4294967295, 12884901884,
                          12884901884.0 / 3);
  expect_summary<gint32>({G_MININT32, G_MININT32, 1}, G_MININT32, 1, -4294967295, -4294967295.0 / 3);
  // The sum exceeds 2^53, up to which a double represents every integer.
  std::vector<guint32> many(1 << 22, G_MAXUINT32);
  many.back() = 1;
  const gint64 sum = ((gint64{1} << 22) - 1) * G_MAXUINT32 + 1;
  expect_summary(many, 1, G_MAXUINT32, sum, static_cast<double>(sum) / (1 << 22));
}

TEST_F(CudaVisionJsonTensor, summary_of_reals_is_added_up_in_double) {
  JsonHarness json;
  const Json line(line_of<float>(&json, {1e8f, 1, -2.25f, 0.5f}));
  EXPECT_EQ(line.real("tensors.0.min"), -2.25);
  EXPECT_EQ(line.real("tensors.0.max"), 1e8);
  EXPECT_EQ(line.real("tensors.0.sum"), 99999999.25);
  EXPECT_EQ(line.real("tensors.0.mean"), 24999999.8125);
}

TEST_F(CudaVisionJsonTensor, summary_that_is_not_finite_is_null) {
  JsonHarness json;
  const std::string head = R"("tensors":[{"id":"numbers","dims":[2],"type":"f32",)";
  EXPECT_EQ(tensors_in(line_of<float>(&json, {1, kInfinity})),
            head + R"("min":1.0,"max":null,"sum":null,"mean":null}]})");
  EXPECT_EQ(tensors_in(line_of<float>(&json, {-kInfinity, 2})),
            head + R"("min":null,"max":2.0,"sum":null,"mean":null}]})");
  for (const std::vector<float> &values : {std::vector{kNan, 1.f}, std::vector{1.f, kNan}})
    EXPECT_EQ(tensors_in(line_of(&json, values)),
              head + R"("min":null,"max":null,"sum":null,"mean":null}]})");
}

// --- summaries of vectors ---

constexpr const char *kFieldHead = R"("tensors":[{"id":"numbers","dims":[)";

TEST_F(CudaVisionJsonTensor, field_of_vectors_is_summarised_by_component) {
  JsonHarness json;
  EXPECT_EQ(
      tensors_in(line_of<float>(&json, {3, 4, -1, 0, 0.5f, 0, 0, 0.75f}, {2, 2, 2})),
      kFieldHead +
          std::string(R"(2,2,2],"type":"f32","components":[)"
                      R"({"min":-1.0,"max":3.0,"mean":0.625,"median":0.0,"p99":3.0},)"
                      R"({"min":0.0,"max":4.0,"mean":1.1875,"median":0.0,"p99":4.0}],"moving":0.75}]})"));
}

TEST_F(CudaVisionJsonTensor, only_small_vectors_of_f32_in_rows_and_columns_are_a_field) {
  JsonHarness json;
  const auto is_field = [&](const auto &values, const std::vector<gsize> &dims) {
    const Json line(line_of(&json, values, dims));
    EXPECT_NE(line.has("tensors.0.components"), line.has("tensors.0.mean"));
    EXPECT_EQ(line.has("tensors.0.components"), line.has("tensors.0.moving"));
    return line.has("tensors.0.components");
  };
  const std::vector<float> real(60, 1.f);
  for (const gsize components : {2, 3, 4}) EXPECT_TRUE(is_field(real, {1, 60 / components, components}));
  EXPECT_TRUE(is_field(real, {3, 2, 5, 2}));
  EXPECT_FALSE(is_field(real, {30, 2}));  // a map that is two pixels wide
  EXPECT_FALSE(is_field(real, {4, 3, 5}));
  EXPECT_FALSE(is_field(real, {6, 10, 1}));
  EXPECT_FALSE(is_field(std::vector<gint32>(60, 1), {3, 10, 2}));
  EXPECT_FALSE(Json(line_of(&json, std::vector<float>{1, 2})).has("tensors.0.components"));
}

// The value of a sorted list at the percentile, by the rank that the documentation defines.
float ranked(const std::vector<float> &sorted, int percent) {
  const std::size_t least = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[least - 1];
}

TEST_F(CudaVisionJsonTensor, summary_of_vectors_is_that_of_their_sorted_components) {
  Random random(11);
  JsonHarness json;
  for (const std::size_t components : {2, 3, 4})
    for (const std::size_t count : {1, 2, 3, 100, 101, 5000}) {
      std::vector<float> values;
      for (std::size_t i = 0; i < count * components; ++i) {
        const float number =
            static_cast<float>(random.byte() - 128) * std::ldexp(1.f, random.byte() % 40 - 30);
        values.push_back(i % 7 == 0 ? 0.25f : number);
      }
      const Json line(line_of(&json, values, {1, count, components}));
      ASSERT_EQ(line.length("tensors.0.components"), components);
      double moving = 0;
      for (std::size_t i = 0; i < count; ++i) {
        double square = 0;
        for (std::size_t c = 0; c < components; ++c)
          square += std::pow(double{values[i * components + c]}, 2);
        moving += std::sqrt(square) > 0.5;
      }
      EXPECT_EQ(line.real("tensors.0.moving"), moving / static_cast<double>(count));
      for (std::size_t c = 0; c < components; ++c) {
        std::vector<float> sorted;
        for (std::size_t i = c; i < values.size(); i += components) sorted.push_back(values[i]);
        const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
        std::sort(sorted.begin(), sorted.end());
        const auto real = [&](const char *name) {
          return line.real("tensors.0.components." + std::to_string(c) + "." + name);
        };
        const auto f32 = [&](const char *name) { return static_cast<float>(real(name)); };
        EXPECT_EQ(f32("min"), sorted.front());
        EXPECT_EQ(f32("max"), sorted.back());
        EXPECT_EQ(real("mean"), sum / static_cast<double>(count));
        EXPECT_EQ(f32("median"), ranked(sorted, 50)) << count;
        EXPECT_EQ(f32("p99"), ranked(sorted, 99)) << count;
      }
    }
}

TEST_F(CudaVisionJsonTensor, vectors_with_what_is_no_number_do_not_count) {
  JsonHarness json;
  EXPECT_EQ(
      tensors_in(
          line_of<float>(&json, {kNan, 9, 1, 2, 9, kInfinity, -kInfinity, kNan, -0.0f, 0.25f}, {1, 5, 2})),
      kFieldHead +
          std::string(R"(1,5,2],"type":"f32","components":[)"
                      R"({"min":0.0,"max":1.0,"mean":0.5,"median":0.0,"p99":1.0},)"
                      R"({"min":0.25,"max":2.0,"mean":1.125,"median":0.25,"p99":2.0}],"moving":0.5}]})"));
  const std::string nothing = R"({"min":null,"max":null,"mean":null,"median":null,"p99":null})";
  EXPECT_EQ(tensors_in(line_of<float>(&json, {kNan, 9}, {1, 1, 2})),
            kFieldHead + std::string(R"(1,1,2],"type":"f32","components":[)") + nothing + "," + nothing +
                R"(],"moving":null}]})");
}

// The summary of a field that is followed by this tensor.
Json summary_with(JsonHarness *json, const char *id, const std::vector<guint8> &valid) {
  Owned<GstBuffer> buffer = frame();
  add_tensor<guint8>(buffer.get(), "numbers-valid", {0, 0, 0});  // belongs to another field, before it
  add_tensor<float>(buffer.get(), "numbers", {1, 2, 100, 200, 3, 4}, {1, 3, 2});
  add_tensor<guint8>(buffer.get(), id, valid);
  return json->json_of(std::move(buffer));
}

TEST_F(CudaVisionJsonTensor, vectors_that_are_marked_as_invalid_do_not_count) {
  JsonHarness json;
  EXPECT_EQ(summary_with(&json, "numbers-valid", {1, 0, 1}).real("tensors.1.components.1.max"), 4);
  EXPECT_EQ(summary_with(&json, "other-valid", {1, 0, 1}).real("tensors.1.components.1.max"), 200);
  EXPECT_EQ(summary_with(&json, "numbers-valid", {1, 0}).real("tensors.1.components.1.max"), 200);
  EXPECT_TRUE(summary_with(&json, "numbers-valid", {0, 0, 0}).is_null("tensors.1.moving"));
}

// --- a long list ---

// The peak memory of the process since the last call of forget_peak_memory(), in bytes; 0 if the system does
// not report it.
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}
bool forget_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  return bool(file << "5" << std::flush);
}

TEST_F(CudaVisionJsonTensor, four_million_numbers_take_little_more_memory_than_their_text) {
  constexpr std::size_t kCount = std::size_t{1} << 22;
  std::vector<guint32> values(kCount);
  std::iota(values.begin(), values.end(), 4000000000u);
  JsonHarness json("tensor-data=full");
  Owned<GstBuffer> buffer = frame();
  add_tensor(buffer.get(), "numbers", values, {2048, 2048});

  const bool told = forget_peak_memory();
  const std::size_t before = peak_memory();
  EXPECT_EQ(json.push(std::move(buffer)), GST_FLOW_OK);
  const std::size_t after = peak_memory();

  const std::string text = content(json.file());
  std::string expected = "\"data\":[";
  for (const guint32 value : values) expected.append(std::to_string(value)).push_back(',');
  expected.back() = ']';
  EXPECT_EQ(text.substr(text.find("\"data\"")).compare(expected + "}]}\n"), 0);
  EXPECT_EQ(text.size(), text.find("\"data\"") + expected.size() + 4);
  // A tree would take about eight times the memory of the text. The sanitizer adds an eighth as shadow memory.
  if (told && before != 0) {
    EXPECT_LT(after - before, text.size() + text.size() / 4 + (8 << 20)) << text.size();
  }
}

}  // namespace
