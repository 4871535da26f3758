// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the models of cudahog.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hog/detector.h"

namespace cudavision {

// What cv::HOGDescriptor::save writes, in XML or YAML, under any name: it has all parameters. Or plain text,
// one weight a line, the bias last: its parameters and its window are those of *model. The error says what is
// wrong with the file.
Status load_hog_model(const std::string &location, HogModel *model);

namespace hog {

// The members of the first map in OpenCV's file, each with its numbers as text.
using ModelFields = std::map<std::string, std::vector<std::string>, std::less<>>;
Status parse_markup(std::string_view text, ModelFields *fields);
Status parse_yaml(std::string_view text, ModelFields *fields);

// The words of a text, parted by white space.
void append_words(std::string_view text, std::vector<std::string> *words);

}  // namespace hog
}  // namespace cudavision
