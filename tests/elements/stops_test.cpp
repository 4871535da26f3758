// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame whose metas would keep an element busy for seconds is given up at once when the stream is flushed or the
// element stops.
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <malloc.h>
#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"

namespace {

using namespace cudavision::test;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Ten times what is promised, because other tests keep the machine busy.
constexpr milliseconds kLongestStop{kSanitized ? 10000 : 2000};
// After this time the element has begun to work on the frame, and would not end soon.
constexpr milliseconds kBeforeStop{400};

// --- frames with much work ---

// Appends the metas of `one` again and again. Lists and the numbers of tensors are shared.
void repeat(GstBuffer *frame, const Owned<GstBuffer> &one, int times) {
  for (int i = 0; i < times; ++i)
    ASSERT_TRUE(gst_buffer_copy_into(frame, one.get(), GST_BUFFER_COPY_META, 0, static_cast<gsize>(-1)));
}
Owned<GstBuffer> no_pixels() { return Owned<GstBuffer>(gst_buffer_new()); }

// Zeros that take address space alone, as every page is the same one.
GstBuffer *zeros(gsize bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  struct Mapping {
    void *memory;
    gsize bytes;
  };
  return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, memory, bytes, 0, bytes,
                                     new Mapping{memory, bytes}, [](gpointer data) {
                                       const auto *mapping = static_cast<Mapping *>(data);
                                       munmap(mapping->memory, mapping->bytes);
                                       delete mapping;
                                     });
}

void add_keypoints(GstBuffer *frame, GstCudaVisionKeypoint keypoint, int count, int times) {
  const Owned<GstBuffer> one = no_pixels();
  const std::vector<GstCudaVisionKeypoint> keypoints(static_cast<std::size_t>(count), keypoint);
  gst_cuda_vision_buffer_add_keypoints_meta(one.get(), keypoints.data(), static_cast<guint>(count));
  repeat(frame, one, times);
}

// Adds lines that cross a frame of any size and begin and end far outside.
void add_lines(GstBuffer *frame) {
  const Owned<GstBuffer> one = no_pixels();
  const std::vector<GstCudaVisionLine> lines(100000, {0, 1, 1, -27900, -27800, 28000, 28000});
  gst_cuda_vision_buffer_add_lines_meta(one.get(), lines.data(), 100000);
  repeat(frame, one, 20);
}

// Adds one region with a long list of parameters. Strings with control characters take longest to write.
void add_parameters(GstBuffer *frame) {
  GstVideoRegionOfInterestMeta *region =
      gst_buffer_add_video_region_of_interest_meta(frame, "car", 1, 2, 3, 4);
  const std::string text(20000, '\n');
  for (int i = 0; i < 50000; ++i)
    region->params = g_list_prepend(region->params,
                                    gst_structure_new("class", "text", G_TYPE_STRING, text.c_str(), nullptr));
}

void add_tensor(GstBuffer *frame, GstCudaVisionElementType type, std::vector<gsize> dims,
                GstBuffer *numbers) {
  EXPECT_NE(gst_cuda_vision_buffer_add_tensor_meta(frame, "numbers", type, static_cast<guint>(dims.size()),
                                                   dims.data(), numbers),
            nullptr);
}

void add_zeros(GstBuffer *frame, gsize count) {
  add_tensor(frame, GST_CUDA_VISION_ELEMENT_TYPE_F32, {count}, zeros(count * sizeof(float)));
}
void add_field_of_zeros(GstBuffer *frame) {
  constexpr gsize kCount = gsize{1} << 29;
  add_tensor(frame, GST_CUDA_VISION_ELEMENT_TYPE_F32, {1, kCount, 2}, zeros(kCount * 2 * sizeof(float)));
}
void add_many_fields(GstBuffer *frame) {
  const Owned<GstBuffer> one = no_pixels();
  add_tensor(one.get(), GST_CUDA_VISION_ELEMENT_TYPE_F32, {1, 4, 2}, zeros(32));
  repeat(frame, one, 50000);
}

// --- the test ---

struct Work {
  const char *name, *element;
  void (*add)(GstBuffer *);
  bool has_backend = false;
};

// Emulated kernels get less work between two looks at the flag.
const char *overlay() {
  return kEmulated ? "cudavisionoverlay max-drawn=0 line-width=1 point-size=20"
                   : "cudavisionoverlay max-drawn=0 line-width=255 point-size=255 n-threads=1";
}
constexpr const char *kJson = "cudavisionjson location=/dev/null",
                     *kFullJson = "cudavisionjson location=/dev/null tensor-data=full";

