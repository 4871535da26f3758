// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the model files of cudahog.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cuda/hog/hog_detector.h"

namespace cudavision {

// Reads a model in one of two formats: that of cv::HOGDescriptor::save (XML or YAML, with any name of the
// object), which holds all parameters; or plain text with one weight per line and the bias last, for the
// parameters and the window that *model has. On failure *model is unchanged. The error names the file and its
// fault; its code is no_file if the file does not exist, and otherwise invalid_argument or out_of_memory.
Status load_hog_model(const std::string &location, HogModel *model);

namespace hog {

constexpr int kMaxModelDepth = 16;  // nesting of XML elements

// The members of the first map in a file of OpenCV. The values of a member are kept as text, separated by
// white space, so that they take hardly more memory than the file.
class ModelFields {
 public:
  // Begins a member. Fails if there is one of the same name, or if there are more than any model has.
  Status begin(std::string_view name);
  // Appends a value to the last member that was begun.
  void append(std::string_view text);
  // The values of a member, or null if there is no member of this name.
  const std::string *find(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> members_;
  std::string *last_ = nullptr;
};

// load_hog_model() for the contents of a file. The caller must catch std::bad_alloc.
Status parse_model(const std::string &text, HogModel *model);

// Read the members from a file of OpenCV in XML or in YAML. The caller must catch std::bad_alloc.
Status parse_markup(std::string_view text, ModelFields *fields);
Status parse_yaml(std::string_view text, ModelFields *fields);

}  // namespace hog
}  // namespace cudavision
