// SPDX-License-Identifier: LGPL-2.1-or-later
// Results behind elements that move the picture. gst/docs/geometry.md lists the elements and says what becomes of each
// kind of result. Each element gets a picture of a bright box, and results that lie on the box. Behind the element the
// results must lie on the box of the new picture, or be gone.
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <regex>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

using std::numbers::pi;

// The bright box. Mirroring or rotating the picture moves the box to another place.
constexpr int kLeft = 200, kTop = 60, kBoxWidth = 40, kBoxHeight = 20;

Owned<GstBuffer> frame_with_box() {
  Owned<GstBuffer> buffer = frame();
  const std::vector<guint8> white(std::size_t{kBoxWidth} * 3, 255);
  for (int y = kTop; y < kTop + kBoxHeight; ++y)
    gst_buffer_fill(buffer.get(), (gsize(y) * kWidth + kLeft) * 3, white.data(), white.size());

  std::vector<guint8> mask(std::size_t{kWidth} * kHeight, 0);
  for (int y = kTop; y < kTop + kBoxHeight; ++y)
    std::fill_n(mask.begin() + y * kWidth + kLeft, kBoxWidth, guint8{255});
  const gsize dims[] = {kHeight, kWidth};
  GstCudaVisionTensorMeta *tensor = gst_cuda_vision_buffer_add_tensor_meta(
      buffer.get(), "mask", GST_CUDA_VISION_ELEMENT_TYPE_U8, 2, dims, numbers(mask));
  gst_cuda_vision_tensor_meta_set_geometry(tensor, kWidth, kHeight, 0, 0, 1, 1);

  // On the middle of the left side and of the top, with the directions in which the picture becomes brighter.
  const GstCudaVisionKeypoint keypoints[] = {{kLeft - 0.5f, kTop + 9.5f, 1, 0},
                                             {kLeft + 19.5f, kTop - 0.5f, 1, float(pi / 2)}};
  gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), keypoints, 2);
  // The axes of the box, three pixels shorter than the box at each end.
  const GstCudaVisionLine lines[] = {
      {kTop + 9.5f, float(pi / 2), 1, kLeft + 3, kTop + 9.5f, kLeft + 36, kTop + 9.5f},
      {kLeft + 19.5f, 0, 1, kLeft + 19.5f, kTop + 3, kLeft + 19.5f, kTop + 16}};
  gst_cuda_vision_buffer_add_lines_meta(buffer.get(), lines, 2);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "box", kLeft, kTop, kBoxWidth, kBoxHeight);
  return buffer;
}

// The luma of the picture behind the elements.
class Picture {
 public:
  Picture(GstBuffer *buffer, GstCaps *caps) {
    GstVideoInfo info;
    GstVideoFrame mapped;
    if (!gst_video_info_from_caps(&info, caps) ||
        !gst_video_frame_map(&mapped, &info, buffer, GST_MAP_READ)) {
      ADD_FAILURE() << "the picture cannot be read";
      return;
    }
    width_ = info.width, height_ = info.height;
    const auto *luma = static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, 0));
    for (int y = 0; y < height_; ++y, luma += GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, 0))
      luma_.insert(luma_.end(), luma, luma + width_);
    gst_video_frame_unmap(&mapped);
  }
  int width() const { return width_; }
  int height() const { return height_; }
  bool shows(double x, double y) const {
    return x > -0.5 && y > -0.5 && x < width_ - 0.5 && y < height_ - 0.5;
  }
  bool bright(double x, double y) const {
    return shows(x, y) &&
           luma_[std::size_t(std::lround(y)) * std::size_t(width_) + std::size_t(std::lround(x))] > 128;
  }

 private:
  int width_ = 0, height_ = 0;
  std::vector<guint8> luma_;
};

constexpr char kFollow[] = "follow", kDropped[] = "dropped", kWrong[] = "wrong place";

// Each function says what has become of a kind of result.

std::string fate_of_keypoints(GstBuffer *buffer, const Picture &picture) {
  const auto *meta = gst_cuda_vision_buffer_get_keypoints_meta(buffer);
  if (meta == nullptr) return kDropped;
  guint n = 0;
  const GstCudaVisionKeypoint *keypoints = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &n);
  const bool all_right = n == 2 && std::all_of(keypoints, keypoints + n, [&](const GstCudaVisionKeypoint &k) {
                           const double dx = 3 * std::cos(k.angle), dy = 3 * std::sin(k.angle);
                           return picture.bright(k.x + dx, k.y + dy) && !picture.bright(k.x - dx, k.y - dy);
                         });
  return all_right ? kFollow : kWrong;
}

std::string fate_of_lines(GstBuffer *buffer, const Picture &picture) {
  const auto *meta = gst_cuda_vision_buffer_get_lines_meta(buffer);
  if (meta == nullptr) return kDropped;
  guint n = 0;
  const GstCudaVisionLine *lines = gst_cuda_vision_lines_meta_get_lines(meta, &n);
  const bool all_right = n == 2 && std::all_of(lines, lines + n, [&](const GstCudaVisionLine &line) {
                           const auto is_right = [&](double x, double y) {
                             const double distance =
                                 x * std::cos(line.theta) + y * std::sin(line.theta) - line.rho;
                             return picture.bright(x, y) && std::abs(distance) < 1e-3;
                           };
                           const double length = std::hypot(line.x2 - line.x1, line.y2 - line.y1);
                           return length > 5 && is_right(line.x1, line.y1) && is_right(line.x2, line.y2);
                         });
  return all_right ? kFollow : kWrong;
}

