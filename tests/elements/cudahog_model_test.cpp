// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of cudahog's model files: every format gives the same boxes, and errors name the fault of a file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "tests/elements/cost.h"
#include "tests/elements/hog_reference.h"
#include "tests/support/decode.h"

namespace {

using namespace cudavision::test;

class CudaHogModel : public ElementTest {};

std::string read(const std::string &location) {
  std::ostringstream text;
  text << std::ifstream(location).rdbuf();
  return text.str();
}
void write(const std::string &location, const std::string &text) { std::ofstream(location) << text; }

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

Boxes found(const std::string &location, const VideoFrame &frame, const std::string &properties = {}) {
  Harness hog("cudahog display=false group-method=mean group-threshold=0 win-stride=4 " + properties +
              " model-location=" + location);
  return boxes_from(&hog, frame);
}

TEST_F(CudaHogModel, every_format_of_opencv_under_any_name_gives_the_same_boxes) {
  const VideoFrame frame("RGB", {70, 52}, 4);
  for (const char *name : {"a.yml", "b.yaml", "c.xml"}) {
    const ModelFile model(name);
    const Boxes expected = opencv_boxes(mat_of(frame), model.opencv(), 4, 0);
    EXPECT_FALSE(expected.empty());
    EXPECT_TRUE(same_boxes(found(model.location(), frame), expected)) << name;
    model.opencv().save(model.location(), "somebody_else");
    EXPECT_TRUE(same_boxes(found(model.location(), frame), expected)) << name;
  }
}

TEST_F(CudaHogModel, every_parameter_is_taken_from_the_file) {
  const VideoFrame frame("RGB", {70, 52}, 4);
  const Boxes unchanged = opencv_boxes(mat_of(frame), ModelFile("a.yml").opencv(), 4, 0);
  for (const char *name : {"a.yml", "c.xml"}) {
    const std::function<void(cv::HOGDescriptor &)> changes[] = {
        [](cv::HOGDescriptor &h) { h.gammaCorrection = false; },
        [](cv::HOGDescriptor &h) { h.signedGradient = true; },
        [](cv::HOGDescriptor &h) { h.winSigma = 1.5; },
        [](cv::HOGDescriptor &h) { h.nlevels = 2; },
        [](cv::HOGDescriptor &h) { h.nbins = 5; },
        [](cv::HOGDescriptor &h) {
          h.cellSize = {8, 4}, h.blockSize = {8, 12};
        }};
    for (const auto &change : changes) {
      const ModelFile model(name, change);
      const Boxes expected = opencv_boxes(mat_of(frame), model.opencv(), 4, 0);
      EXPECT_FALSE(expected.empty());
      EXPECT_FALSE(same_boxes(expected, unchanged)) << "the change has no effect on the boxes";
      // The file overrides the properties.
      EXPECT_TRUE(same_boxes(found(model.location(), frame, "bins=3 cell-size=16"), expected));
    }
  }
}

// Every window counts as a hit, so that every weight has an effect on the scores.
TEST_F(CudaHogModel, people_are_those_of_opencv) {
  cv::HOGDescriptor opencv;
  opencv.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
  for (const char *format : {"RGB", "GRAY8"}) {
    const VideoFrame frame(format, {90, 150}, 6);
    Harness hog(
        "cudahog model=people boxes=window min-scale=1 group-method=mean display=false group-threshold=0 "
        "hit-threshold=-100 bins=3 cell-size=16");
    const Boxes expected = opencv_boxes(mat_of(frame), opencv, 8, 0, -100);
    EXPECT_GT(expected.size(), 10u);
    EXPECT_TRUE(same_boxes(boxes_from(&hog, frame), expected)) << format;
  }
}

TEST_F(CudaHogModel, people_on_a_video_are_those_of_opencv) {
  if (kEmulated) GTEST_SKIP() << "it would take too long";
  const Photo &photo = rgb_photo("vtest.avi", 60);
  if (!photo.ok()) GTEST_SKIP() << photo.why_not;
  const cudavision::Size size{photo.pixels.width() / 3, photo.pixels.height()};
  VideoFrame frame("RGB", size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < 3 * size.width; ++x) frame.sample(x % 3, x / 3, y) = photo.pixels.at(x, y);
  cv::HOGDescriptor opencv;
  opencv.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
  const Boxes expected = opencv_boxes(mat_of(frame), opencv, 8, 2);
  EXPECT_GT(expected.size(), 2u);
  Harness hog("cudahog model=people boxes=window min-scale=1 group-method=mean display=false");
  EXPECT_TRUE(same_boxes(boxes_from(&hog, frame), expected));
}

// Two members that OpenCV neither writes nor reads.
TEST_F(CudaHogModel, a_file_may_say_which_part_an_object_fills_and_where_the_search_begins) {
  const VideoFrame frame("RGB", {70, 52}, 4);
  const struct {
    const char *name, *before, *members;
  } cases[] = {
      {"a.yml", "SVMDetector:", "objectPart: [ 0.25, 0.125, 0.5, 0.75 ]\n   minScale: 0.6\n   "},
      {"c.xml", "<SVMDetector>", "<objectPart>0.25 0.125 0.5 0.75</objectPart><minScale>0.6</minScale>"}};
  for (const auto &c : cases) {
    const ModelFile model(c.name);
    const Boxes windows = found(model.location(), frame, "boxes=window min-scale=0.6");
    EXPECT_GT(windows.size(), found(model.location(), frame).size());  // without the members, from 1 on
    write(model.location(), replaced(read(model.location()), c.before, std::string(c.members) + c.before));
    EXPECT_TRUE(same_boxes(found(model.location(), frame, "boxes=window"), windows)) << c.name;
    EXPECT_TRUE(same_boxes(found(model.location(), frame, "boxes=window min-scale=1"),
                           opencv_boxes(mat_of(frame), model.opencv(), 4, 0)));
    EXPECT_TRUE(same_boxes(found(model.location(), frame, "boxes=window max-scale=0.5"),
                           found(model.location(), frame, "boxes=window min-scale=0.5 max-scale=0.5")));
    Boxes objects = windows;
    for (Box &box : objects) {
      cv::Rect &r = box.rectangle;  // of a window that the frame did not cut: 16 times 24 pixels at its scale
      const int right = r.x + cvRound(0.75 * r.width), bottom = r.y + cvRound(0.875 * r.height);
      r.x += cvRound(0.25 * r.width), r.y += cvRound(0.125 * r.height);
      r.width = right - r.x, r.height = bottom - r.y;
    }
    const Boxes seen = found(model.location(), frame, "boxes=object");
    ASSERT_EQ(seen.size(), objects.size());
    int whole = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const cv::Rect &window = windows[i].rectangle;
      if (window.br().x == 70 || window.br().y == 52) continue;  // the frame may have cut it
      EXPECT_TRUE(same_boxes({seen[i]}, {objects[i]})) << i;
      ++whole;
    }
    EXPECT_GT(whole, 20);
  }
}

