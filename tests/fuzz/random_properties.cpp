// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets properties of elements to random values.
#include "tests/fuzz/random_properties.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace cudavision::test {
namespace {

// Properties that are not set at random. max-memory means different things on the two backends; with every-nth frames
// pass without any work, and with qos the time decides which frames are dropped.
const std::set<std::string> kLeftOut = {"max-memory", "every-nth", "qos"};

std::vector<GParamSpec *> properties_of(GstElement *element) {
  guint count = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  std::vector<GParamSpec *> chosen;
  for (guint i = 0; i < count; ++i)
    if ((specs[i]->flags & GST_PARAM_MUTABLE_PLAYING) != 0 && (specs[i]->flags & G_PARAM_WRITABLE) != 0 &&
        !kLeftOut.contains(specs[i]->name))
      chosen.push_back(specs[i]);
  g_free(specs);
  std::sort(chosen.begin(), chosen.end(),
            [](const GParamSpec *a, const GParamSpec *b) { return std::string(a->name) < b->name; });
  return chosen;
}

int whole(Random &random, const GParamSpecInt *spec, const std::string &name, Size frame) {
  if (name == "n-threads") return static_cast<int>(random.in(0, 3));
  int most = spec->maximum;
  if (name.find("roi-") != std::string::npos || name.find("region-") != std::string::npos)
    most = std::min(most, std::max(frame.width, frame.height) + 8);
  switch (random.in(0, 9)) {
    case 0:
      return spec->minimum;
    case 1:
      return name.ends_with("-y") || name.ends_with("-x") ? 0 : spec->default_value;
    case 2:
      return most;
    case 3:
      return static_cast<int>(random.in(spec->minimum, most));
    default:
      return static_cast<int>(
          random.in(spec->minimum, std::min<std::int64_t>(most, std::int64_t{spec->minimum} + 24)));
  }
}

double real(Random &random, const GParamSpecDouble *spec) {
  switch (random.in(0, 4)) {
    case 0:
      return spec->minimum;
    case 1:
      return spec->maximum;
    default:
      return random.real(spec->minimum, std::min(spec->maximum, 3 * spec->default_value + 1));
  }
}

const char *text(Random &random) {
  static const char *const kTexts[] = {nullptr,     "",  "red",  "#80ff0000", "0xff00ff00",    "none",
                                       "direction", "*", "face", "nonsense",  "\xc3\xa4\"\\\n"};
  return random.pick(kTexts);
}

}  // namespace

void reset_properties(GstElement *element) {
  for (GParamSpec *spec : properties_of(element))
    g_object_set_property(G_OBJECT(element), spec->name, g_param_spec_get_default_value(spec));
}

void set_random_property(Random &random, GstElement *element, Size frame) {
  const std::vector<GParamSpec *> specs = properties_of(element);
  if (specs.empty()) return;
  GParamSpec *spec = random.pick(specs);
  GObject *object = G_OBJECT(element);
  if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_object_set(object, spec->name, static_cast<gboolean>(random.chance(50)), nullptr);
  } else if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass *values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    g_object_set(object, spec->name, values->values[random.in(0, values->n_values - 1)].value, nullptr);
  } else if (G_IS_PARAM_SPEC_INT(spec)) {
    g_object_set(object, spec->name, whole(random, G_PARAM_SPEC_INT(spec), spec->name, frame), nullptr);
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    g_object_set(object, spec->name, real(random, G_PARAM_SPEC_DOUBLE(spec)), nullptr);
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    g_object_set(object, spec->name, text(random), nullptr);
  }
}

}  // namespace cudavision::test
