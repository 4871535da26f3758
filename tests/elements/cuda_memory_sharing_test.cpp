// SPDX-License-Identifier: LGPL-2.1-or-later
// The context that all pipelines of a process share: which elements use it, what overrides it, and its lifetime.
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/cuda_asking_element.h"
#include "tests/elements/cuda_memory.h"
#include "tests/fakecuda/fakecuda.h"

namespace {

using namespace cudavision::test;

class CudaMemorySharing : public CudaMemoryTest {};

constexpr char kVideo[] = "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=32,height=24 ! ";

gpointer handle_of(GstCudaContext *context) { return gst_cuda_context_get_handle(context); }

// A pipeline in PAUSED.
Owned<GstElement> paused(const std::string &description) {
  Owned<GstElement> pipeline = parse(description);
  EXPECT_NE(gst_element_set_state(pipeline.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience), GST_STATE_CHANGE_SUCCESS);
  return pipeline;
}

// A pipeline with cudacanny and the asking element linked before or after it, both in NULL.
struct Neighbours {
  Owned<GstElement> pipeline = parse("pipeline");
  GstElement *canny = gst_element_factory_make("cudacanny", nullptr);
  GstElement *asking = make_asking_element().release();

  explicit Neighbours(bool asking_first) {
    set(canny, "backend", "cuda");
    gst_bin_add_many(GST_BIN(pipeline.get()), canny, asking, nullptr);
    gst_object_unref(asking);  // the pipeline keeps it
    EXPECT_TRUE(asking_first ? gst_element_link(asking, canny) : gst_element_link(canny, asking));
  }
};

// --- which elements use it ---

TEST_F(CudaMemorySharing, two_pipelines_have_one) {
  const std::string line = std::string(kVideo) + "cudacanny backend=cuda name=element ! fakesink";
  const Owned<GstElement> first = paused(line), second = paused(line);
  GstCudaContext *context = context_of(child(first, "element"));
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(context_of(child(second, "element")), context);
  if (!kEmulated) return;
  EXPECT_EQ(fakecuda::live_contexts(), 1u);
  EXPECT_EQ(fakecuda::retained_primary_contexts(), 1u);
}

TEST_F(CudaMemorySharing, neighbour_that_asks_on_its_way_to_ready_gets_it) {
  for (const bool asking_first : {true, false}) {
    const Neighbours n(asking_first);
    ASSERT_NE(gst_element_set_state(n.pipeline.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    ASSERT_NE(context_found_by(n.asking), nullptr);
    EXPECT_EQ(context_found_by(n.asking), context_of(n.canny));
    EXPECT_EQ(fakecuda::live_contexts(), kEmulated ? 1u : 0u) << "the neighbour made one of its own";
  }
}

// Adds an element as decodebin adds its decoders: in a bin within the pipeline, not yet linked.
TEST_F(CudaMemorySharing, element_that_is_added_later_gets_it) {
  const Owned<GstElement> pipeline =
      paused(std::string(kVideo) + "cudacanny backend=cuda name=element ! fakesink");
  GstElement *bin = gst_bin_new(nullptr);
  ASSERT_TRUE(gst_bin_add(GST_BIN(pipeline.get()), bin));
  const OwnedObject<GstElement> asking = make_asking_element();
  ASSERT_TRUE(gst_bin_add(GST_BIN(bin), asking.get()));
  ASSERT_EQ(gst_element_set_state(asking.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(context_found_by(asking.get()), context_of(child(pipeline, "element")));
  gst_element_set_state(asking.get(), GST_STATE_NULL);
}

TEST_F(CudaMemorySharing, two_devices_have_two) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(2);
  const Owned<GstElement> zero = parse("cudacanny backend=cuda cuda-device-id=0"),
                          one = parse("cudacanny backend=cuda cuda-device-id=1"),
                          any = parse("cudacanny backend=cuda");
  for (const auto *element : {&zero, &one, &any})
    ASSERT_EQ(gst_element_set_state(element->get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_NE(context_of(zero.get()), context_of(one.get()));
  EXPECT_EQ(context_of(zero.get()), context_of(any.get())) << "the first device";
  EXPECT_EQ(fakecuda::live_contexts(), 2u);
}

TEST_F(CudaMemorySharing, properties_that_change_in_ready_hold) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(2);
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  gst_element_set_state(element.get(), GST_STATE_READY);
  set(element.get(), "cuda-device-id", "1");
  ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  guint device = 0;
  g_object_get(context_of(element.get()), "cuda-device-id", &device, nullptr);
  EXPECT_EQ(device, 1u);
  gst_element_set_state(element.get(), GST_STATE_READY);
  set(element.get(), "backend", "cpu");
  ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(text(element.get(), "active-backend"), "cpu");
  while (take_message(element.get(), GST_MESSAGE_HAVE_CONTEXT)) continue;  // messages hold the context
  EXPECT_TRUE(fakecuda::no_context_lives());
}

TEST_F(CudaMemorySharing, device_that_is_asked_for_while_the_element_works_holds_from_the_next_start_on) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(2);
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  GstCudaContext *context = context_of(element.get());
  set(element.get(), "cuda-device-id", "1");
  EXPECT_EQ(context_of(element.get()), context);
  gst_element_set_state(element.get(), GST_STATE_READY);
  EXPECT_NE(context_of(element.get()), context);
}

// --- what overrides it ---

TEST_F(CudaMemorySharing, that_of_the_application_goes_first) {
  const CudaSource source;
  for (const bool asking_first : {true, false}) {
    const Neighbours n(asking_first);
    source.give_to(n.pipeline.get());
    ASSERT_NE(gst_element_set_state(n.pipeline.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    EXPECT_EQ(context_of(n.canny), source.context());
    EXPECT_EQ(context_found_by(n.asking), source.context());
  }
}

TEST_F(CudaMemorySharing, application_is_asked_before_it_is_used) {
  const CudaSource source;
  for (const bool asking_first : {true, false}) {
    const Neighbours n(asking_first);
    source.give_when_asked(n.pipeline.get());
    ASSERT_NE(gst_element_set_state(n.pipeline.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    EXPECT_EQ(context_of(n.canny), source.context());
    EXPECT_EQ(context_found_by(n.asking), source.context());
  }
}

TEST_F(CudaMemorySharing, application_may_give_another_one_in_ready) {
  const CudaSource source;
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  gst_element_set_state(element.get(), GST_STATE_READY);
  EXPECT_NE(context_of(element.get()), source.context());
  source.give_to(element.get());
  EXPECT_EQ(context_of(element.get()), source.context());
  ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(context_of(element.get()), source.context());
}

TEST_F(CudaMemorySharing, application_may_give_another_one_to_all_elements_in_ready) {
  const CudaSource source;
  const Owned<GstElement> pipeline =
      parse("cudacanny backend=cuda name=one ! cudahistogram backend=cuda name=two ! fakesink");
  ASSERT_NE(gst_element_set_state(pipeline.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  EXPECT_EQ(context_of(child(pipeline, "one")), context_of(child(pipeline, "two")));
  source.give_to(pipeline.get());
  EXPECT_EQ(context_of(child(pipeline, "one")), source.context());
  EXPECT_EQ(context_of(child(pipeline, "two")), source.context());
}

TEST_F(CudaMemorySharing, that_of_the_process_stays_once_the_element_works) {
  const CudaSource source;
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  GstCudaContext *ours = context_of(element.get());
  source.give_to(element.get());
  EXPECT_EQ(context_of(element.get()), ours);
}

// --- its use ---

// Another wrapper of the same CUcontext is the same context: its frames are processed without a copy.
TEST_F(CudaMemorySharing, contexts_are_compared_by_their_handle) {
  CudaHarness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate_cuda(frame);
  GstCudaContext *ours = context_of(harness.element());
  const OwnedObject<GstCudaContext> again(
      gst_cuda_context_new_wrapped(static_cast<CUcontext>(handle_of(ours)), 0));
  {
    const CudaSource source(again.get());
    const Owned<GstBuffer> out = harness.exchange(source.buffer(frame));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
  }
  EXPECT_EQ(context_of(harness.element()), ours) << "the element has moved";
}

TEST_F(CudaMemorySharing, sixteen_pipelines_give_the_lines_that_one_gives) {
  const auto lines_of = [](int pipelines) {
    std::vector<std::thread> threads;
    std::vector<std::string> lines(static_cast<std::size_t>(pipelines));
    for (std::string &text : lines)
      threads.emplace_back([&text] {
        gchar *file = nullptr;
        g_close(g_file_open_tmp(nullptr, &file, nullptr), nullptr);
        EXPECT_TRUE(plays_to_the_end(parse(
            "videotestsrc num-buffers=3 pattern=ball ! video/x-raw,format=NV12,width=64,height=48 ! "
            "cudacanny backend=cuda display=false ! cudahistogram backend=cuda display=false bins=8 ! "
            "cudahough backend=cuda display=false threshold=20 ! cudavisionjson tensor-data=full location=" +
            std::string(file) + " ! fakesink")));
        gchar *read = nullptr;
        EXPECT_TRUE(g_file_get_contents(file, &read, nullptr, nullptr));
        text = read != nullptr ? read : "";
        g_free(read);
        g_remove(file);
        g_free(file);
      });
    for (std::thread &thread : threads) thread.join();
    return lines;
  };
  const std::string one = lines_of(1)[0];
  EXPECT_NE(one.find("\"histogram\""), std::string::npos) << one;
  for (const std::string &lines : lines_of(16)) EXPECT_EQ(lines, one);
}

// --- its lifetime ---

TEST_F(CudaMemorySharing, it_ends_with_the_last_pipeline_and_is_made_anew) {
  CUDAVISION_NEEDS_EMULATION();
  const std::uint64_t before = fakecuda::counters().contexts_created;
  const std::string line = std::string(kVideo) + "cudacanny backend=cuda ! fakesink";
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Owned<GstElement> first = paused(line), second = paused(line);
    first.reset();
    EXPECT_EQ(fakecuda::live_contexts(), 1u) << "the second still works in it";
    gst_element_set_state(second.get(), GST_STATE_NULL);
    EXPECT_TRUE(fakecuda::no_context_lives());
    EXPECT_EQ(fakecuda::counters().contexts_created - before, round);
  }
}

TEST_F(CudaMemorySharing, frames_and_tensors_outlive_the_pipelines) {
  CUDAVISION_NEEDS_EMULATION();
  if (!have_uploader()) GTEST_SKIP() << "there is no cudaupload";
  Owned<GstElement> pipeline =
      parse(std::string(kVideo) + "cudaupload ! cudacanny backend=cuda display=false ! appsink name=sink");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(child(pipeline, "sink")), kPatience));
  ASSERT_NE(sample, nullptr);
  pipeline.reset();
  EXPECT_EQ(fakecuda::live_contexts(), 1u);
  EXPECT_FALSE(samples_of(sample.get()).empty());
  sample.reset();
  EXPECT_TRUE(fakecuda::no_context_lives());
}

TEST_F(CudaMemorySharing, error_of_the_card_ends_all_pipelines_and_the_next_start_works) {
  CUDAVISION_NEEDS_EMULATION();
  const std::string line =
      "videotestsrc is-live=true ! video/x-raw,format=NV12,width=32,height=24 ! cudacanny backend=cuda ! "
      "fakesink";
  const Owned<GstElement> first = parse(line), second = parse(line);
  for (const auto *pipeline : {&first, &second}) {
    gst_element_set_state(pipeline->get(), GST_STATE_PLAYING);
    gst_element_get_state(pipeline->get(), nullptr, nullptr, kPatience);
  }
  simt::lose_device();
  for (const auto *pipeline : {&first, &second})
    EXPECT_NE(take_message(pipeline->get(), GST_MESSAGE_ERROR, kPatience), nullptr);
  for (const auto *pipeline : {&first, &second}) gst_element_set_state(pipeline->get(), GST_STATE_NULL);
  simt::reset();
  EXPECT_TRUE(fakecuda::no_context_lives());
  EXPECT_TRUE(plays_to_the_end(parse(std::string(kVideo) + "cudacanny backend=cuda ! fakesink")));
}

TEST_F(CudaMemorySharing, eight_threads_start_and_stop_pipelines_many_times) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      const Owned<GstElement> pipeline =
          parse(std::string(kVideo) + "cudacanny backend=cuda display=false ! fakesink");
      for (int i = 0; i < (kSanitized ? 50 : 200); ++i) {
        ASSERT_TRUE(plays_to_the_end(pipeline)) << i;
        ASSERT_EQ(gst_element_set_state(pipeline.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
      }
    });
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
