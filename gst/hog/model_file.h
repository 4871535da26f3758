// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the models of cudahog.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cuda/hog/detector.h"

namespace cudavision {

// What cv::HOGDescriptor::save writes, in XML or YAML, under any name: it has all parameters. Or plain text,
// one weight a line, the bias last: its parameters and its window are those of *model. The error says what is
// wrong with the file; its code is no_file where there is none.
Status load_hog_model(const std::string &location, HogModel *model);

namespace hog {

constexpr int kMaxModelDepth = 64;  // of elements or collections within each other

// The members of the first map in OpenCV's file, each with its numbers as text, parted by white space: what
// is kept of a file is hardly larger than it.
class ModelFields {
 public:
  // Refuses a second member of that name, and more than any model has.
  Status begin(std::string_view name);
  // To the last member that was begun.
  void append(std::string_view text);
  // Null without one.
  const std::string *find(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> members_;
  std::string *last_ = nullptr;
};

Status parse_markup(std::string_view text, ModelFields *fields);
Status parse_yaml(std::string_view text, ModelFields *fields);

}  // namespace hog
}  // namespace cudavision
