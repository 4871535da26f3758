// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses the command line of streams_bench.
#include "tests/bench/harness/stream_options.h"

#include <unistd.h>

#include <charconv>
#include <functional>
#include <map>
#include <utility>

namespace cudavision::bench {
namespace {

constexpr int kMostStreams = 4096, kLargestSide = 16384, kMostDevices = 64;
constexpr double kMostSeconds = 3600;

using Apply = std::function<bool(const std::string &value)>;  // returns false if the value is invalid

template <typename T>
using Names = std::vector<std::pair<const char *, T>>;
const Names<Memory> kMemoryNames = {
    {"cuda", Memory::cuda}, {"pinned", Memory::pinned}, {"pageable", Memory::ordinary}};
const Names<Contexts> kContextsNames = {
    {"own", Contexts::own}, {"shared", Contexts::shared}, {"given", Contexts::given}};

template <typename T>
bool parse_number(const std::string &text, T least, T most, T *number) {
  T parsed{};
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc() || stop != end || !(parsed >= least && parsed <= most)) return false;
  *number = parsed;
  return true;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool parse_size(const std::string &text, Size *size) {
  const std::vector<std::string> sides = split(text, 'x');
  return sides.size() == 2 && parse_number(sides[0], 1, kLargestSide, &size->width) &&
         parse_number(sides[1], 1, kLargestSide, &size->height);
}

bool parse_counts(const std::string &text, std::vector<int> *counts) {
  counts->clear();
  for (const std::string &part : split(text, ','))
    if (!parse_number(part, 1, kMostStreams, &counts->emplace_back())) return false;
  return true;
}

template <typename T>
bool parse_names(const std::string &text, const Names<T> &names, std::vector<T> *values) {
  values->clear();
  for (const std::string &part : split(text, ',')) {
    const std::size_t before = values->size();
    for (const auto &[name, value] : names)
      if (part == name) values->push_back(value);
    if (values->size() == before) return false;
  }
  return true;
}

template <typename T>
const char *name_of(T wanted, const Names<T> &names) {
  for (const auto &[name, value] : names)
    if (value == wanted) return name;
  return "any";
}

bool parse_readable(const std::string &text, std::string *file) {
  *file = text;
  return access(text.c_str(), R_OK) == 0;
}

// Checks no names; streams_bench.cpp does, in choose_work().
bool parse_elements(const std::string &text, std::vector<std::string> *names) {
  *names = split(text, ',');
  return !text.empty();
}

bool parse_backend(const std::string &text, std::string *backend) {
  *backend = text;
  return text == "auto" || text == "cuda" || text == "cpu";
}

std::map<std::string, Apply> valued_options(StreamOptions *o) {
  return {
      {"--streams", [o](const std::string &v) { return parse_counts(v, &o->streams); }},
      {"--elements", [o](const std::string &v) { return parse_elements(v, &o->elements); }},
      {"--memory", [o](const std::string &v) { return parse_names(v, kMemoryNames, &o->memory); }},
      {"--contexts", [o](const std::string &v) { return parse_names(v, kContextsNames, &o->contexts); }},
      {"--seconds", [o](const std::string &v) { return parse_number(v, 0.01, kMostSeconds, &o->seconds); }},
      {"--devices", [o](const std::string &v) { return parse_number(v, 1, kMostDevices, &o->devices); }},
      {"--size", [o](const std::string &v) { return parse_size(v, &o->size); }},
      {"--live-streams",
       [o](const std::string &v) { return parse_number(v, 1, kMostStreams, &o->live_streams); }},
      {"--decode", [o](const std::string &v) { return parse_readable(v, &o->decode); }},
      {"--backend", [o](const std::string &v) { return parse_backend(v, &o->backend); }},
  };
}

std::map<std::string, bool *> flags(StreamOptions *o) {
  return {{"--live", &o->live}, {"--peers", &o->peers}, {"--start", &o->start}, {"--help", &o->help}};
}

}  // namespace

const char *text_of(Memory memory) { return name_of(memory, kMemoryNames); }
const char *text_of(Contexts contexts) { return name_of(contexts, kContextsNames); }

const char *usage() {
  return "streams_bench [OPTION]...: many pipelines in one process\n"
         "  --streams 1,4,16,64            how many pipelines run together in a row\n"
         "  --elements LIST                of canny histogram localhist hough opticalflow sigma2kp hog "
         "people bgsub\n"
         "                                 chain decoder (with --decode); default: all that exist\n"
         "  --memory cuda,pinned,pageable  where the frames lie\n"
         "  --contexts own,shared,given    one CUDA context per pipeline, the plugin's choice, one for all\n"
         "  --seconds S                    seconds for which each row is measured (2)\n"
         "  --devices N                    pipelines take turns on the first N devices (1: no device is "
         "chosen)\n"
         "  --size 1920x1080\n"
         "  --live                         adds rows of live sources of 30 frames/s\n"
         "  --live-streams N               pipelines of those rows (64)\n"
         "  --decode FILE.h264             adds rows of nvh264dec\n"
         "  --backend auto|cuda|cpu\n"
         "  --peers                        adds rows of edgedetect beside cudacanny, both on the CPU\n"
         "  --start                        times until the first frame of two pipelines, nothing else\n";
}

std::string parse_options(int argc, char **argv, StreamOptions *options) {
  const auto valued = valued_options(options);
  const auto switches = flags(options);
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    const std::size_t equals = name.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) value = name.substr(equals + 1);
    name.resize(joined ? equals : name.size());
    if (const auto found = switches.find(name); found != switches.end() && !joined) {
      *found->second = true;
      continue;
    }
    const auto found = valued.find(name);
    if (found == valued.end()) return "unknown option " + std::string(argv[i]);
    if (!joined && ++i == argc) return name + " needs a value";
    if (!joined) value = argv[i];
    if (!found->second(value)) {
      const char *problem = name == "--decode" ? "cannot read the file " : "cannot make sense of ";
      return name + ": " + problem + "'" + value + "'";
    }
  }
  return "";
}

}  // namespace cudavision::bench
