// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/rectify/calibration.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cuda/common/backends.h"
#include "gst/base/geometry/projective.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/input/regular_file.h"
#include "gst/base/input/yaml.h"
#include "gst/rectify/view.h"

namespace cudavision::rectify {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr double kMostNumber = 1e9;

// What a file says: a number or a word, a list, a list of lists, or a matrix of OpenCV or ROS, whose list has the rows
// one after another.
struct Member {
  std::string name;  // in the file
  int line = 0;      // where it begins; 0 if the file does not have it
  std::vector<double> numbers;
  std::string word;  // the last one, which may be a number
};

struct Members {
  Member matrix, coefficients, width, height, lens;
};

// Whatever the program calls them that wrote the file; without capitals, underscores and hyphens.
constexpr struct {
  std::string_view name;
  Member Members::*member;
} kNames[] = {
    {"cameramatrix", &Members::matrix},
    {"k", &Members::matrix},
    {"distortioncoefficients", &Members::coefficients},
    {"distcoeffs", &Members::coefficients},
    {"distcoeff", &Members::coefficients},
    {"d", &Members::coefficients},
    {"imagewidth", &Members::width},
    {"width", &Members::width},
    {"imageheight", &Members::height},
    {"height", &Members::height},
    {"distortionmodel", &Members::lens},
    {"cameramodel", &Members::lens},
    {"fisheyemodel", &Members::lens},
};

Status fault(int line, const std::string &text) {
  return invalid_argument("line " + std::to_string(line) + ": " + text);
}

std::string plain(std::string_view name) {
  std::string letters;
  for (const char letter : name)
    if (letter != '_' && letter != '-') letters += g_ascii_tolower(letter);
  return letters;
}

// Follows the events of a file, which is a map. Members that describe no camera are ignored.
class Reader {
 public:
  explicit Reader(Members *members) : members_(members) {}

  Status take(const YamlEvent &event) {
    using Kind = YamlEvent::Kind;
    if (event.kind == Kind::end) {
      is_list_.pop_back();
      return {};
    }
    if (is_list_.empty() && event.kind != Kind::map_start)
      return fault(event.line, "a member such as camera_matrix is expected");
    const bool is_scalar = event.kind == Kind::scalar;
    if (is_list_.size() == 1) {
      is_name_ = !is_name_;
      if (is_name_) return is_scalar ? begin(event) : fault(event.line, "the name of a member is no text");
    }
    if (!is_scalar)
      is_list_.push_back(event.kind == Kind::list_start);
    else if (member_ != nullptr && (is_list_.size() == 1 || is_list_.back()))
      return append(event);
    return {};
  }

 private:
  Status begin(const YamlEvent &event) {
    member_ = nullptr;
    for (const auto &known : kNames)
      if (plain(event.text) == known.name) member_ = &(members_->*known.member);
    if (member_ == nullptr) return {};
    if (member_->line != 0)
      return fault(event.line, quoted_excerpt(event.text) + " is there already, as " + member_->name +
                                   " in line " + std::to_string(member_->line));
    member_->name = excerpt(event.text), member_->line = event.line;
    return {};
  }

  Status append(const YamlEvent &event) {
    const std::string &word = member_->word = event.text;
    char *end = nullptr;
    const double number = g_ascii_strtod(word.c_str(), &end);  // independent of the locale
    if (!word.empty() && *end == '\0' && std::abs(number) <= kMostNumber)
      member_->numbers.push_back(number);
    else if (member_ != &members_->lens)
      return fault(event.line,
                   quoted_excerpt(word) + " in " + member_->name + " is no number from -1e9 to 1e9");
    return {};
  }

