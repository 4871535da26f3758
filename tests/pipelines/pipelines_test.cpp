// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole pipelines with the plugin as it is installed: every format, real video and photographs compared with
// cv::Canny, and the dependencies of the plugin file.
#include <gst/app/app.h>
#include <gst/video/video.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"

namespace {

using namespace cudavision::test;

class Pipelines : public ElementTest {};

// The output of a command; empty if it cannot be run or fails.
std::string output_of(const std::string &command) {
  const auto close = [](FILE *pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen((command + " 2>&1").c_str(), "r"), close);
  std::string output;
  std::array<char, 4096> part;
  while (pipe && std::fgets(part.data(), static_cast<int>(part.size()), pipe.get()) != nullptr)
    output += part.data();
  return output;
}

// --- computed video ---

TEST_F(Pipelines, every_format_plays_to_the_end) {
  for (const std::string &format : kFormats)
    for (const char *properties : {"output=edges", "output=overlay", "display=false"}) {
      const Owned<GstElement> pipeline = parse(
          "videotestsrc pattern=ball num-buffers=5 ! video/x-raw,width=161,height=121,format=" + format +
          " ! cudacanny backend=" + backend() + " " + properties + " ! videoconvert ! fakesink");
      EXPECT_TRUE(plays_to_the_end(pipeline)) << format << " " << properties;
    }
}

TEST_F(Pipelines, format_is_negotiated_with_neighbours) {
  for (const char *caps :
       {"video/x-raw,format=GRAY8", "video/x-raw,format=BGRA,width=[1,200]", "video/x-raw,width=33"}) {
    const Owned<GstElement> pipeline =
        parse(std::string("videotestsrc num-buffers=3 ! videoconvertscale ! cudacanny backend=") + backend() +
              " ! " + caps + " ! fakesink");
    EXPECT_TRUE(plays_to_the_end(pipeline)) << caps;
  }
}

TEST_F(Pipelines, caps_that_do_not_fit_end_in_an_error) {
  EXPECT_NE(why_refused("videotestsrc ! video/x-raw,format=GRAY16_BE ! cudacanny ! fakesink").find("link"),
            std::string::npos);
  const Owned<GstElement> pipeline =
      parse("appsrc name=source ! cudacanny backend=" + backend() + " ! fakesink");
  GstAppSrc *source = GST_APP_SRC(child(pipeline, "source"));
  const Owned<GstCaps> caps(
      gst_caps_from_string("video/x-raw,format=GRAY16_BE,width=8,height=8,framerate=25/1"));
  gst_app_src_set_caps(source, caps.get());
  EXPECT_EQ(gst_app_src_push_buffer(source, gst_buffer_new_allocate(nullptr, 128, nullptr)), GST_FLOW_OK);
  EXPECT_FALSE(plays_to_the_end(pipeline));
}

// --- real video ---

std::string data_file(const char *name) {
  const char *folder = g_getenv("CUDAVISION_TEST_DATA");
  return std::string(folder != nullptr ? folder : "/usr/share/doc/opencv-doc/examples/data") + "/" + name;
}

cv::Mat picture_of(GstSample *sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return {};
  const cv::Mat view(info.height, info.width, CV_8U, GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                     static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)));
  const cv::Mat picture = view.clone();
  gst_video_frame_unmap(&frame);
  return picture;
}

cv::Mat next_picture(const Owned<GstElement> &pipeline, const char *sink) {
  const Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(child(pipeline, sink)), kPatience));
  return sample ? picture_of(sample.get()) : cv::Mat();
}

