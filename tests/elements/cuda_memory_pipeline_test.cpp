// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole pipelines with GStreamer's own cudaupload and cudadownload.
#include <gst/app/gstappsink.h>

#include <string>
#include <vector>

#include "tests/elements/cuda_memory.h"
#include "tests/fakecuda/fakecuda.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaMemoryPipeline : public CudaMemoryTest {
 protected:
  void SetUp() override {
    CudaMemoryTest::SetUp();
    if (IsSkipped()) return;
    if (!have_uploader()) GTEST_SKIP() << "there is no cudaupload";
  }
};

// The samples of all frames that arrive in the appsink named sink.
std::vector<std::uint8_t> samples_from(const std::string &description) {
  const Owned<GstElement> pipeline = parse(description);
  if (!pipeline) return {};
  auto *sink = GST_APP_SINK(child(pipeline, "sink"));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  std::vector<std::uint8_t> all;
  while (const Owned<GstSample> sample{gst_app_sink_try_pull_sample(sink, kPatience)}) {
    const std::vector<std::uint8_t> frame = samples_of(sample.get());
    all.insert(all.end(), frame.begin(), frame.end());
  }
  EXPECT_TRUE(gst_app_sink_is_eos(sink)) << description;
  const auto error = take_error(pipeline.get());
  EXPECT_FALSE(error) << error->text;
  return all;
}

std::string video(const std::string &format, Size size) {
  return "videotestsrc num-buffers=3 pattern=ball motion=sweep ! video/x-raw,format=" + format +
         ",width=" + std::to_string(size.width) + ",height=" + std::to_string(size.height) + " ! ";
}
constexpr char kSink[] = "appsink name=sink sync=false";

TEST_F(CudaMemoryPipeline, upload_work_download_gives_what_system_memory_gives) {
  const std::vector<std::string> elements = {
      "cudacanny backend=cuda", "cudacanny backend=cuda output=overlay color=0x80ff8000",
      "cudacanny backend=cuda display=false", "cudahistogram backend=cuda mode=channels"};
  for (const std::string &format : cuda_formats()) {
    for (const Size size : {Size{64, 48}, Size{67, 46}, Size{66, 45}, Size{67, 45}}) {
      if (!kept_by_gstreamer(format, size) || (kSanitized && size.width != 67)) continue;
      for (const std::string &element : elements) {
        const std::string source = video(format, size);
        const auto system = samples_from(source + element + " ! " + kSink);
        const auto cuda =
            samples_from(source + "cudaupload ! video/x-raw(memory:CUDAMemory) ! " + element +
                         " ! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw,format=" + format +
                         " ! " + kSink);
        EXPECT_FALSE(system.empty());
        EXPECT_TRUE(system == cuda) << element << " " << format << " " << size.width << "x" << size.height;
      }
    }
  }
}

// A pad probe that counts the frames in pinned memory and in other memory.
struct Seen {
  int pinned = 0, other = 0;

  static GstPadProbeReturn look(GstPad *, GstPadProbeInfo *info, gpointer data) {
    GstMapInfo map;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) return GST_PAD_PROBE_OK;
    auto *seen = static_cast<Seen *>(data);
    ++(simt::is_page_locked(map.data) ? seen->pinned : seen->other);
    gst_buffer_unmap(buffer, &map);
    return GST_PAD_PROBE_OK;
  }
};

TEST_F(CudaMemoryPipeline, sources_write_into_pinned_memory) {
  CUDAVISION_NEEDS_EMULATION();
  // After the element: nothing, an element that proposes GStreamer's ordinary pool, and a tee.
  for (const char *after :
       {"fakesink", "videoconvert ! video/x-raw,format=RGB ! fakesink", "tee ! queue ! fakesink"}) {
    const Owned<GstElement> pipeline = parse(
        "videotestsrc num-buffers=4 ! video/x-raw,format=NV12,width=64,height=48 ! cudacanny name=canny "
        "backend=cuda ! " +
        std::string(after));
    GstPad *pad = gst_element_get_static_pad(child(pipeline, "canny"), "sink");
    Seen seen;
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, Seen::look, &seen, nullptr);
    gst_object_unref(pad);
    ASSERT_TRUE(plays_to_the_end(pipeline));
    EXPECT_EQ(seen.pinned, 4) << after;
    EXPECT_EQ(seen.other, 0) << after;
  }
}

TEST_F(CudaMemoryPipeline, branch_of_a_tee_is_not_overwritten) {
  const std::string source = video("NV12", {64, 48});
  const auto plain = samples_from(source + kSink);
  const auto branch =
      samples_from(source +
                   "cudaupload ! tee name=t ! queue ! cudacanny backend=cuda ! fakesink sync=false "
                   "async=false t. ! queue ! cudadownload ! video/x-raw ! " +
                   kSink);
  EXPECT_FALSE(plain.empty());
  EXPECT_TRUE(plain == branch);
}

TEST_F(CudaMemoryPipeline, hundred_cycles_leave_nothing) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=32,height=24 ! cudaupload ! cudacanny "
      "backend=cuda ! cudahistogram backend=cuda display=false ! cudadownload ! fakesink");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(plays_to_the_end(pipeline)) << i;
    ASSERT_EQ(gst_element_set_state(pipeline.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(simt::live_allocations(), 0u);
    EXPECT_EQ(simt::live_host_allocations(), 0u);
    EXPECT_EQ(simt::live_streams(), 0u);
    EXPECT_TRUE(fakecuda::no_context_lives()) << "no element works in it any more";
  }
}

TEST_F(CudaMemoryPipeline, elements_negotiate_system_memory_where_nobody_uploads) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=2 ! video/x-raw,width=32,height=24 ! cudacanny backend=cuda name=canny ! "
      "videoconvert ! fakesink");
  ASSERT_TRUE(plays_to_the_end(pipeline));
}

TEST_F(CudaMemoryPipeline, gray_frames_pass_an_upload_as_an_error_not_an_abort) {
  const Owned<GstElement> pipeline =
      parse("videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8 ! cudacanny backend=cuda ! fakesink");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  EXPECT_NE(why_refused("videotestsrc ! video/x-raw,format=GRAY8 ! cudaupload ! "
                        "video/x-raw(memory:CUDAMemory),format=GRAY8 ! cudacanny ! fakesink")
                .find("could not link"),
            std::string::npos);
}

}  // namespace