  Members *members_;
  Member *member_ = nullptr;   // the last one that was begun, if it is one of a camera
  std::vector<bool> is_list_;  // the collections around an event: lists, or maps
  bool is_name_ = false;       // of a member: names and values alternate
};

Status read_side(const Member &member, int *side) {
  const double number = member.numbers.size() == 1 ? member.numbers[0] : 0;
  if (number != std::floor(number) || number < 1 || number > kMaxSide)
    return fault(member.line, member.name + " is no whole number from 1 to 16384");
  *side = static_cast<int>(number);
  return {};
}

Status read_camera_matrix(const Member &member, CameraModel *camera) {
  if (member.line == 0) return invalid_argument("it has no camera_matrix");
  const std::vector<double> &m = member.numbers;
  if (m.size() != 9 || !(m[0] > 0) || !(m[4] > 0) || m[3] != 0 || m[6] != 0 || m[7] != 0 || m[8] != 1)
    return fault(member.line,
                 member.name + " is not as expected: fx 0 cx, 0 fy cy, 0 0 1, with fx and fy above 0");
  camera->fx = m[0], camera->fy = m[4], camera->cx = m[2], camera->cy = m[5];
  return {};
}

Status read_lens(const Member &member, CameraModel::Lens *lens) {
  const std::string name = plain(member.word);
  if (name == "equidistant" || name == "fisheye" || name == "1" || name == "true")
    *lens = CameraModel::Lens::fisheye;
  else if (member.line != 0 && name != "plumbbob" && name != "rationalpolynomial" && name != "pinhole" &&
           name != "0" && name != "false")
    return fault(member.line, member.name + " is " + quoted_excerpt(member.word) +
                                  ", and plumb_bob, rational_polynomial, equidistant or fisheye is expected");
  return {};
}

// The tilt of the sensor: the homography of a plane that is turned by both angles and projected along the axis again.
Status set_tilt(int line, double tau_x, double tau_y, CameraModel *camera) {
  if (!(std::abs(tau_x) < 1.5 && std::abs(tau_y) < 1.5))
    return fault(line, "the last two coefficients are angles in radians, from -1.5 to 1.5");
  const Matrix turned = product(rotation(0, 2, tau_y), rotation(2, 1, tau_x));
  const Matrix tilt = product(Matrix{turned[8], 0, -turned[2], 0, turned[8], -turned[5], 0, 0, 1}, turned);
  std::copy(tilt.begin(), tilt.end(), camera->tilt);
  return {};
}

Status read_coefficients(const Member &member, CameraModel *camera) {
  if (member.line == 0) return invalid_argument("it has no distortion_coefficients");
  const std::vector<double> &numbers = member.numbers;
  const std::size_t count = numbers.size();
  const bool is_fisheye = camera->lens == CameraModel::Lens::fisheye;
  const bool has_more = !is_fisheye && (count == 5 || count == 8 || count == 12 || count == 14);
  if (count != 0 && count != 4 && !has_more)  // ROS has 0 for pictures that are straight
    return fault(member.line, member.name + " has " + std::to_string(count) + " numbers, and " +
                                  (is_fisheye ? "4, those of a fisheye," : "4, 5, 8, 12 or 14") +
                                  " are expected");
  if (count == 14) CUDAVISION_TRY(set_tilt(member.line, numbers[12], numbers[13], camera));
  std::copy_n(numbers.begin(), std::min<std::size_t>(count, 12), camera->k);
  return {};
}

}  // namespace

Status parse_calibration(std::string_view text, Calibration *calibration) {
  if (text.starts_with('<'))
    return invalid_argument("it is XML, and YAML is expected: OpenCV writes it into files that end in .yml");
  Members members;
  Reader reader(&members);
  CUDAVISION_TRY(read_yaml(text, [&](const YamlEvent &event) { return reader.take(event); }));
  Calibration made;
  CUDAVISION_TRY(read_camera_matrix(members.matrix, &made.camera));
  CUDAVISION_TRY(read_lens(members.lens, &made.camera.lens));
  CUDAVISION_TRY(read_coefficients(members.coefficients, &made.camera));
  made.camera.farthest = farthest_seen(made.camera);
  if (members.width.line != 0 && members.height.line != 0) {
    CUDAVISION_TRY(read_side(members.width, &made.size.width));
    CUDAVISION_TRY(read_side(members.height, &made.size.height));
  }
  *calibration = made;
  return {};
}

Status read_calibration(const std::string &location, Calibration *calibration) {
  return catch_bad_alloc([&]() -> Status {
    std::string text;
    Status status = read_regular_file(location, kMostBytes, &text);
    if (status.ok()) status = parse_calibration(text, calibration);
    if (status.ok()) return {};
    return {status.code(), "the calibration " + excerpt(location) + ": " + status.text()};
  });
}

Status camera_for(const Calibration &calibration, Size frame, CameraModel *camera) {
  *camera = calibration.camera;
  const Size &size = calibration.size;
  if (size == Size{} || size == frame) return {};
  const double across = static_cast<double>(frame.width) / size.width,
               down = static_cast<double>(frame.height) / size.height;
  // A side may be off by less than a pixel of the smaller picture.
  if (std::abs(size.width * frame.height - size.height * frame.width) >=
      std::max({size.width, size.height, frame.width, frame.height}))
    return invalid_argument("the calibration is that of pictures of " + std::to_string(size.width) + "x" +
                            std::to_string(size.height) + ", and frames of " + std::to_string(frame.width) +
                            "x" + std::to_string(frame.height) + " have another shape");
  camera->fx *= across, camera->cx = (camera->cx + 0.5) * across - 0.5;
  camera->fy *= down, camera->cy = (camera->cy + 0.5) * down - 0.5;
  return {};
}

}  // namespace cudavision::rectify
