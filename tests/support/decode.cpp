// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes pictures and video frames: gst-launch-1.0 writes them to a pipe as PGM or PPM. This keeps the
// decoders, their threads and their leaks out of the test process.
#include "tests/support/decode.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace cudavision::test {
namespace {

struct Close {
  void operator()(std::FILE *pipe) const { pclose(pipe); }
};
using Pipe = std::unique_ptr<std::FILE, Close>;

// Names one decoder, because decodebin needs more plugins.
std::string decoder_of(const std::filesystem::path &path) {
  if (path.extension() == ".png") return "pngdec";
  if (path.extension() == ".jpg") return "jpegdec";
  return "decodebin";
}

// Reads a picture as pnmenc writes it: "P5" or "P6", width, height and 255 on a line each, then the pixels.
bool read_pnm(std::FILE *pipe, Picture *picture) {
  char kind = 0;
  int width = 0, height = 0;
  if (std::fscanf(pipe, "P%c %d %d 255", &kind, &width, &height) != 3 || width < 1 || height < 1)
    return false;
  std::fgetc(pipe);
  *picture = Picture({width * (kind == '6' ? 3 : 1), height});
  return std::fread(picture->row(0), 1, picture->pixels().size(), pipe) == picture->pixels().size();
}

Photo decode(const std::filesystem::path &path, const std::string &format, int frame) {
  if (!std::filesystem::exists(path)) return {{}, path.string() + " is missing (Debian: opencv-doc)"};
  const std::string command = "gst-launch-1.0 -q filesrc location='" + path.string() + "' ! " +
                              decoder_of(path) + " ! videoconvert ! video/x-raw,format=" + format +
                              " ! pnmenc ! fdsink 2>/dev/null";
  const Pipe pipe(popen(command.c_str(), "r"));
  Photo photo;
  for (int i = 0; i <= frame; ++i)
    if (!pipe || !read_pnm(pipe.get(), &photo.pixels)) return {{}, path.string() + " does not decode"};
  return photo;
}

const Photo &decode_once(const char *file, const char *format, int frame) {
  static std::map<std::pair<std::string, int>, Photo> decoded;
  const auto key = std::make_pair(std::string(format) + " " + file, frame);
  const auto found = decoded.find(key);
  if (found != decoded.end()) return found->second;
  return decoded.emplace(key, decode(test_data_folder() / file, format, frame)).first->second;
}

}  // namespace

std::filesystem::path test_data_folder() {
  const char *folder = std::getenv("CUDAVISION_TEST_DATA");
  return folder != nullptr ? folder : "/usr/share/doc/opencv-doc/examples/data";
}

const Photo &gray_photo(const char *file, int frame) { return decode_once(file, "GRAY8", frame); }
const Photo &rgb_photo(const char *file, int frame) { return decode_once(file, "RGB", frame); }

}  // namespace cudavision::test
