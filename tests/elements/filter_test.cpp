// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class of the elements, tested on cudacanny: properties, caps and the choice of a backend.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/every_element.h"
#include "tests/elements/harness.h"
#include "tests/fakecuda/fakecuda.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class Filter : public ElementTest {};

bool can_play(GstElement *element) {
  return gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
}

// --- properties ---

TEST_F(Filter, properties_have_their_defaults) {
  const Owned<GstElement> element = parse("cudacanny");
  EXPECT_EQ(text(element.get(), "backend"), "auto");
  EXPECT_EQ(text(element.get(), "active-backend"), "none");
  EXPECT_EQ(text(element.get(), "display"), "true");
  EXPECT_EQ(text(element.get(), "message"), "false");
  EXPECT_EQ(integer(element.get(), "cuda-device-id"), -1);
  EXPECT_EQ(integer(element.get(), "every-nth"), 1);
  for (const char *property : {"n-threads", "roi-x", "roi-y", "roi-width", "roi-height"})
    EXPECT_EQ(integer(element.get(), property), 0) << property;
}

TEST_F(Filter, refused_values_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudacanny");
  const struct {
    const char *property;
    int refused;
  } cases[] = {{"n-threads", -1}, {"n-threads", 1025},   {"every-nth", 0},  {"every-nth", -3},
               {"roi-x", -1},     {"roi-y", -1},         {"roi-width", -1}, {"roi-height", -1},
               {"backend", 3},    {"cuda-device-id", -2}};
  for (const auto &[property, refused] : cases) {
    const int before = integer(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property;
    EXPECT_EQ(integer(element.get(), property), before) << property;
  }
  EXPECT_NE(why_refused("cudacanny backend=gpu").find("backend"), std::string::npos);
}

TEST_F(Filter, active_backend_cannot_be_set) {
  const Owned<GstElement> element = parse("cudacanny");
  g_object_set(element.get(), "active-backend", 1, nullptr);
  EXPECT_EQ(take_glib_complaints(), 1u);
  EXPECT_EQ(text(element.get(), "active-backend"), "none");
}

TEST_F(Filter, every_property_is_documented_and_says_when_it_may_change) {
  const Owned<GstElement> element = parse("cudacanny");
  guint count = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &count);
  guint ours = 0;
  for (guint i = 0; i < count; ++i) {
    const std::string owner = g_type_name(specs[i]->owner_type);
    if (!owner.starts_with("GstCuda")) continue;
    ++ours;
    EXPECT_NE(g_param_spec_get_blurb(specs[i]), nullptr) << specs[i]->name;
    const bool writable = (specs[i]->flags & G_PARAM_WRITABLE) != 0;
    const bool ready = (specs[i]->flags & GST_PARAM_MUTABLE_READY) != 0;
    const bool playing = (specs[i]->flags & GST_PARAM_MUTABLE_PLAYING) != 0;
    EXPECT_EQ(writable, ready != playing) << specs[i]->name;
    const std::string name = specs[i]->name;
    EXPECT_EQ(ready, name == "backend" || name == "cuda-device-id" || name == "luma-range") << name;
  }
  g_free(specs);
  EXPECT_EQ(ours, 16u + 9u);  // of the base class and of cudacanny
}

TEST_F(Filter, properties_of_the_base_and_of_the_element_do_not_meet) {
  const Owned<GstElement> one = parse("cudacanny n-threads=3 low-threshold=11 backend=cpu");
  const Owned<GstElement> other = parse("cudacanny n-threads=5 low-threshold=22");
  EXPECT_EQ(integer(one.get(), "n-threads"), 3);
  EXPECT_EQ(integer(other.get(), "n-threads"), 5);
  EXPECT_EQ(real(one.get(), "low-threshold"), 11);
  EXPECT_EQ(real(other.get(), "low-threshold"), 22);
  EXPECT_EQ(text(one.get(), "backend"), "cpu");
  EXPECT_EQ(text(other.get(), "backend"), "auto");
}

