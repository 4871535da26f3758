// SPDX-License-Identifier: LGPL-2.1-or-later
// Trains a model for cudahog: the element computes descriptors, OpenCV trains a linear support vector machine.
//
// train_hog POSITIVES NEGATIVES MODEL [WIDTHxHEIGHT [X,Y,WIDTH,HEIGHT]]
//   train_hog --people MODEL    writes OpenCV's people detector instead
//
// POSITIVES: a folder of pictures that each show the object and are scaled to the window. NEGATIVES: a folder
// of pictures without the object, from which windows at many positions are used. Every fifth picture of both
// is held out for measuring precision and recall. MODEL: a .yml or .xml file for cudahog's model-location.
// WIDTHxHEIGHT: of the window in pixels, 64x128 by default, 2048 per side at most. X,Y,WIDTH,HEIGHT: the part of the
// window that an object fills, in shares of the window's width and height, all of it by default; cudahog's boxes show
// this part.
//
// To build it:
//   c++ -std=c++17 train_hog.cpp -o train_hog -I/usr/include/opencv4
//     $(pkg-config --cflags --libs gstreamer-cudavision-1.0 gstreamer-app-1.0)
//     -lopencv_core -lopencv_ml -lopencv_objdetect
// With OpenCV 5 the folder is opencv5, and the last library opencv_xobjdetect.
#include <gst/app/gstappsink.h>
#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <opencv2/ml.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "one_file.h"
#include "warnings.h"
#if CV_VERSION_MAJOR >= 5  // HOGDescriptor has moved to OpenCV's repository opencv_contrib
#include <opencv2/xobjdetect.hpp>
#else
#include <opencv2/objdetect.hpp>
#endif

namespace {

constexpr int kMostSide = 2048;         // maximum side of a window of cudahog
constexpr int kCell = 8, kHeldOut = 5;  // every fifth picture is held out
constexpr int kStep = 4;                // step between windows in negatives, in blocks

using Descriptor = std::vector<float>;

// The blocks of a picture: the contents of cudahog's tensor.
struct Blocks {
  int rows = 0, cols = 0, length = 0;
  std::vector<float> numbers;

  // The descriptor of the window at that block, column after column as in cv::HOGDescriptor.
  Descriptor window(int row, int col, int window_rows, int window_cols) const {
    Descriptor descriptor;
    for (int c = col; c < col + window_cols; ++c)
      for (int r = row; r < row + window_rows; ++r) {
        const auto block = numbers.begin() + (r * cols + c) * length;
        descriptor.insert(descriptor.end(), block, block + length);
      }
    return descriptor;
  }
};

Blocks blocks_of(GstBuffer *frame) {
  const GstCudaVisionTensorMeta *tensor = gst_cuda_vision_buffer_get_tensor_meta(frame, "hog");
  GstMapInfo map;
  if (tensor == nullptr || !gst_buffer_map(tensor->data, &map, GST_MAP_READ))
    throw std::runtime_error("a picture came without its blocks");
  Blocks blocks{static_cast<int>(tensor->dims[0]), static_cast<int>(tensor->dims[1]),
                static_cast<int>(tensor->dims[2]),
                std::vector<float>(tensor->dims[0] * tensor->dims[1] * tensor->dims[2])};
  std::memcpy(blocks.numbers.data(), map.data, blocks.numbers.size() * sizeof(float));
  gst_buffer_unmap(tensor->data, &map);
  return blocks;
}

// Empty if there is no error.
std::string error_of(GstElement *pipeline) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (message == nullptr) return {};
  GError *error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = error->message;
  g_error_free(error);
  gst_message_unref(message);
  return text;
}

