// SPDX-License-Identifier: LGPL-2.1-or-later
// The elements of the plugin.
#include "tests/elements/every_element.h"

#include <algorithm>

#include "tests/elements/support.h"

namespace cudavision::test {
namespace {

const std::vector<std::string> kUses = {
#include "tests/support/element_uses.inc"
};

std::string element_of(const std::string &use) { return use.substr(0, use.find(' ')); }

// The uses of an element that are in the list.
std::vector<std::string> uses_in(const std::vector<std::string> &list, const std::string &element) {
  std::vector<std::string> uses;
  std::copy_if(list.begin(), list.end(), std::back_inserter(uses),
               [&element](const std::string &use) { return element_of(use) == element; });
  return uses;
}

}  // namespace

std::vector<std::string> element_names() {
  gst_init(nullptr, nullptr);
  std::vector<std::string> names;
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  for (GList *feature = features; feature != nullptr; feature = feature->next)
    if (GST_IS_ELEMENT_FACTORY(feature->data)) names.push_back(GST_OBJECT_NAME(feature->data));
  gst_plugin_feature_list_free(features);
  EXPECT_FALSE(names.empty()) << "GStreamer does not find the plugin";
  return names;
}

bool has_property(const std::string &element, const char *property) {
  const Owned<GstElement> made = parse(element);
  return g_object_class_find_property(G_OBJECT_GET_CLASS(made.get()), property) != nullptr;
}

std::vector<std::string> every_element(const ElementChoice &choice) {
  std::vector<std::string> uses = choice.own;
  const std::vector<std::string> names = element_names();
  for (const auto &[name, reason] : choice.left_out)
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << "there is no " << name;
  for (const std::string &name : names) {
    if (choice.left_out.contains(name) || !uses_in(choice.own, name).empty()) continue;
    if (choice.property != nullptr && !has_property(name, choice.property)) continue;
    const std::vector<std::string> listed = uses_in(kUses, name);
    uses.insert(uses.end(), listed.begin(), listed.end());
    if (listed.empty()) uses.push_back(name);
  }
  return uses;
}

std::string on_backend(const std::string &use, const std::string &more) {
  return has_property(element_of(use), "backend") ? use + " backend=" + backend() + " " + more : use;
}

}  // namespace cudavision::test
