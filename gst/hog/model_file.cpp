// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the model files of cudahog: detects the format and interprets the members.
#include "gst/hog/model_file.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "cuda/common/backends.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

// The limit of a file's size: enough for a million weights. The slowest file of this size takes half a second.
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxMembers = 1000;

// Splits a text at white space. It returns one word at a time, because a file can have millions.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { skip_space(); }
  bool at_end() const { return text_.empty(); }
  std::string take() {
    const std::size_t end = std::min(text_.find_first_of(kSpace), text_.size());
    std::string word(text_.substr(0, end));
    text_.remove_prefix(end);
    skip_space();
    return word;
  }

 private:
  static constexpr std::string_view kSpace = " \t\r\n\f\v";

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(kSpace), text_.size())); }

  std::string_view text_;
};

// Parses the whole word as a number, independent of the locale.
std::optional<double> number_of(const std::string &word) {
  char *end = nullptr;
  const double number = g_ascii_strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0') return std::nullopt;
  return number;
}

Status weight_of(const std::string &word, std::size_t index, float *weight) {
  const std::optional<double> number = number_of(word);
  if (!number) return invalid_argument(quoted_excerpt(word) + " is no number");
  *weight = static_cast<float>(*number);
  return std::isfinite(*weight) ? Status()
                                : invalid_argument("weight " + std::to_string(index) + ", " +
                                                   quoted_excerpt(word) + ", is not finite");
}

// Reads at most count + 2 numbers, which is one more than `count` weights and a bias.
Status take_weights(std::string_view text, std::size_t count, HogModel *model) {
  model->weights.clear();
  for (Words words(text); !words.at_end() && model->weights.size() < count + 2;) {
    float weight = 0;
    CUDAVISION_TRY(weight_of(words.take(), model->weights.size(), &weight));
    model->weights.push_back(weight);
  }
  return {};
}

// Splits off the bias, which follows the `count` weights, and validates the model.
Status finish(std::size_t count, bool needs_bias, HogModel *model) {
  if (model->weights.size() != count + 1 && (needs_bias || model->weights.size() != count))
    return invalid_argument("it has " +
                            (model->weights.size() > count + 1 ? "more than " + std::to_string(count + 1)
                                                               : std::to_string(model->weights.size())) +
                            " numbers, but windows of " + std::to_string(model->window.width) + "x" +
                            std::to_string(model->window.height) + " pixels have " + std::to_string(count) +
                            " weights, and a bias");
  model->bias = 0;
  if (model->weights.size() == count + 1) {
    model->bias = model->weights.back();
    model->weights.pop_back();
  }
  return validate(*model);
}

// Reads members as numbers and keeps the first error.
class FieldReader {
 public:
  explicit FieldReader(const hog::ModelFields &fields) : fields_(fields) {}

  const std::string *find(const char *name) const { return fields_.find(name); }
  std::vector<double> numbers(const char *name, std::size_t count) {
    std::vector<double> all;
    const std::string *text = find(name);
    for (Words words(text != nullptr ? *text : std::string_view()); !words.at_end() && all.size() <= count;) {
      const std::string word = words.take();
      const std::optional<double> number =
          word == "true" || word == "false" ? std::optional<double>(word == "true") : number_of(word);
      if (!number || !std::isfinite(*number)) {
        all.clear();
        break;
      }
      all.push_back(*number);
    }
    if (all.size() == count) return all;
    if (status_.ok())
      status_ = invalid_argument("its member " + std::string(name) + " is missing, or is not " +
                                 (count == 1 ? "a number" : std::to_string(count) + " numbers"));
    return std::vector<double>(count, 0.0);
  }
  double number(const char *name) { return numbers(name, 1)[0]; }
  int whole(const char *name) { return to_int(name, number(name)); }
  Size size(const char *name) {
    const std::vector<double> sides = numbers(name, 2);
    return {to_int(name, sides[0]), to_int(name, sides[1])};
  }
  const Status &status() const { return status_; }

 private:
  int to_int(const char *name, double number) {
    if (number == std::floor(number) && std::abs(number) <= 1e6) return static_cast<int>(number);
    if (status_.ok()) status_ = invalid_argument("its member " + std::string(name) + " is no whole number");
    return 0;
  }

  const hog::ModelFields &fields_;
  Status status_;
};