TEST_F(Filter, no_library_in_the_plugin_path_is_taken_for_a_broken_plugin) {
  GList *plugins = gst_registry_get_plugin_list(gst_registry_get());
  for (const GList *i = plugins; i != nullptr; i = i->next) {
    EXPECT_FALSE(GST_OBJECT_FLAG_IS_SET(i->data, GST_PLUGIN_FLAG_BLACKLISTED))
        << gst_plugin_get_filename(GST_PLUGIN(i->data));
  }
  gst_plugin_list_free(plugins);
}

TEST_F(Filter, instances_are_named_as_their_element) {
  for (const std::string &name : element_names()) {
    const Owned<GstElement> element(gst_element_factory_make(name.c_str(), nullptr));
    ASSERT_NE(element, nullptr) << name;
    EXPECT_TRUE(std::string(GST_OBJECT_NAME(element.get())).starts_with(name))
        << GST_OBJECT_NAME(element.get());
  }
}

// --- caps ---

TEST_F(Filter, pads_offer_every_format_up_to_16384_pixels) {
  const Owned<GstElement> element = parse("cudacanny");
  for (const char *name : {"sink", "src"}) {
    GstPad *pad = gst_element_get_static_pad(element.get(), name);
    const Owned<GstCaps> offered(gst_pad_query_caps(pad, nullptr));
    std::vector<std::string> formats = kFormats;
    for (const Repacked &repacked : kRepacked) formats.push_back(repacked.format);
    for (const std::string &format : formats)
      for (const char *size : {"width=1,height=1", "width=16384,height=16384"}) {
        const std::string caps = "video/x-raw,framerate=0/1,format=" + format + "," + size;
        const Owned<GstCaps> wanted(gst_caps_from_string(caps.c_str()));
        EXPECT_TRUE(gst_caps_is_subset(wanted.get(), offered.get())) << name << " " << caps;
      }
    // In a plugin with CUDA, CUDA memory comes first; formats that are repacked come after the others.
    const guint count = gst_caps_get_size(offered.get());
    EXPECT_TRUE(count == 4 || (count == 2 && !kEmulated)) << count;
    const auto formats_in = [&](guint structure) {
      return gst_value_list_get_size(
          gst_structure_get_value(gst_caps_get_structure(offered.get(), structure), "format"));
    };
    EXPECT_EQ(formats_in(count - 2), kFormats.size());
    EXPECT_EQ(formats_in(count - 1), std::size(kRepacked));
    gst_object_unref(pad);
  }
}

TEST_F(Filter, source_that_makes_every_format_chooses_one_that_needs_no_copy) {
  const Owned<GstElement> pipeline =
      parse("videotestsrc num-buffers=1 ! cudacanny name=canny backend=" + backend() + " ! fakesink");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  GstPad *pad = gst_element_get_static_pad(child(pipeline, "canny"), "sink");
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  gst_object_unref(pad);
  const char *format = gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format");
  EXPECT_NE(std::find(kFormats.begin(), kFormats.end(), format), kFormats.end()) << format;
}

TEST_F(Filter, caps_pass_unchanged) {
  Harness harness;
  VideoFrame frame("I420", {34, 18});
  frame.set_colorimetry("bt709");
  harness.work(frame);
  GstPad *pad = gst_element_get_static_pad(harness.element(), "src");
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  gst_object_unref(pad);
  const Owned<GstCaps> expected = frame.caps();
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), expected.get()));
}

