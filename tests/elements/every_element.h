// SPDX-License-Identifier: LGPL-2.1-or-later
// The elements of the plugin, as the registry lists them. A test that runs every element gets a new one by itself.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cudavision::test {

std::vector<std::string> element_names();
bool has_property(const std::string &element, const char *property);

struct ElementChoice {
  const char *property = nullptr;     // chooses only the elements with this property
  std::vector<std::string> own = {};  // replaces the uses in element_uses.inc of the elements that it names
  std::map<std::string, std::string> left_out = {};  // elements that the test cannot run, with the reason
};

// Uses of every element in gst-launch-1.0's syntax: the test's own ones, and then of all other elements those in
// tests/support/element_uses.inc or, if there is none, the element with its defaults.
std::vector<std::string> every_element(const ElementChoice &choice = {});

// The use on the backend under test, if the element has backends.
std::string on_backend(const std::string &use, const std::string &more = "");

}  // namespace cudavision::test