// Decodes the file and compares cv::Canny and cudacanny on each frame.
void expect_opencvs_edges(const std::string &file, int frames, const std::string &properties,
                          const CannyCase &canny) {
  const Owned<GstElement> pipeline =
      parse("filesrc location=\"" + file +
            "\" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! tee name=t "
            "t. ! queue ! appsink name=original sync=false max-buffers=2 "
            "t. ! queue ! cudacanny backend=" +
            backend() + " " + properties + " ! appsink name=edges sync=false max-buffers=2");
  ASSERT_NE(pipeline, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  for (int i = 0; i < frames; ++i) {
    const cv::Mat original = next_picture(pipeline, "original"), edges = next_picture(pipeline, "edges");
    ASSERT_FALSE(original.empty()) << file << " does not decode";
    ASSERT_EQ(edges.size(), original.size());
    const cv::Mat expected = opencv_edges(original, canny);
    EXPECT_GT(cv::countNonZero(expected), 100) << "frame " << i;
    EXPECT_EQ(cv::norm(edges, expected, cv::NORM_L1), 0) << "frame " << i << " " << properties;
  }
}

TEST_F(Pipelines, real_video_equals_opencv) {
  const std::string file = data_file("vtest.avi");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is missing (Debian: opencv-doc)";
  expect_opencvs_edges(file, 20, "", {});
  expect_opencvs_edges(file, 5, "gaussian-sigma=1.4 l2-gradient=true low-threshold=20 high-threshold=60",
                       {20, 60, 3, true, 1.4});
}

TEST_F(Pipelines, photographs_equal_opencv) {
  int found = 0;
  for (const char *name : {"building.jpg", "sudoku.png", "graf1.png"}) {
    const std::string file = data_file(name);
    if (!std::filesystem::exists(file)) continue;
    ++found;
    expect_opencvs_edges(file, 1, "", {});
    expect_opencvs_edges(file, 1, "aperture=5 low-threshold=800 high-threshold=1600", {800, 1600, 5});
  }
  if (found == 0) GTEST_SKIP() << "no photographs in " << data_file("") << " (Debian: opencv-doc)";
}

// --- the plugin file ---

TEST_F(Pipelines, plugin_file_asks_for_no_cuda_library) {
  const std::string section = output_of("readelf -dW " PLUGIN_FILE);
  if (section.find("NEEDED") == std::string::npos) GTEST_SKIP() << "no readelf: " << section;
  for (const char *library : {"libcuda", "libcudart", "libnvrtc", "libnvidia", "libnpp", "libopencv"})
    EXPECT_EQ(section.find(library), std::string::npos) << library;
}

TEST_F(Pipelines, plugin_file_exports_its_entry_points_alone) {
  const std::string symbols = output_of("nm -D --defined-only " PLUGIN_FILE);
  if (symbols.find("gst_plugin_cudavision_get_desc") == std::string::npos)
    GTEST_SKIP() << "no nm: " << symbols;
  EXPECT_NE(symbols.find("gst_plugin_cudavision_register"), std::string::npos);
  for (const char *ours : {"cudavision6", "CUDAVISION", "gst_cuda_vision_canny", "cudaMalloc", "simt"})
    EXPECT_EQ(symbols.find(ours), std::string::npos) << ours;
}

TEST_F(Pipelines, plugin_registers_its_elements) {
  GstPlugin *plugin = gst_registry_find_plugin(gst_registry_get(), "cudavision");
  ASSERT_NE(plugin, nullptr);
  EXPECT_STREQ(gst_plugin_get_filename(plugin), PLUGIN_FILE);
  EXPECT_STREQ(gst_plugin_get_license(plugin), "LGPL");
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  EXPECT_GE(g_list_length(features), 1u);
  gst_plugin_feature_list_free(features);
  gst_object_unref(plugin);
}

TEST_F(Pipelines, gst_inspect_lists_the_element) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a plugin with AddressSanitizer does not load in gst-inspect-1.0";
#endif
  const std::string listed = output_of("gst-inspect-1.0 cudacanny");
  if (listed.find("Factory Details") == std::string::npos &&
      output_of("gst-inspect-1.0 --version").find("GStreamer") == std::string::npos)
    GTEST_SKIP() << "no gst-inspect-1.0";
  for (const char *words : {"Canny edge detector", "low-threshold", "active-backend", "NV12", "[ 1, 16384 ]"})
    EXPECT_NE(listed.find(words), std::string::npos) << words;
}

}  // namespace
