// SPDX-License-Identifier: LGPL-2.1-or-later
// From a picture to a file: the counts that cudavisionjson writes after cudahistogram are those of cv::calcHist.
#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "tests/elements/json_lines.h"
#include "tests/support/decode.h"

namespace {

using namespace cudavision::test;

class CudaVisionJsonPipeline : public ElementTest {
 protected:
  // The lines that `source ! cudahistogram properties ! cudavisionjson` writes.
  std::vector<Json> written(const std::string &source, const std::string &properties) {
    const std::string file = folder_.path("lines.jsonl");
    const Owned<GstElement> pipeline =
        parse(source + " ! cudahistogram backend=" + backend() + " " + properties +
              " ! cudavisionjson tensor-data=full location=" + file + " ! fakesink name=sink");
    EXPECT_TRUE(plays_to_the_end(pipeline));
    std::vector<Json> result;
    for (const std::string &line : lines(file)) result.emplace_back(line);
    return result;
  }

  Folder folder_;
};

std::vector<gint64> counts_in(const Json &line, const std::string &list) {
  std::vector<gint64> counts(line.length(list));
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = line.whole(list + "." + std::to_string(i));
  return counts;
}

std::vector<gint64> opencvs_counts(const cv::Mat &picture, int channel, int bins, float low, float high) {
  cv::Mat counts;
  const float range[] = {low, high};
  const float *ranges[] = {range};
  cv::calcHist(&picture, 1, &channel, cv::noArray(), counts, 1, &bins, ranges);
  return {counts.begin<float>(), counts.end<float>()};  // exact below 2^24
}

cv::Mat matrix_of(const Picture &picture, int type) {
  return cv::Mat(picture.height(), picture.width() / CV_MAT_CN(type), type,
                 const_cast<std::uint8_t *>(picture.row(0)))
      .clone();
}

std::string file_source(const char *name, const char *format) {
  const char *folder = g_getenv("CUDAVISION_TEST_DATA");
  return "filesrc location=" +
         std::string(folder != nullptr ? folder : "/usr/share/doc/opencv-doc/examples/data") + "/" + name +
         " ! pngdec ! videoconvert ! video/x-raw,format=" + format;
}

TEST_F(CudaVisionJsonPipeline, counts_of_a_photograph_equal_opencv) {
  const Photo &photo = gray_photo("box.png");
  if (!photo.ok()) GTEST_SKIP() << photo.why_not;
  const std::vector<Json> all = written(file_source("box.png", "GRAY8"), "");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].whole("width"), photo.pixels.width());
  EXPECT_EQ(all[0].whole("height"), photo.pixels.height());
  EXPECT_EQ(all[0].text("tensors.0.id"), "histogram");
  EXPECT_EQ(all[0].text("tensors.0.type"), "u32");
  EXPECT_EQ(counts_in(all[0], "tensors.0.dims"), (std::vector<gint64>{1, 256}));
  EXPECT_EQ(counts_in(all[0], "tensors.0.data"),
            opencvs_counts(matrix_of(photo.pixels, CV_8UC1), 0, 256, 0, 256));
}

TEST_F(CudaVisionJsonPipeline, channels_of_a_photograph_equal_opencv) {
  const Photo &photo = rgb_photo("box.png");
  if (!photo.ok()) GTEST_SKIP() << photo.why_not;
  const std::vector<Json> all = written(file_source("box.png", "BGRx"),
                                        "mode=channels bins=19 range-min=7 range-max=243 display=false");
  ASSERT_EQ(all.size(), 1u);
  const cv::Mat picture = matrix_of(photo.pixels, CV_8UC3);
  std::vector<gint64> expected;
  for (int channel = 0; channel < 3; ++channel) {
    const std::vector<gint64> counts = opencvs_counts(picture, channel, 19, 7, 243);
    expected.insert(expected.end(), counts.begin(), counts.end());
  }
  EXPECT_EQ(counts_in(all[0], "tensors.0.dims"), (std::vector<gint64>{3, 19}));
  EXPECT_EQ(counts_in(all[0], "tensors.0.data"), expected);
}

TEST_F(CudaVisionJsonPipeline, every_pixel_of_every_frame_is_counted) {
  const std::vector<Json> all =
      written("videotestsrc num-buffers=5 ! video/x-raw,width=96,height=64", "bins=8");
  ASSERT_EQ(all.size(), 5u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    gint64 sum = 0;
    for (const gint64 count : counts_in(all[i], "tensors.0.data")) sum += count;
    EXPECT_EQ(sum, 96 * 64);
    EXPECT_EQ(all[i].whole("frame"), static_cast<gint64>(i));
  }
}

TEST_F(CudaVisionJsonPipeline, tensors_are_downloaded_once_and_only_when_they_are_read) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *tensor_data;
    unsigned downloads;
  } cases[] = {{"none", 0}, {"summary", 1}, {"full", 1}};
  for (const auto &[tensor_data, downloads] : cases) {
    const simt::Counters before = simt::counters();
    const std::string writer = std::string(" ! cudavisionjson tensor-data=") + tensor_data + " location=";
    const Owned<GstElement> pipeline = parse(
        "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48 ! cudahistogram backend=cuda "
        "display=false" +
        writer + folder_.path("1") + writer + folder_.path("2") + " ! fakesink");
    EXPECT_TRUE(plays_to_the_end(pipeline));
    const simt::Counters spent = simt::counters() - before;
    EXPECT_GT(spent.launches, 0u);
    EXPECT_EQ(spent.device_to_host_copies, downloads) << tensor_data;
  }
}