// A parser behind an element asks first; fakesink with can-activate-pull=true only tries.
TEST_F(Filter, no_element_can_be_pulled) {
  for (const std::string &name : element_names()) {
    SCOPED_TRACE(name);
    const Owned<GstElement> element = parse(name),
                            upstream = parse("fakesrc can-activate-pull=true sizetype=fixed sizemax=64");
    const Owned<GstPad> out(gst_element_get_static_pad(upstream.get(), "src")),
        sink(gst_element_get_static_pad(element.get(), "sink")),
        source(gst_element_get_static_pad(element.get(), "src"));
    ASSERT_EQ(gst_pad_link(out.get(), sink.get()), GST_PAD_LINK_OK);
    const std::unique_ptr<GstQuery, decltype(&gst_query_unref)> query(gst_query_new_scheduling(),
                                                                      gst_query_unref);
    EXPECT_TRUE(gst_pad_query(source.get(), query.get()));
    EXPECT_TRUE(gst_query_has_scheduling_mode(query.get(), GST_PAD_MODE_PUSH));
    EXPECT_FALSE(gst_query_has_scheduling_mode(query.get(), GST_PAD_MODE_PULL));
    EXPECT_FALSE(gst_pad_activate_mode(source.get(), GST_PAD_MODE_PULL, TRUE));
    EXPECT_TRUE(gst_pad_activate_mode(source.get(), GST_PAD_MODE_PUSH, TRUE));
    EXPECT_TRUE(gst_pad_activate_mode(source.get(), GST_PAD_MODE_PUSH, FALSE));
  }
}

TEST_F(Filter, caps_that_no_pad_offers_fail_negotiation) {
  for (const char *caps : {"video/x-raw,format=GRAY16_BE,width=8,height=8,framerate=25/1",
                           "video/x-raw,format=I420_10BE,width=8,height=8,framerate=25/1",
                           "video/x-raw,format=GRAY8,width=16385,height=8,framerate=25/1",
                           "video/x-raw,format=GRAY8,width=8,height=16385,framerate=25/1",
                           "video/x-raw,format=GRAY8,width=0,height=8,framerate=25/1",
                           "video/x-raw(memory:CUDAMemory),format=GRAY8,width=8,height=8,framerate=25/1",
                           "video/x-raw(memory:GLMemory),format=RGBA,width=8,height=8,framerate=25/1",
                           "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved"}) {
    Harness harness;
    gst_harness_set_src_caps(harness.get(), gst_caps_from_string(caps));
    EXPECT_EQ(harness.push(VideoFrame("GRAY8", {8, 8}).buffer()), GST_FLOW_NOT_NEGOTIATED) << caps;
    EXPECT_FALSE(take_error(harness.element())) << "the pads refuse, not the work: " << caps;
    const VideoFrame frame("GRAY8", {20, 18});  // the next caps are accepted
    EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame))) << caps;
  }
}

TEST_F(Filter, buffers_with_several_views_are_refused) {
  const auto pushed = [](const char *views) {
    Harness harness;
    const std::string caps = "video/x-raw,format=GRAY8,width=8,height=8,framerate=25/1,";
    gst_harness_set_src_caps(harness.get(), gst_caps_from_string((caps + views).c_str()));
    const bool passes = harness.push(VideoFrame("GRAY8", {8, 8}).buffer()) == GST_FLOW_OK;
    const auto error = take_error(harness.element());
    return passes ? std::string() : error ? error->text : "no error";
  };
  EXPECT_NE(pushed("multiview-mode=separated,views=2").find("Buffers with several views"), std::string::npos);
  for (const char *views : {"multiview-mode=separated,views=1", "multiview-mode=side-by-side,views=2",
                            "multiview-mode=frame-by-frame,views=2", "multiview-mode=mono"})
    EXPECT_EQ(pushed(views), "");
}

// --- the backend ---

TEST_F(Filter, active_backend_is_none_unless_started) {
  const Owned<GstElement> element = parse("cudacanny backend=" + backend());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(text(element.get(), "active-backend"), "none");
    ASSERT_TRUE(can_play(element.get()));
    EXPECT_EQ(text(element.get(), "active-backend"), backend());
    gst_element_set_state(element.get(), GST_STATE_READY);
  }
  EXPECT_EQ(text(element.get(), "active-backend"), "none");
}