TEST_F(CudaHogModel, model_and_location_together_are_an_error_at_the_start) {
  const Owned<GstElement> hog =
      parse("cudahog model=people model-location=/tmp/any.yml backend=" + backend());
  EXPECT_EQ(gst_element_set_state(hog.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(hog.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "model and model-location are both set"));
}

TEST_F(CudaHogModel, plain_text_has_the_parameters_of_the_properties) {
  const VideoFrame frame("GRAY8", {70, 52}, 4);
  const ModelFile model("a.txt");
  std::string text;
  for (const float weight : model.opencv().svmDetector) text += std::to_string(weight) + "\r\n";
  write(model.location(), text);
  std::vector<float> weights;
  std::istringstream words(text);
  for (float weight; words >> weight;) weights.push_back(weight);
  cv::HOGDescriptor opencv = model.opencv();
  opencv.setSVMDetector(weights);
  EXPECT_TRUE(same_boxes(
      found(model.location(), frame, "cell-size=4 block-size=2 block-stride=4 win-width=16 win-height=24"),
      opencv_boxes(mat_of(frame), opencv, 4, 0)));
}

TEST_F(CudaHogModel, model_is_read_again_at_each_start) {
  const VideoFrame frame("RGB", {70, 52}, 4);
  const ModelFile model("a.yml");
  Harness hog("cudahog display=false group-method=mean group-threshold=0 win-stride=4 model-location=" +
              model.location());
  EXPECT_FALSE(boxes_from(&hog, frame).empty());
  const ModelFile other("a.xml", [](cv::HOGDescriptor &h) { h.nbins = 4; });
  write(model.location(), read(other.location()));
  hog.restart();
  EXPECT_TRUE(same_boxes(boxes_from(&hog, frame), opencv_boxes(mat_of(frame), other.opencv(), 4, 0)));
}

// --- faulty files ---

testing::AssertionResult fails(const std::string &location, const std::string &words,
                               int code = GST_RESOURCE_ERROR_SETTINGS) {
  const Owned<GstElement> hog = parse("cudahog backend=" + backend() + " model-location=" + location);
  if (gst_element_set_state(hog.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    return testing::AssertionFailure() << "it started";
  const auto error = take_error(hog.get());
  if (const auto names = is(error, GST_RESOURCE_ERROR, code, location); !names) return names;
  return is(error, GST_RESOURCE_ERROR, code, words);
}

std::string within(int depth, const std::string &name) {
  std::string text = "<opencv_storage>";
  for (int i = 0; i < depth; ++i) text += "<" + name + ">";
  return text;
}

std::string many_members(int count) {
  std::string text = "<opencv_storage><a>";
  for (int i = 0; i < count; ++i) text += "<m" + std::to_string(i) + "/>";
  return text + "</a></opencv_storage>";
}

// A file of some kilobytes whose blocks, one at each pixel, have 2304 numbers: a frame of 640x360 takes 2 GB.
TEST_F(CudaHogModel, small_models_that_need_gigabytes_are_refused_by_max_memory) {
  const ModelFile model("a.yml", [](cv::HOGDescriptor &h) {
    h.winSize = h.blockSize = {8, 8}, h.cellSize = h.blockStride = {1, 1}, h.nbins = 36;
  });
  Harness hog("cudahog max-memory=1000000000 win-stride=1 display=false model-location=" + model.location());
  const VideoFrame frame("RGB", {640, 360}, 4);
  hog.negotiate(frame);
  EXPECT_EQ(hog.push(frame.buffer()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(is(take_error(hog.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "bytes are needed, and max-memory allows 1000000000"));
}

// libyaml takes time that grows with the square of the number of directives: 2.3 MB took a minute.
TEST_F(CudaHogModel, directives_are_refused_before_they_are_parsed) {
  const ModelFile model("a.yml");
  for (const char *line_break : {"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    std::string text = "%YAML:1.0\n#";
    for (int i = 0; i < 200000; ++i) text += line_break + ("%TAG !t" + std::to_string(i) + "! tag:t,2000:");
    write(model.location(), text + "\n---\na: { }\n");
    EXPECT_TRUE(fails(model.location(), "it has a directive at byte"));
  }
}

TEST_F(CudaHogModel, what_is_no_file_is_refused) {
  const ModelFile model("a.yml");
  const std::string pipe = model.location() + ".pipe", socket = model.location() + ".socket";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  for (const std::string &location : {pipe, socket, std::string("/dev/zero")})
    EXPECT_TRUE(fails(location, "it is a pipe or a device, not a file"));
  EXPECT_TRUE(fails("/tmp", "it is a directory"));
}

// These files of the kernel have another size than stat() reports.
TEST_F(CudaHogModel, files_that_change_while_they_are_read_are_refused) {
  EXPECT_TRUE(fails("/proc/self/status", "its size changed while it was read"));  // grows
  const std::string shrinks = "/sys/devices/system/cpu/online";                   // not in every root folder
  EXPECT_TRUE(!std::filesystem::exists(shrinks) || fails(shrinks, "its size changed while it was read"));
}

// Between a look at a file and its opening, a pipe could take its place, and opening that would wait for its writer.
TEST_F(CudaHogModel, a_pipe_that_takes_the_place_of_a_file_is_refused) {
  const ModelFile model("a.yml");
  const std::string other = model.location() + ".other";
  ASSERT_EQ(mkfifo(other.c_str(), 0600), 0);
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    while (!done) renameat2(AT_FDCWD, model.location().c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  int refused = 0;
  const Owned<GstElement> hog = parse("cudahog backend=" + backend() + " model-location=" + model.location());
  for (int i = 0; i < 1000; ++i) {
    gst_element_set_state(hog.get(), GST_STATE_PAUSED);
    if (const auto error = take_error(hog.get())) {
      EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "it is a pipe or a device"));
      ++refused;
    }
    gst_element_set_state(hog.get(), GST_STATE_NULL);
  }
  done = true;
  swapper.join();
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 1000);
}

// The file has other values before the first map.
TEST_F(CudaHogModel, other_values_before_the_map_are_ignored) {
  const VideoFrame frame("RGB", {70, 52}, 4);
  const struct {
    const char *name, *before, *others;
  } cases[] = {{"a.xml", "<opencv_storage>", "<version>3</version><list><_>1</_><_>2</_></list>"},
               {"a.yml", "---\n", "version: 3\nlist: [ 1, 2, { a: 1 } ]\n"}};
  for (const auto &c : cases) {
    const ModelFile model(c.name);
    write(model.location(), replaced(read(model.location()), c.before, std::string(c.before) + c.others));
    EXPECT_TRUE(same_boxes(found(model.location(), frame), opencv_boxes(mat_of(frame), model.opencv(), 4, 0)))
        << c.name;
  }
}

// The head, as many copies of a unit as make the largest file that is read, and the tail.
std::string filled(const std::string &head, const std::string &unit, const std::string &tail) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  std::string text;
  text.reserve(kMost);
  for (text = head; text.size() + unit.size() + tail.size() <= kMost;) text += unit;
  return text + tail;
}

// Each of them takes its reader longer, or more memory, than other files of its size, or once did.
TEST_F(CudaHogModel, no_file_takes_long_or_much_memory) {
  if (kSanitized) GTEST_SKIP() << "with a sanitizer some of them take a minute and a half";
  const ModelFile model("a.yml"), xml("a.xml");
  const std::string x = read(xml.location()), yaml = "%YAML:1.0\n---\n", markup = "<opencv_storage><a>";
  const struct {
    std::string text, words;
  } cases[] = {
      {filled("", "0 ", "0\n"), "it has more than 3781 numbers"},
      {filled("", "1", "\n"), "is not finite"},
      {filled("0.", "1", "e-5\n"), "it has 1 numbers"},
      {filled(x.substr(0, x.find("<SVMDetector>") + 13), "0 ", "</SVMDetector></a></opencv_storage>"),
       "it has more than 541 numbers"},
      {filled("<", "a", "/>"), "not opencv_storage"},
      {filled(markup + "<", "a", "/></a></opencv_storage>"), "winSize is missing"},
      {filled(markup + "<b>", "<c/>", "</b></a></opencv_storage>"), "winSize is missing"},
      {filled(markup + "<b", " c=''", "/></a></opencv_storage>"), "Too many attributes"},
      {filled(markup + "<!--", ">", "--></a></opencv_storage>"), "winSize is missing"},
      {filled(markup + "</", "a", ">"), "no complete XML"},
      {filled(yaml + "a: { b: [0", ",0", "] }\n"), "it has more than 4194304 values"},
      {filled(yaml + "a: " + std::string(13, '['), "{},", std::string(13, ']') + "\n"),
       "it has more than 4194304 values"},
      {filled(yaml + "a: " + std::string(15, '['), "0,", std::string(15, ']') + "\n"),
       "it has more than 4194304 values"},
      {filled(yaml + "a: 1\n", "---\n", ""), "winSize is missing"},
      {filled(yaml + "a: *", "b", "\n"), "an alias, *bbb"},
      {filled(yaml + "a: &", "b", " c\n"), "winSize is missing"},
      {filled(yaml + "a: \"", "\n", "\"\n"), "winSize is missing"},
      {filled(yaml, "[", "\n"), "more than 16 others"},
      {filled(yaml, "- ", "\n"), "more than 16 others"},
  };
  for (const auto &c : cases) {
    write(model.location(), c.text);
    EXPECT_TRUE(is_cheap([&] { EXPECT_TRUE(fails(model.location(), c.words)); })) << c.text.substr(0, 60);
  }
}

// Errors are short, whatever they quote from a file, and however names are written in the file.
TEST_F(CudaHogModel, errors_are_short) {
  const ModelFile model("a.yml");
  const std::string y = read(model.location()), many(3000000, 'a');
  const std::string member = "? " + many + "\n   : 9\n   ";
  for (const std::string &text :
       {"<" + many + "/>", "<opencv_storage></" + many + ">",
        "<opencv_storage>&" + many + ";</opencv_storage>",
        "<opencv_storage><a><" + many + "/><" + many + "/></a></opencv_storage>", many,
        replaced(y, "nbins: 9", "nbins: *" + many), replaced(y, "nbins: 9", member + member + "nbins: 9"),
        replaced(y, "SVMDetector: [ ", "SVMDetector: [ " + many + ", ")}) {
    write(model.location(), text);
    const Owned<GstElement> hog =
        parse("cudahog backend=" + backend() + " model-location=" + model.location());
    EXPECT_EQ(gst_element_set_state(hog.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    const auto error = take_error(hog.get());
    ASSERT_TRUE(error);
    EXPECT_LT(error->text.size(), 600u) << text.substr(0, 60);
    EXPECT_NE(error->text.find("aaaa"), std::string::npos) << error->text;
  }
}

TEST_F(CudaHogModel, files_that_are_no_models_are_refused_with_the_reason) {
  const ModelFile yaml("a.yml"), xml("a.xml");
  const std::string y = read(yaml.location()), x = read(xml.location());
  // The text of the error for the line in which `words` first appear.
  const auto line_of = [&y](const char *words) {
    return "in line " +
           std::to_string(
               1 + std::count(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(y.find(words)), '\n'));
  };
  const struct {
    std::string text, words;
  } cases[] = {
      {"", "empty"},
      {"hello\n", "\"hello\" is no number"},
      {std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), "no HOG model, which is a text, but a picture"},
      {std::string("\xff\xd8\xff\xe0\0\x10JFIF", 10), "no HOG model, which is a text, but a picture"},
      {"<?xml version=\"1.0\"?>\n<opencv_storage>\n<cascade "
       "type_id=\"opencv-cascade-classifier\"><stageType>BOOST</"
       "stageType></cascade></opencv_storage>",
       "this is not a HOG model but a cascade"},
      {"%YAML:1.0\n---\nhaar: !!opencv-haar-classifier\n   size: [ 20, 20 ]\n",
       "this is not a HOG model but a cascade"},
      {"1\n2\n3\n", "it has 3 numbers, but windows of 64x128 pixels have 3780 weights"},
      {y.substr(0, y.size() / 2), "no complete YAML"},
      {x.substr(0, x.size() / 2), "no complete XML"},
      {x.substr(0, x.find("<SVMDetector>")) + "</a></opencv_storage>", "no SVMDetector"},
      {"<html></html>", "not opencv_storage"},
      {"<opencv_storage></opencv_storage>", "winSize is missing"},
      {"%YAML:1.0\n---\n", "winSize is missing"},
      {"%YAML:1.0\n---\n- 1\n- 2\n", "winSize is missing"},
      {replaced(y, "nbins: 9", "nbins: 8"), "numbers, but windows of 16x24 pixels have"},
      {replaced(y, "nbins: 9", "nbins: 1000"), "bins must be between"},
      {replaced(y, "nbins: 9", "nbins: many"), "nbins is missing, or is not a number"},
      {replaced(y, "nbins: 9", "nbins: 9.5"), "nbins is no whole number"},
      {replaced(y, "nbins: 9", "bins: 9"), "nbins is missing"},
      {replaced(y, "winSize: [ 16, 24 ]", "winSize: [ 16, 25 ]"), "16x25"},
      {replaced(y, "winSize: [ 16, 24 ]", "winSize: [ 16, 24, 1 ]"),
       "winSize is missing, or is not 2 numbers"},
      {replaced(y, "winSize: [ 16, 24 ]", "winSize: [ 1600000, 24 ]"), "winSize is no whole number"},
      {replaced(y, "winSize: [ 16, 24 ]", "winSize: [ -16, 24 ]"), "window of -16x24"},
      {replaced(y, "histogramNormType: 0", "histogramNormType: 1"), "not 0, L2-Hys"},
      {replaced(y, "nlevels: 64", "nlevels: 0"), "scales"},
      {replaced(y, "winSigma: ", "winSigma: nan #"), "winSigma is missing, or is not a number"},
      {replaced(y, "winSigma: ", "winSigma: 1e-170 #"), "sigma must be 0, or between 0.01 and 1000 pixels"},
      {replaced(y, "L2HysThreshold: ", "L2HysThreshold: nan #"), "L2HysThreshold is missing, or is not a"},
      {replaced(y, "SVMDetector:", "objectPart: [ 0, 0, 1 ]\n   SVMDetector:"),
       "objectPart is missing, or is not 4 numbers"},
      {replaced(y, "SVMDetector:", "objectPart: [ 0.5, 0, 0.6, 1 ]\n   SVMDetector:"),
       "does not lie in the window"},
      {replaced(y, "SVMDetector:", "minScale: 0.1\n   SVMDetector:"), "the smallest scale must be"},
      {replaced(y, "nbins: 9", "nbins: 9\n   nbins: 9"), "two members \"nbins\""},
      {replaced(x, "<nbins>", "<nbins>9</nbins><nbins>"), "two members \"nbins\""},
      {replaced(replaced(y, "nbins: 9", "nbins: &n 9"), "nlevels: 64", "nlevels: *n"), "an alias, *n"},
      {replaced(y, "nbins: 9", "nbins: { a: 9 }"), "nbins is missing, or is not a number"},
      {replaced(y, "nbins: 9", "nbins: [ [ 9 ] ]"), "nbins is missing, or is not a number"},
      {replaced(y, "nbins: 9", "[ nbins ]: 9"), "the name of a member is no text"},
      {replaced(y, "nbins: 9", "nbins: @9"), line_of("nbins: 9")},
      {replaced(y, "nbins: 9", "nbins: \x01"), line_of("nbins: 9")},
      {"%YAML:1.0\n---\na: " + std::string(20, '[') + std::string(20, ']') + "\n", "more than 16 others"},
      {within(20, "deeper"), "more than 16 others"},
      {many_members(1001), "more than 1000 members"},
      {many_members(1000), "winSize is missing"},
      {replaced(y, "SVMDetector: [ ", "SVMDetector: [ .Nan, "), "\".Nan\" is no number"},
      {replaced(y, "SVMDetector: [ ", "SVMDetector: [ nan, "), "weight 0, \"nan\", is not finite"},
      {replaced(y, "SVMDetector: [ ", "SVMDetector: [ 1e40, "), "weight 0, \"1e40\", is not finite"},
      {replaced(x, "<SVMDetector>", "<SVMDetector> 1 inf "), "weight 1, \"inf\", is not finite"},
      {replaced(y, "SVMDetector: [ ", "SVMDetector: [ 1, 2, "),
       "numbers, but windows of 16x24 pixels have 540"},
      {replaced(x, "<winSize>", "<winSize><deeper>"), "no complete XML"},
  };
  for (const auto &c : cases) {
    write(yaml.location(), c.text);
    EXPECT_TRUE(fails(yaml.location(), c.words)) << c.text.substr(0, 200);
  }
}

TEST_F(CudaHogModel, missing_and_enormous_files_are_refused) {
  EXPECT_TRUE(fails("/nowhere/people.yml", "cannot be opened: No such file", GST_RESOURCE_ERROR_NOT_FOUND));
  EXPECT_TRUE(fails("/", "cannot be"));
  const ModelFile model("a.yml");
  ASSERT_EQ(truncate(model.location().c_str(), off_t{1} << 34), 0);  // sparse: it takes no disk space
  EXPECT_TRUE(fails(model.location(), "it has 17179869184 bytes, and at most 16777216 are read"));
}

}  // namespace
