// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes JPEG pictures with libjpeg-turbo.
#include <cstdio>
// jpeglib.h needs the definitions of cstdio.
#include <glib.h>
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <vector>

#include "gst/base/input/excerpt.h"
#include "gst/inpaint/decode_picture.h"
#include "gst/inpaint/exif_orientation.h"

namespace cudavision {
namespace {

// The most memory of the decoder, which keeps progressive pictures as coefficients: six bytes for a pixel in colour.
constexpr long kMostDecoderBytes = 128L << 20;
// Limit the number of scans, because a scan of a few bytes makes the decoder visit every pixel. Encoders write about
// ten scans, which even the largest picture may have. Small pictures may have a thousand.
constexpr long long kMostPixelsOfScans = 1LL << 29;
constexpr long long kLeastPixelsOfScan = 1LL << 19;
// The largest file with arithmetic coding, which takes ten times as long per byte as Huffman coding, twice per pixel.
constexpr std::size_t kMostArithmeticBytes = std::size_t{4} << 20;

class JpegReader {
 public:
  explicit JpegReader(std::string_view file) : file_(file) {}
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader &) = delete;
  JpegReader &operator=(const JpegReader &) = delete;

  Status read(MaskPixels *pixels) {
    if (!attempt(&error_, [this] { read_header(); })) return failure();
    CUDAVISION_TRY(pixels->begin({static_cast<int>(info_.image_width), static_cast<int>(info_.image_height)},
                                 orientation_));
    if (!attempt(&error_, [this] { jpeg_start_decompress(&info_); })) return failure();
    std::vector<JSAMPLE> row(std::size_t{info_.output_width} * 4);
    for (int y = 0; y < static_cast<int>(info_.output_height); ++y) {
      JSAMPROW begin = row.data();
      if (!attempt(&error_, [this, &begin] { jpeg_read_scanlines(&info_, &begin, 1); })) return failure();
      if (info_.out_color_space == JCS_CMYK) make_rgba(&row);
      pixels->put(row.data(), static_cast<int>(info_.output_width), 0, 1, y);
    }
    return {};
  }

 private:
  static JpegReader *self(j_common_ptr info) { return static_cast<JpegReader *>(info->client_data); }
  [[noreturn]] static void fail(j_common_ptr info, const char *text) {
    DecoderError &error = self(info)->error_;
    g_strlcpy(error.text, text, sizeof error.text);
    std::longjmp(error.place, 1);
  }
  [[noreturn]] static void on_error(j_common_ptr info) {
    if (info->err->msg_code == JERR_NO_BACKING_STORE)
      fail(info, "it takes too much memory to decode, as large progressive pictures do: save it as a PNG");
    info->err->format_message(info, self(info)->error_.text);
    std::longjmp(self(info)->error_.place, 1);
  }
  // Ignores warnings, except the one that data of the picture are missing, which is an error.
  static void on_message(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_HIT_MARKER) on_error(info);
  }
  // The decoder calls this repeatedly while it reads scans. Fails if there are too many of them.
  static void on_progress(j_common_ptr common) {
    const auto *info = reinterpret_cast<j_decompress_ptr>(common);
    const long long pixels = static_cast<long long>(info->image_width) * info->image_height;
    const long long of_scan = std::max(pixels, kLeastPixelsOfScan) * (info->arith_code ? 2 : 1);
    if (info->input_scan_number > kMostPixelsOfScans / of_scan)
      fail(common, "it has too many scans: save it as a PNG");
  }
  // Reads the orientation from an APP1 marker, which begins with its length and may hold Exif data.
  static boolean on_app1(j_decompress_ptr info) {
    jpeg_source_mgr *source = info->src;
    const JOCTET *bytes = source->next_input_byte;
    const std::size_t length = source->bytes_in_buffer < 2 ? 0 : std::size_t{bytes[0]} << 8 | bytes[1];
    if (length < 2 || length > source->bytes_in_buffer)
      fail(reinterpret_cast<j_common_ptr>(info), "a marker has no valid length");
    if (const unsigned found = exif_orientation({reinterpret_cast<const char *>(bytes) + 2, length - 2});
        found != 0)
      self(reinterpret_cast<j_common_ptr>(info))->orientation_ = found;
    source->next_input_byte += length;
    source->bytes_in_buffer -= length;
    return TRUE;
  }

  void read_header() {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    jpeg_create_decompress(&info_);
    info_.mem->max_memory_to_use = kMostDecoderBytes;
    progress_.progress_monitor = on_progress;
    info_.progress = &progress_;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char *>(file_.data()), file_.size());
    jpeg_set_marker_processor(&info_, JPEG_APP0 + 1, on_app1);
    jpeg_read_header(&info_, TRUE);
    if (info_.arith_code && file_.size() > kMostArithmeticBytes)
      fail(reinterpret_cast<j_common_ptr>(&info_), "it is too large for arithmetic coding: save it as a PNG");
    if (info_.out_color_space != JCS_CMYK) info_.out_color_space = JCS_EXT_RGBA;
  }

  // Converts CMYK to RGBA. The values are inverted, as Photoshop and other programs write them.
  static void make_rgba(std::vector<JSAMPLE> *row) {
    for (JSAMPLE *p = row->data(); p != row->data() + row->size(); p += 4) {
      for (int i = 0; i < 3; ++i) p[i] = static_cast<JSAMPLE>(p[i] * p[3] / 255);
      p[3] = 255;
    }
  }

  Status failure() const { return {Status::Code::unreadable_file, excerpt(error_.text)}; }

  std::string_view file_;
  unsigned orientation_ = 0;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  DecoderError error_;
};

}  // namespace

Status decode_jpeg(std::string_view file, MaskPixels *pixels) { return JpegReader(file).read(pixels); }

}  // namespace cudavision