TEST_F(Filter, active_backend_notifies) {
  const Owned<GstElement> element = parse("cudacanny backend=" + backend());
  std::vector<std::string> values;
  g_signal_connect(
      element.get(), "notify::active-backend",
      G_CALLBACK(+[](GstElement *changed, GParamSpec *, gpointer list) {
        static_cast<std::vector<std::string> *>(list)->push_back(text(changed, "active-backend"));
      }),
      &values);
  ASSERT_TRUE(can_play(element.get()));
  gst_element_set_state(element.get(), GST_STATE_NULL);
  EXPECT_EQ(values, (std::vector<std::string>{backend(), "none"}));
}

TEST_F(Filter, cpu_is_used_when_it_is_asked_for) {
  const Owned<GstElement> element = parse("cudacanny backend=cpu cuda-device-id=5");
  ASSERT_TRUE(can_play(element.get()));
  EXPECT_EQ(text(element.get(), "active-backend"), "cpu");
}

TEST_F(Filter, auto_uses_a_device_that_works) {
  CUDAVISION_NEEDS_EMULATION();
  const Owned<GstElement> element = parse("cudacanny");
  ASSERT_TRUE(can_play(element.get()));
  EXPECT_EQ(text(element.get(), "active-backend"), "cuda");
}

TEST_F(Filter, auto_falls_back_to_the_cpu) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(0);
  const Owned<GstElement> none = parse("cudacanny");
  ASSERT_TRUE(can_play(none.get()));
  EXPECT_EQ(text(none.get(), "active-backend"), "cpu");
  EXPECT_FALSE(take_error(none.get()));
  simt::reset();

  const Owned<GstElement> no_such = parse("cudacanny cuda-device-id=5");
  ASSERT_TRUE(can_play(no_such.get()));
  EXPECT_EQ(text(no_such.get(), "active-backend"), "cpu");

  simt::fail_next(simt::Call::create, cudaErrorDevicesUnavailable);
  const Owned<GstElement> broken = parse("cudacanny");
  ASSERT_TRUE(can_play(broken.get()));
  EXPECT_EQ(text(broken.get(), "active-backend"), "cpu");
}

TEST_F(Filter, cuda_without_a_device_fails_to_start) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(0);
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  EXPECT_FALSE(can_play(element.get()));
  EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "no CUDA-capable device"));
  EXPECT_EQ(text(element.get(), "active-backend"), "none");
  simt::reset();
  gst_element_set_state(element.get(), GST_STATE_NULL);
  EXPECT_TRUE(can_play(element.get()));  // the device is available again
}

TEST_F(Filter, device_that_does_not_exist_is_refused) {
  CUDAVISION_NEEDS_EMULATION();
  const Owned<GstElement> element = parse("cudacanny backend=cuda cuda-device-id=5");
  EXPECT_FALSE(can_play(element.get()));
  EXPECT_TRUE(
      is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "no CUDA device 5"));
}

TEST_F(Filter, chosen_device_is_used_and_the_threads_own_one_comes_back) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(2);
  Harness harness("cudacanny cuda-device-id=1");
  const VideoFrame frame("NV12", {34, 18});
  EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
  EXPECT_EQ(fakecuda::pushed_contexts(), 0u);
}

TEST_F(Filter, cuda_fails_to_start_on_a_machine_without_a_device) {
  if (kEmulated) GTEST_SKIP() << "the emulated CUDA is a device";
  const Owned<GstElement> automatic = parse("cudacanny");
  ASSERT_TRUE(can_play(automatic.get()));
  if (text(automatic.get(), "active-backend") == "cuda") GTEST_SKIP() << "this machine has a CUDA device";
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  EXPECT_FALSE(can_play(element.get()));
  EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "CUDA"));
}

}  // namespace