Status interpret(const hog::ModelFields &fields, HogModel *model) {
  FieldReader read(fields);
  HogModel made;
  made.window = read.size("winSize");
  made.params.block = read.size("blockSize");
  made.params.stride = read.size("blockStride");
  made.params.cell = read.size("cellSize");
  made.params.bins = read.whole("nbins");
  made.params.sigma = read.number("winSigma");
  made.params.clip = read.number("L2HysThreshold");
  made.params.gamma = read.number("gammaCorrection") != 0;
  made.levels = read.whole("nlevels");
  // Older versions of OpenCV do not write signedGradient.
  if (read.find("signedGradient") != nullptr)
    made.params.signed_gradient = read.number("signedGradient") != 0;
  // Two members that OpenCV neither writes nor reads.
  if (read.find("objectPart") != nullptr) {
    const std::vector<double> part = read.numbers("objectPart", 4);
    made.object = {part[0], part[1], part[2], part[3]};
  }
  if (read.find("minScale") != nullptr) made.min_scale = read.number("minScale");
  const int norm = read.whole("histogramNormType");
  CUDAVISION_TRY(read.status());
  if (norm != 0)
    return invalid_argument("its histogramNormType is " + std::to_string(norm) + ", not 0, L2-Hys");
  if (made.params.sigma < 0) made.params.sigma = 0;  // OpenCV, too, then derives sigma from the block
  const std::string *numbers = read.find("SVMDetector");
  if (numbers == nullptr || Words(*numbers).at_end())
    return invalid_argument("it has no SVMDetector: no weights");
  std::size_t count = 0;
  CUDAVISION_TRY(hog_weight_count(made.params, made.window, &count));
  CUDAVISION_TRY(take_weights(*numbers, count, &made));
  CUDAVISION_TRY(finish(count, false, &made));
  *model = std::move(made);
  return {};
}

// Pictures and other binary files have control characters in their first bytes.
bool is_binary(std::string_view text) {
  const std::string_view head = text.substr(0, 64);
  return std::any_of(head.begin(), head.end(),
                     [](char c) { return g_ascii_iscntrl(c) && !g_ascii_isspace(c); });
}

// OpenCV's cascade classifiers have the same file formats, but name their type near the beginning of the file.
bool is_cascade(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.find("cascade-classifier") != std::string_view::npos ||
         head.find("haar-classifier") != std::string_view::npos;
}

}  // namespace

Status hog::parse_model(const std::string &text, HogModel *model) {
  if (is_binary(text))
    return invalid_argument("this is no HOG model, which is a text, but a picture or another binary file");
  if (is_cascade(text))
    return invalid_argument("this is not a HOG model but a cascade, which cudahog cannot use");
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  hog::ModelFields fields;
  if (begin != std::string::npos && text[begin] == '<') {
    CUDAVISION_TRY(hog::parse_markup(text, &fields));
    return interpret(fields, model);
  }
  if (text.starts_with("%YAML")) {
    CUDAVISION_TRY(hog::parse_yaml(text, &fields));
    return interpret(fields, model);
  }
  HogModel made = *model;
  std::size_t count = 0;
  CUDAVISION_TRY(hog_weight_count(made.params, made.window, &count));
  CUDAVISION_TRY(take_weights(text, count, &made));
  CUDAVISION_TRY(finish(count, true, &made));
  *model = std::move(made);
  return {};
}

Status hog::ModelFields::begin(std::string_view name) {
  const auto [place, is_new] = members_.try_emplace(std::string(name));
  if (!is_new) return invalid_argument("it has two members " + quoted_excerpt(place->first));
  if (members_.size() > kMaxMembers)
    return invalid_argument("it has more than " + std::to_string(kMaxMembers) + " members");
  last_ = &place->second;
  return {};
}

void hog::ModelFields::append(std::string_view text) { last_->append(text).push_back(' '); }

const std::string *hog::ModelFields::find(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second;
}

Status load_hog_model(const std::string &location, HogModel *model) {
  return catch_bad_alloc([&]() -> Status {
    std::string text;
    Status status = catch_bad_alloc([&]() -> Status {
      CUDAVISION_TRY(read_regular_file(location, kMaxBytes, &text));
      return text.empty() ? invalid_argument("it is empty") : hog::parse_model(text, model);
    });
    if (status.ok()) return {};
    return {status.code(), "the model " + excerpt(location) + ": " + status.text()};
  });
}

}  // namespace cudavision
