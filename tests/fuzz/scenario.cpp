// SPDX-License-Identifier: LGPL-2.1-or-later
// A random pipeline and what happens to it, which a seed determines.
#include "tests/fuzz/scenario.h"

#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "tests/elements/cuda_memory.h"
#include "tests/elements/every_element.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/video_frame.h"
#include "tests/fuzz/random_properties.h"

namespace cudavision::test {
namespace {

// The names of the elements that process pixels.
const std::vector<std::string> &elements() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = element_names();
    std::erase_if(all, [](const std::string &name) { return !has_property(name, "backend"); });
    return all;
  }();
  return names;
}
// The formats that cudaupload accepts in GStreamer 1.22.
const char *const kUploadable[] = {"NV12", "I420", "RGBA", "BGRA", "Y444"};

std::uint64_t hash_of(const std::vector<std::uint8_t> &bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

class Scenario {
 public:
  Scenario(std::uint64_t seed, const ScenarioOptions &options, const std::string &folder)
      : random_(seed), options_(options), lines_(folder + "/lines.jsonl") {
    make_pipeline();
    new_format();
  }
  ~Scenario() { gst_harness_teardown(harness_); }

  ScenarioResult play() {
    const int steps = static_cast<int>(random_.in(5, 30));
    std::atomic<bool> ended = false;
    std::thread beside;
    if (options_.changes_beside) beside = std::thread([&, seed = random_.next()] { change(seed, ended); });
    for (int i = 0; i < steps; ++i) step();
    ended = true;
    if (beside.joinable()) beside.join();
    end_stream();
    result_.steps = steps;
    return std::move(result_);
  }

 private:
  void make_pipeline() {
    std::string text;
    uploads_ = random_.chance(50);
    const int count = static_cast<int>(random_.in(1, 3));
    for (int i = 0; i < count; ++i)
      text += random_.pick(elements()) + " name=e" + std::to_string(i) + " backend=" + options_.backend +
              " n-threads=1 ! ";
    result_.pipeline = text;
    const bool wraps = uploads_ && options_.uploads;
    text = (wraps ? "cudaupload ! " : "") + text +
           "cudavisiontrack min-hits=0 ! cudavisionjson tensor-data=full location=" + lines_ +
           (wraps ? " ! cudadownload" : "");
    GError *error = nullptr;
    bin_.reset(GST_ELEMENT(gst_object_ref_sink(gst_parse_bin_from_description(text.c_str(), TRUE, &error))));
    g_assert_no_error(error);
    for (int i = 0; i < count; ++i) {
      GstElement *element = gst_bin_get_by_name(GST_BIN(bin_.get()), ("e" + std::to_string(i)).c_str());
      elements_.push_back(element);
      gst_object_unref(element);  // the bin keeps it
    }
    bus_ = gst_bus_new();
    gst_element_set_bus(bin_.get(), bus_);
    gst_object_unref(bus_);
    harness_ = gst_harness_new_with_element(bin_.get(), "sink", "src");
    for (GstElement *element : elements_)
      for (int k = static_cast<int>(random_.in(0, 4)); k > 0; --k)
        set_random_property(random_, element, {64, 48});
  }

  // --- the second thread ---

  void change(std::uint64_t seed, const std::atomic<bool> &ended) const {
    Random random(seed);
    while (!ended) {
      GstElement *element = random.pick(elements_);
      set_random_property(random, element, {64, 48});
      gint64 position = 0;
      gst_element_query_position(element, GST_FORMAT_TIME, &position);
      gchar *value = nullptr;
      g_object_get(element, "name", &value, nullptr);
      g_free(value);
      std::this_thread::yield();
    }
  }

  // --- steps ---

  void step() {
    switch (random_.in(0, 19)) {
      case 0:
        return new_format();
      case 1:
        return flush();
      case 2:
        return restart();
      case 3:
        return note("gap event", gst_harness_push_event(harness_, gst_event_new_gap(time_, GST_SECOND)));
      case 4:
      case 5:
      case 6:
      case 7:
        return set_random_property(random_, random_.pick(elements_), size_);
      default:
        return push_frame();
    }
  }

  void new_format() {
    const bool few = uploads_;
    format_ = few                  ? random_.pick(kUploadable)
              : random_.chance(70) ? random_.pick(kFormats)
                                   : std::string(random_.pick(kRepacked).format);
    const int least = random_.chance(80) ? std::min(28, options_.longest_side) : 1;
    size_ = {static_cast<int>(random_.in(least, options_.longest_side)),
             static_cast<int>(random_.in(least, options_.longest_side))};
    if (random_.chance(3))
      (random_.chance(50) ? size_.width : size_.height) = static_cast<int>(random_.in(1, 4097));
    if (size_.width > 1024) size_.height = std::min(size_.height, 8);
    if (size_.height > 1024) size_.width = std::min(size_.width, 8);
    send_caps();
  }

  void send_caps() {
    const VideoFrame frame(format_, size_);
    Owned<GstCaps> caps = frame.caps();
    static const int kRates[] = {0, 1, 25, 30000};
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, random_.pick(kRates), 1, nullptr);
    note(format_ + " " + std::to_string(size_.width) + "x" + std::to_string(size_.height),
         gst_harness_push_event(harness_, gst_event_new_caps(caps.get())));
    collect_messages();
    if (failed_) restart();
  }

  void push_frame() {
    const Layout layout = !uploads_ && random_.chance(40) ? Layout::apart : Layout::of_the_caps;
    const VideoFrame frame(format_, size_, static_cast<unsigned>(random_.in(1, 5)), layout);
    Owned<GstBuffer> buffer = frame.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_ += 40 * GST_MSECOND;
    GST_BUFFER_DURATION(buffer.get()) = random_.chance(90) ? 40 * GST_MSECOND : GST_CLOCK_TIME_NONE;
    if (random_.chance(4)) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
    if (random_.chance(4)) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_GAP);
    if (random_.chance(20)) add_foreign_metas(buffer.get());
    Owned<GstBuffer> shared;
    if (random_.chance(20)) shared.reset(gst_buffer_copy(buffer.get()));  // the copy shares the memory
    if (!uploads_ && random_.chance(3)) {
      spoil(buffer.get());
      spoilt_ = true;
    }
    ++result_.frames;
    note("frame", gst_harness_push(harness_, buffer.release()));
    while (GstBuffer *out = gst_harness_try_pull(harness_)) {
      result_.transcript.push_back("out " + (spoilt_ ? "" : std::to_string(hash_of_samples(out))));
      gst_buffer_unref(out);
    }
    if (shared) {
      EXPECT_EQ(hash_of(bytes_of(shared.get())), hash_of(frame.bytes())) << "shared memory was written to";
    }
    collect_messages();
    if (failed_) restart();
  }

  // Nobody writes the bytes between the rows of a new frame.
  std::uint64_t hash_of_samples(GstBuffer *out) const {
    const Owned<GstCaps> caps(gst_pad_get_current_caps(harness_->sinkpad));
    return hash_of(samples_of(out, caps.get()));
  }

  // Adds regions and a tensor as other elements might, some with numbers that make no sense.
  void add_foreign_metas(GstBuffer *buffer) {
    for (int i = static_cast<int>(random_.in(1, 4)); i > 0; --i)
      gst_buffer_add_video_region_of_interest_meta(
          buffer, random_.chance(50) ? "face" : "box", static_cast<guint>(random_.in(-3, 60)),
          static_cast<guint>(random_.in(-3, 60)), static_cast<guint>(random_.in(0, 90)),
          random_.chance(5) ? G_MAXUINT : static_cast<guint>(random_.in(0, 90)));
    const gsize dims[] = {static_cast<gsize>(random_.in(0, 3)), static_cast<gsize>(random_.in(1, 3)), 2};
    std::vector<float> numbers(dims[0] * dims[1] * dims[2] + 1, std::numeric_limits<float>::quiet_NaN());
    if (random_.chance(50)) numbers.assign(numbers.size(), static_cast<float>(random_.real(-1e30, 1e30)));
    gst_cuda_vision_buffer_add_tensor_meta(
        buffer, random_.chance(50) ? "optical-flow" : "foreign", GST_CUDA_VISION_ELEMENT_TYPE_F32, 3, dims,
        gst_buffer_new_memdup(numbers.data(), numbers.size() * sizeof(float)));
  }

  // Makes the buffer hold less than a frame, or lie about its planes.
  void spoil(GstBuffer *buffer) {
    if (GstVideoMeta *meta = gst_buffer_get_video_meta(buffer); meta != nullptr && random_.chance(50)) {
      meta->offset[0] = static_cast<gsize>(random_.next() >> random_.in(0, 63));
      meta->stride[0] = static_cast<gint>(random_.in(-100, 5000));
      meta->height = static_cast<guint>(random_.in(0, 5000));
      return;
    }
    gst_buffer_resize(
        buffer, 0, static_cast<gssize>(random_.in(0, static_cast<gint64>(gst_buffer_get_size(buffer)) - 1)));
  }

  void flush() {
    gst_harness_push_event(harness_, gst_event_new_flush_start());
    note("flush", gst_harness_push_event(harness_, gst_event_new_flush_stop(random_.chance(50))));
    new_segment();
  }

  void new_segment() {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = segment.position = random_.chance(50) ? 0 : time_;
    gst_harness_push_event(harness_, gst_event_new_segment(&segment));
  }

  void end_stream() {
    note("end", gst_harness_push_event(harness_, gst_event_new_eos()));
    collect_messages();
    result_.transcript.push_back(content(lines_));
    gst_element_set_state(bin_.get(), GST_STATE_NULL);
  }

  void restart() {
    end_stream();
    failed_ = spoilt_ = false;
    note("start", gst_element_set_state(bin_.get(), GST_STATE_PLAYING));
    gst_harness_push_event(harness_, gst_event_new_stream_start("again"));
    collect_messages();
    if (failed_) {  // properties contradict each other
      for (GstElement *element : elements_) reset_properties(element);
      gst_element_set_state(bin_.get(), GST_STATE_NULL);
      note("start with defaults", gst_element_set_state(bin_.get(), GST_STATE_PLAYING));
      gst_harness_push_event(harness_, gst_event_new_stream_start("with defaults"));
    }
    const VideoFrame frame(format_, size_);
    gst_harness_push_event(harness_, gst_event_new_caps(frame.caps().get()));
    new_segment();
    collect_messages();
    failed_ = false;
  }

  // --- the transcript ---

  void note(const std::string &what, int result) {
    result_.transcript.push_back(what + " " + std::to_string(result));
  }

  void collect_messages() {
    while (GstMessage *message = gst_bus_pop(bus_)) {
      const Owned<GstMessage> owned(message);
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        GError *error = nullptr;
        gst_message_parse_error(message, &error, nullptr);
        result_.transcript.push_back(std::string("error of ") + GST_OBJECT_NAME(GST_MESSAGE_SRC(message)) +
                                     ": " + g_quark_to_string(error->domain) + " " +
                                     std::to_string(error->code));
        if (std::getenv("CUDAVISION_FUZZ_VERBOSE") != nullptr)
          std::fprintf(stderr, "fuzzerror %s\n", error->message);
        g_error_free(error);
        failed_ = true;
        ++result_.errors;
      } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
        result_.transcript.push_back(std::string("warning of ") + GST_OBJECT_NAME(GST_MESSAGE_SRC(message)));
      }
    }
  }

  Random random_;
  ScenarioOptions options_;
  std::string lines_;
  bool uploads_ = false;  // the scenario is made for CUDA memory, on any backend
  Owned<GstElement> bin_;
  std::vector<GstElement *> elements_;
  GstBus *bus_ = nullptr;
  GstHarness *harness_ = nullptr;
  std::string format_;
  Size size_;
  GstClockTime time_ = 0;
  bool failed_ = false;
  bool spoilt_ = false;  // since the last start: such a frame may pass, and cannot be read
  ScenarioResult result_;
};

}  // namespace

ScenarioResult play_scenario(std::uint64_t seed, const ScenarioOptions &options, const std::string &folder) {
  return Scenario(seed, options, folder).play();
}

}  // namespace cudavision::test