const Work kWork[] = {
    {"overlay_of_lines", overlay(), add_lines, true},
    {"overlay_of_keypoints", overlay(),
     [](GstBuffer *b) {
       add_keypoints(b, {100, 60, INFINITY, NAN}, 500000, 2);
     },
     true},
    {"overlay_of_nothing", overlay(),
     [](GstBuffer *b) {
       add_keypoints(b, {NAN, NAN, 1, 1}, 1000000, 8000);
     },
     true},
    {"json_of_keypoints", kJson,
     [](GstBuffer *b) {
       add_keypoints(b, {200, 100, 2, 1}, 1000000, 30);
     }},
    {"json_of_parameters", kJson, add_parameters},
    {"json_of_numbers", kFullJson, [](GstBuffer *b) { add_zeros(b, 150000000); }},
    {"json_of_a_tensor", kJson, [](GstBuffer *b) { add_zeros(b, gsize{4} << 30); }},
    {"json_of_a_field", kJson, add_field_of_zeros},
    {"json_of_fields", kJson, add_many_fields},
};

class Stops : public ElementTest, public testing::WithParamInterface<std::tuple<Work, bool>> {
 protected:
  void SetUp() override {
    ElementTest::SetUp();
    mallopt(M_PERTURB, 0);  // Meson has malloc fill all memory, which for a line of a gigabyte takes too long
  }
};
INSTANTIATE_TEST_SUITE_P(, Stops, testing::Combine(testing::ValuesIn(kWork), testing::Bool()),
                         [](const auto &test) {
                           return std::string(std::get<0>(test.param).name) +
                                  (std::get<1>(test.param) ? "_flushed" : "_stopped");
                         });

// The element between two pads; frames of one size.
class Stream {
 public:
  explicit Stream(const Work &work)
      : frame_("I420", kEmulated ? cudavision::Size{160, 120} : cudavision::Size{1920, 1080}),
        element_(parse(work.element + (work.has_backend ? " backend=" + backend() : ""))),
        harness_(gst_harness_new_with_element(element_.get(), "sink", "src")) {
    gst_harness_set_src_caps(harness_, frame_.caps().release());
  }
  ~Stream() { gst_harness_teardown(harness_); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  GstElement *element() const { return element_.get(); }
  Owned<GstBuffer> frame() const { return frame_.buffer(); }
  GstFlowReturn push(Owned<GstBuffer> buffer) { return gst_harness_push(harness_, buffer.release()); }
  void send(GstEvent *event) { EXPECT_TRUE(gst_harness_push_event(harness_, event)); }
  bool has_output() const { return Owned<GstBuffer>(gst_harness_try_pull(harness_)) != nullptr; }

 private:
  VideoFrame frame_;
  Owned<GstElement> element_;
  GstHarness *harness_;
};

TEST_P(Stops, frame_is_given_up_at_once) {
  const auto &[work, flushes] = GetParam();
  Stream stream(work);
  Owned<GstBuffer> buffer = stream.frame();
  work.add(buffer.get());
  // Keeps a reference, because GStreamer takes long to free long lists. Elements that draw need a frame without a
  // second owner.
  const Owned<GstBuffer> kept(work.has_backend ? nullptr : gst_buffer_ref(buffer.get()));
  GstFlowReturn result = GST_FLOW_OK;
  std::thread streaming([&] { result = stream.push(std::move(buffer)); });
  std::this_thread::sleep_for(kBeforeStop);
  const auto begin = Clock::now();
  if (flushes)
    stream.send(gst_event_new_flush_start());
  else
    gst_element_set_state(stream.element(), GST_STATE_READY);
  streaming.join();
  const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
  EXPECT_EQ(result, GST_FLOW_FLUSHING) << "there was too little work";
  EXPECT_LT(took.count(), kLongestStop.count()) << "milliseconds";
  EXPECT_FALSE(take_error(stream.element()));
  EXPECT_FALSE(stream.has_output());
  if (!flushes) return;
  stream.send(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  stream.send(gst_event_new_segment(&segment));
  EXPECT_EQ(stream.push(stream.frame()), GST_FLOW_OK);
  EXPECT_TRUE(stream.has_output());
}

// Lines are clipped before they are walked: 10^5 of them, 56,000 pixels long, of which a frame shows a thousand pixels
// each, take three seconds. Unclipped, each of them would be walked as a whole for every band of the frame.
using FarLines = ElementTest;
TEST_F(FarLines, cost_what_is_seen_of_them) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  const Work work{"far", "cudavisionoverlay max-drawn=0 line-width=1 n-threads=1", nullptr, true};
  Stream stream(work);
  Owned<GstBuffer> buffer = stream.frame();
  const std::vector<GstCudaVisionLine> lines(100000, {0, 1, 1, -27990, -28000, 28000, 27990});
  gst_cuda_vision_buffer_add_lines_meta(buffer.get(), lines.data(), 100000);
  const auto begin = Clock::now();
  EXPECT_EQ(stream.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_LT(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count(), 60) << "seconds";
  EXPECT_TRUE(stream.has_output());
}

}  // namespace