// Computes the blocks of the picture in the file, scaled to `size` unless that is empty.
Blocks describe(const std::string &file, cv::Size size) {
  std::string caps = "video/x-raw,format=RGB";
  if (!size.empty())
    caps += ",width=" + std::to_string(size.width) + ",height=" + std::to_string(size.height);
  const std::string description =
      "filesrc name=in ! decodebin ! videoconvert ! videoscale add-borders=false ! " + caps +
      " ! cudahog display=false ! appsink name=out sync=false";
  GError *error = nullptr;
  const std::unique_ptr<GstElement, void (*)(GstElement *)> pipeline(
      gst_parse_launch(description.c_str(), &error), [](GstElement *element) {
        gst_element_set_state(element, GST_STATE_NULL);
        gst_object_unref(element);
      });
  if (error != nullptr) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(text);
  }
  print_warnings(pipeline.get());
  GstElement *in = gst_bin_get_by_name(GST_BIN(pipeline.get()), "in");
  g_object_set(in, "location", file.c_str(), nullptr);
  gst_object_unref(in);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstElement *out = gst_bin_get_by_name(GST_BIN(pipeline.get()), "out");
  GstSample *sample = nullptr;
  std::string problem;
  while (sample == nullptr && problem.empty()) {  // after an error no sample arrives
    sample = gst_app_sink_try_pull_sample(GST_APP_SINK(out), 100 * GST_MSECOND);
    if (sample == nullptr) problem = error_of(pipeline.get());
    if (sample == nullptr && problem.empty() && gst_app_sink_is_eos(GST_APP_SINK(out)))
      problem = "it shows nothing";
  }
  gst_object_unref(out);
  if (sample == nullptr) throw std::runtime_error(file + ": " + problem);
  const Blocks blocks = blocks_of(gst_sample_get_buffer(sample));
  gst_sample_unref(sample);
  return blocks;
}

std::vector<std::string> files_in(const std::string &folder) {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.size() < 2) throw std::runtime_error(folder + ": two pictures are needed at least");
  return files;
}

struct Samples {
  cv::Mat rows;
  std::vector<int> labels;  // 1 with the object, -1 without

  void add(const Descriptor &descriptor, int label) {
    rows.push_back(cv::Mat(descriptor, true).reshape(1, 1));
    labels.push_back(label);
  }
};

struct Collection {
  Samples training, held_out;

  void add(const std::string &folder, cv::Size window, bool is_object) {
    const int window_rows = window.height / kCell - 1, window_cols = window.width / kCell - 1;
    const std::vector<std::string> files = files_in(folder);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Blocks blocks = describe(files[i], is_object ? window : cv::Size());
      Samples &samples = i % kHeldOut == kHeldOut - 1 ? held_out : training;
      for (int row = 0; row + window_rows <= blocks.rows; row += kStep)
        for (int col = 0; col + window_cols <= blocks.cols; col += kStep)
          samples.add(blocks.window(row, col, window_rows, window_cols), is_object ? 1 : -1);
    }
  }
};

// The weights, followed by the bias. The score of the object is positive.
std::vector<float> train(const Samples &samples) {
  const auto svm = cv::ml::SVM::create();
  svm->setType(cv::ml::SVM::C_SVC);
  svm->setKernel(cv::ml::SVM::LINEAR);
  svm->setC(1);
  svm->setTermCriteria({cv::TermCriteria::MAX_ITER + cv::TermCriteria::EPS, 10000, 1e-4});
  svm->train(samples.rows, cv::ml::ROW_SAMPLE, cv::Mat(samples.labels));
  cv::Mat alpha, index;
  const double rho = svm->getDecisionFunction(0, alpha, index);
  // A linear machine has one support vector; its decision value is positive for the first label, -1.
  cv::Mat weights = svm->getSupportVectors() * -alpha.at<double>(0);
  std::vector<float> model(weights.begin<float>(), weights.end<float>());
  model.push_back(static_cast<float>(rho));
  return model;
}

double score(const std::vector<float> &model, const cv::Mat &descriptor) {
  double sum = model.back();
  for (int i = 0; i < descriptor.cols; ++i)
    sum += double{model[static_cast<std::size_t>(i)]} * descriptor.at<float>(i);
  return sum;
}