TEST_F(CudaVisionJsonPipeline, share_of_moving_vectors_is_that_of_the_valid_ones) {
  const std::string summary = folder_.path("summary.jsonl"), full = folder_.path("full.jsonl");
  const Owned<GstElement> pipeline = parse(
      "videotestsrc pattern=ball num-buffers=4 ! video/x-raw,width=96,height=64 ! cudaopticalflow "
      "preset=fast "
      "display=false backend=" +
      backend() + " ! cudavisionjson location=" + summary +
      " ! cudavisionjson tensor-data=full location=" + full + " ! fakesink");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  const std::vector<std::string> summaries = lines(summary), fulls = lines(full);
  ASSERT_EQ(summaries.size(), 4u);
  int moving = 0;
  for (std::size_t frame = 1; frame < 4; ++frame) {  // the first frame has no flow
    const Json line(fulls[frame]);
    int counted = 0, moves = 0;
    for (std::size_t i = 0; i < line.length("tensors.1.data"); ++i) {
      if (line.whole("tensors.1.data." + std::to_string(i)) == 0) continue;
      const double x = line.real("tensors.0.data." + std::to_string(2 * i)),
                   y = line.real("tensors.0.data." + std::to_string(2 * i + 1));
      ++counted;
      moves += std::hypot(x, y) > 0.5;
    }
    ASSERT_GT(counted, 0);
    EXPECT_EQ(Json(summaries[frame]).real("tensors.0.moving"), static_cast<double>(moves) / counted);
    moving += moves;
  }
  EXPECT_GT(moving, 0);
}

TEST_F(CudaVisionJsonPipeline, results_of_two_branches_go_to_two_files) {
  const std::string near = folder_.path("near.jsonl"), far = folder_.path("far.jsonl");
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! cudahistogram display=false backend=" +
      backend() + " ! tee name=t t. ! queue ! cudavisionjson location=" + near +
      " ! fakesink t. ! queue ! cudavisionjson location=" + far + " ! fakesink");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  EXPECT_EQ(lines(near).size(), 3u);
  EXPECT_EQ(lines(near), lines(far));
}

// --- lines instead of frames ---

class CudaVisionJsonText : public ElementTest {
 protected:
  static std::string source(int frames) {
    return "videotestsrc num-buffers=" + std::to_string(frames) +
           " ! video/x-raw,width=32,height=24,framerate=5/1 ! cudahistogram backend=" + backend() + " ! ";
  }
  Folder folder_;
};

TEST_F(CudaVisionJsonText, lines_are_those_of_the_file) {
  const std::string file = folder_.path("lines.jsonl"), text = folder_.path("text.jsonl");
  EXPECT_TRUE(plays_to_the_end(
      parse(source(3) + "cudavisionjson source=gate location=" + file + " ! fakesink name=sink")));
  const std::string others = folder_.path("others.jsonl");
  EXPECT_TRUE(plays_to_the_end(parse(source(3) + "cudavisionjson output=text source=gate location=" + others +
                                     " ! filesink name=sink location=" + text)));
  EXPECT_EQ(lines(file).size(), 3u);
  EXPECT_EQ(lines(text), lines(file));
  EXPECT_FALSE(g_file_test(others.c_str(), G_FILE_TEST_EXISTS));
}

TEST_F(CudaVisionJsonText, two_branches_write_to_one_file) {
  const std::string file = folder_.path("both.jsonl");
  EXPECT_TRUE(plays_to_the_end(parse(source(3) +
                                     "tee name=t t. ! queue ! cudavisionjson output=text source=one ! lines. "
                                     "t. ! queue ! cudavisionjson output=text source=two ! lines. "
                                     "funnel name=lines ! filesink name=sink location=" +
                                     file)));
  std::vector<std::string> sources;
  for (const std::string &line : lines(file)) sources.push_back(Json(line).text("source"));
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "one"), 3);
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "two"), 3);
}

TEST_F(CudaVisionJsonText, buffers_have_the_times_of_their_frames) {
  const Owned<GstElement> pipeline =
      parse(source(3) + "cudavisionjson output=text ! appsink name=sink sync=false");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Owned<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  for (guint64 i = 0; i < 3; ++i) {
    GstSample *sample = nullptr;
    g_signal_emit_by_name(sink.get(), "pull-sample", &sample);
    ASSERT_NE(sample, nullptr);
    const GstStructure *caps = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
    EXPECT_TRUE(gst_structure_has_name(caps, "application/x-ndjson"));
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    EXPECT_EQ(GST_BUFFER_PTS(buffer), i * GST_SECOND / 5);
    EXPECT_EQ(GST_BUFFER_DURATION(buffer), GST_SECOND / 5);
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

TEST_F(CudaVisionJsonText, mode_can_change_between_two_plays) {
  const std::string file = folder_.path("lines.jsonl");
  const Owned<GstElement> pipeline =
      parse(source(2) + "cudavisionjson name=json output=text location=" + file + " ! fakesink name=sink");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  EXPECT_FALSE(g_file_test(file.c_str(), G_FILE_TEST_EXISTS));
  const Owned<GstElement> json(gst_bin_get_by_name(GST_BIN(pipeline.get()), "json"));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  set(json.get(), "output", "frames");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  EXPECT_EQ(lines(file).size(), 2u);
}

}  // namespace