std::string fate_of_tensor(GstBuffer *buffer, const Picture &picture) {
  const auto *mask = gst_cuda_vision_buffer_get_tensor_meta(buffer, "mask");
  if (mask == nullptr) return kDropped;
  const std::vector<guint8> values = values_of<guint8>(mask);
  if (values.size() != std::size_t{kWidth} * kHeight) return kWrong;
  // Two pixels on either side of the outline are left out, where scaled pictures are neither dark nor bright.
  const auto value = [&](int x, int y) { return values[std::size_t(y) * kWidth + std::size_t(x)]; };
  int seen = 0;
  for (int y = 2; y < kHeight - 2; ++y)
    for (int x = 2; x < kWidth - 2; ++x) {
      const bool is_set = value(x, y) != 0;
      if ((value(x - 2, y - 2) != 0) != is_set || (value(x + 2, y + 2) != 0) != is_set) continue;
      const double at_x = (mask->origin_x + x * mask->step_x) * picture.width() / mask->frame_width,
                   at_y = (mask->origin_y + y * mask->step_y) * picture.height() / mask->frame_height;
      if (!picture.shows(at_x, at_y)) continue;
      if (picture.bright(at_x, at_y) != is_set) return kWrong;
      seen += is_set;
    }
  return seen > 0 ? kFollow : kWrong;
}

std::string fate_of_region(GstBuffer *buffer, const Picture &picture) {
  const GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta(buffer);
  if (region == nullptr) return kDropped;
  const double left = region->x, top = region->y, right = left + region->w - 1, bottom = top + region->h - 1;
  const bool inside = picture.bright(left + 2, top + 2) && picture.bright(right - 2, bottom - 2),
             outside = !picture.bright(left - 3, (top + bottom) / 2) &&
                       !picture.bright(right + 3, (top + bottom) / 2);
  return inside && outside ? kFollow : kWrong;
}

// A pipeline in the table of gst/docs/geometry.md, and the other cells of its row.
struct Neighbour {
  std::string elements, lists, tensors, regions;
};
void PrintTo(const Neighbour &neighbour, std::ostream *out) { *out << neighbour.elements; }

// What a cell says for the running GStreamer. "dropped; follow from 1.28" is "dropped" before 1.28, and then "follow".
std::string promised(const std::string &cell) {
  const std::size_t semicolon = cell.find("; "), from = cell.find(" from 1.28");
  if (semicolon == std::string::npos) return cell;
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return minor < 28 ? cell.substr(0, semicolon) : cell.substr(semicolon + 2, from - semicolon - 2);
}

std::vector<Neighbour> neighbours() {
  std::vector<Neighbour> all;
  std::ifstream page(CUDAVISION_GEOMETRY_PAGE);
  const std::regex row(R"(\| ([^|]*`[^|]*) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|)"), code("`([^`]+)`");
  for (std::string line; std::getline(page, line);) {
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    const std::string pipelines = cells[1];
    for (std::sregex_iterator it(pipelines.begin(), pipelines.end(), code), end; it != end; ++it)
      all.push_back({(*it)[1], cells[2], cells[3], cells[4]});
  }
  return all;
}

// An element that does not know one of the tags must not copy the meta; with other tags it would lose it needlessly.
TEST(Geometry, metas_are_registered_as_belonging_to_places_in_the_picture) {
  for (const GType api : {GST_CUDA_VISION_TENSOR_META_API_TYPE, GST_CUDA_VISION_KEYPOINTS_META_API_TYPE,
                          GST_CUDA_VISION_LINES_META_API_TYPE}) {
    const gchar *const *tags = gst_meta_api_type_get_tags(api);
    ASSERT_NE(tags, nullptr) << g_type_name(api);
    std::vector<std::string> sorted;
    for (; *tags != nullptr; ++tags) sorted.push_back(*tags);
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, (std::vector<std::string>{"orientation", "size", "video"})) << g_type_name(api);
  }
}

TEST(Geometry, the_page_lists_neighbours) { EXPECT_GT(neighbours().size(), 50u); }

class GeometryBehind : public testing::TestWithParam<Neighbour> {};
std::string name_of(const testing::TestParamInfo<Neighbour> &tested) {
  return std::regex_replace(tested.param.elements, std::regex("[^a-zA-Z0-9]+"), "_") + "_" +
         std::to_string(tested.index);
}
INSTANTIATE_TEST_SUITE_P(, GeometryBehind, testing::ValuesIn(neighbours()), name_of);

TEST_P(GeometryBehind, results_follow_the_picture_or_are_dropped) {
  const auto &[elements, lists, tensors, regions] = GetParam();
  GstCaps *caps = nullptr;
  const Owned<GstBuffer> out =
      through("videoconvert ! " + elements + " ! videoconvert ! capsfilter caps=video/x-raw,format=GRAY8",
              frame_with_box(), &caps);
  if (HasFailure()) return;
  if (out == nullptr) GTEST_SKIP() << "not installed: " << elements;
  const Picture picture(out.get(), caps);
  gst_caps_unref(caps);
  EXPECT_EQ(fate_of_keypoints(out.get(), picture), promised(lists)) << "keypoints";
  EXPECT_EQ(fate_of_lines(out.get(), picture), promised(lists)) << "lines";
  EXPECT_EQ(fate_of_tensor(out.get(), picture), promised(tensors)) << "tensor";
  EXPECT_EQ(fate_of_region(out.get(), picture), promised(regions)) << "region";
  for (const std::string &ours : {lists, tensors}) EXPECT_EQ(ours.find(kWrong), std::string::npos);
}

}  // namespace
}  // namespace cudavision::test