void print_quality(const std::vector<float> &model, const Samples &samples) {
  int found = 0, wrong = 0, objects = 0;
  for (int i = 0; i < samples.rows.rows; ++i) {
    const bool is_object = samples.labels[static_cast<std::size_t>(i)] > 0,
               is_hit = score(model, samples.rows.row(i)) >= 0;
    objects += is_object;
    found += is_object && is_hit;
    wrong += !is_object && is_hit;
  }
  std::printf("held out: %d objects, %d other windows\n", objects, samples.rows.rows - objects);
  std::printf("precision %.3f recall %.3f\n", found + wrong > 0 ? double(found) / (found + wrong) : 0.0,
              objects > 0 ? double(found) / objects : 0.0);
}

// Writes the members that cv::HOGDescriptor::save writes, and objectPart and minScale for cudahog.
void save(const std::vector<float> &model, cv::Size window, const std::vector<double> &object,
          double min_scale, const std::string &file) {
  const cv::HOGDescriptor hog(window, {2 * kCell, 2 * kCell}, {kCell, kCell}, {kCell, kCell}, 9);
  cv::FileStorage storage(file, cv::FileStorage::WRITE);
  if (!storage.isOpened()) throw std::runtime_error(file + ": cannot be written");
  storage << "hog"
          << "{"
          << "winSize" << hog.winSize << "blockSize" << hog.blockSize << "blockStride" << hog.blockStride
          << "cellSize" << hog.cellSize << "nbins" << hog.nbins << "derivAperture" << hog.derivAperture
          << "winSigma" << hog.winSigma << "histogramNormType" << int(hog.histogramNormType)
          << "L2HysThreshold" << hog.L2HysThreshold << "gammaCorrection" << 1 << "nlevels" << hog.nlevels
          << "signedGradient" << 0 << "objectPart" << object << "minScale" << min_scale << "SVMDetector"
          << model << "}";
  std::printf("%s: %zu weights for windows of %dx%d\n", file.c_str(), model.size() - 1, window.width,
              window.height);
}

int run(int argc, char **argv) {
  if (argc == 3 && std::strcmp(argv[1], "--people") == 0) {
    save(cv::HOGDescriptor::getDefaultPeopleDetector(), {64, 128}, {0.25, 0.125, 0.5, 0.75}, 2.0 / 3,
         argv[2]);
    return 0;
  }
  cv::Size window(64, 128);
  std::vector<double> object{0, 0, 1, 1};
  if (argc < 4 || argc > 6 ||
      (argc >= 5 && std::sscanf(argv[4], "%dx%d", &window.width, &window.height) != 2) ||
      (argc == 6 &&
       std::sscanf(argv[5], "%lf,%lf,%lf,%lf", &object[0], &object[1], &object[2], &object[3]) != 4)) {
    std::fprintf(stderr,
                 "usage: train_hog POSITIVES NEGATIVES MODEL [WIDTHxHEIGHT [X,Y,WIDTH,HEIGHT]]\n"
                 "       train_hog --people MODEL\n");
    return 2;
  }
  if (window.width < 2 * kCell || window.height < 2 * kCell || window.width % kCell != 0 ||
      window.height % kCell != 0)
    throw std::runtime_error("a window is a whole number of cells of 8 pixels, two a side at least");
  if (window.width > kMostSide || window.height > kMostSide)
    throw std::runtime_error("a window has at most " + std::to_string(kMostSide) +
                             " pixels a side, of which cudahog takes models");
  gst_init(nullptr, nullptr);
  read_nothing_else();
  Collection collection;
  collection.add(argv[1], window, true);
  collection.add(argv[2], window, false);
  const int objects =
      static_cast<int>(std::count(collection.training.labels.begin(), collection.training.labels.end(), 1));
  const int others = collection.training.rows.rows - objects;
  std::printf("training: %d objects, %d other windows\n", objects, others);
  if (others == 0) throw std::runtime_error(std::string(argv[2]) + ": no picture holds a window");
  const std::vector<float> model = train(collection.training);
  print_quality(model, collection.held_out);
  save(model, window, object, 1, argv[3]);
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "train_hog: %s\n", error.what());
    return 1;
  }
}
