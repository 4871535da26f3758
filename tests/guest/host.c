// SPDX-License-Identifier: LGPL-2.1-or-later
// The part that all host programs share: it stops elements, or refuses them memory. Prints the results of each element.
//
//   stops COUNT WIDTH HEIGHT ELEMENT...      stops each element COUNT times, each time in the middle of a frame
//   refusals COUNT WIDTH HEIGHT ELEMENT...   in COUNT runs of each element, allocations of the plugin fail (refuse.c)
//
// An ELEMENT is a part of a pipeline in gst-launch-1.0's syntax, whose tested element has the name `e`.
#include "tests/guest/host.h"

#include <dlfcn.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBoxes = 400 };
enum { kPatience = 120 };  // seconds until SIGALRM ends a host that hangs; its last line names the element

typedef struct {
  GMutex mutex;
  GCond changed;
  gint64 begin, shortest;  // when the last frame entered; the least time of a frame; in microseconds
  unsigned entered, left;  // frames that came to the element and that left it, since the last start
  GstBuffer *flow;         // of the size of the frames
  gsize dims[3];
} Frames;

// Gives the frame boxes and a field of vectors, so that elements that read metas have work, too.
static GstBuffer *with_metas(GstBuffer *frame, const Frames *frames) {
  frame = gst_buffer_make_writable(frame);
  for (guint i = 0; i < kBoxes; ++i)
    gst_buffer_add_video_region_of_interest_meta(frame, "person", i * 7 % 500, i * 13 % 300, 20 + i % 50, 40);
  gst_cuda_vision_buffer_add_tensor_meta(frame, "optical-flow", GST_CUDA_VISION_ELEMENT_TYPE_F32, 3,
                                         frames->dims, gst_buffer_ref(frames->flow));
  return frame;
}

static GstPadProbeReturn enter(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  Frames *frames = data;
  (void)pad;
  info->data = with_metas(info->data, frames);
  g_mutex_lock(&frames->mutex);
  ++frames->entered;
  frames->begin = g_get_monotonic_time();
  g_cond_signal(&frames->changed);
  g_mutex_unlock(&frames->mutex);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn leave(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  Frames *frames = data;
  (void)pad, (void)info;
  g_mutex_lock(&frames->mutex);
  ++frames->left;
  // Not of the first frame: elements that compare frames do nothing on it.
  if (frames->left > 1) frames->shortest = MIN(frames->shortest, g_get_monotonic_time() - frames->begin);
  g_cond_signal(&frames->changed);
  g_mutex_unlock(&frames->mutex);
  return GST_PAD_PROBE_OK;
}

// Returns false after ten seconds, or as soon as the bus has an error.
static gboolean wait_for(Frames *frames, const unsigned *count, unsigned wanted, GstBus *bus) {
  const gint64 end = g_get_monotonic_time() + 10 * G_TIME_SPAN_SECOND;
  gboolean reached = FALSE, failed = FALSE;
  while (!reached && !failed && g_get_monotonic_time() < end) {
    g_mutex_lock(&frames->mutex);
    if (*count < wanted)
      g_cond_wait_until(&frames->changed, &frames->mutex,
                        g_get_monotonic_time() + 50 * G_TIME_SPAN_MILLISECOND);
    reached = *count >= wanted;
    g_mutex_unlock(&frames->mutex);
    GstMessage *error = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    failed = error != NULL;
    if (failed) gst_message_unref(error);
  }
  return reached;
}

static void probe(GstElement *element, const char *name, GstPadProbeCallback callback, Frames *frames) {
  GstPad *pad = gst_element_get_static_pad(element, name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, frames, NULL);
  gst_object_unref(pad);
}

static GstElement *make(const char *element, int width, int height, int count, Frames *frames) {
  GError *error = NULL;
  char *text = g_strdup_printf(
      "videotestsrc num-buffers=%d ! video/x-raw,format=NV12,width=%d,height=%d ! %s ! "
      "fakesink sync=false name=sink",
      count, width, height, element);
  GstElement *pipeline = gst_parse_launch_full(text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (pipeline == NULL) g_error("%s: %s", text, error->message);
  g_free(text);
  *frames = (Frames){.dims = {(gsize)height, (gsize)width, 2}, .shortest = G_MAXINT64};
  const gsize bytes = (gsize)(width * height * 2) * sizeof(float);
  float *numbers = g_malloc(bytes);
  for (gsize i = 0; i < bytes / sizeof(float); ++i) numbers[i] = sinf((float)i);
  frames->flow = gst_buffer_new_wrapped(numbers, bytes);
  GstElement *tested = gst_bin_get_by_name(GST_BIN(pipeline), "e");
  probe(tested, "sink", enter, frames);
  probe(tested, "src", leave, frames);
  gst_object_unref(tested);
  return pipeline;
}

static void destroy(GstElement *pipeline, Frames *frames) {
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  gst_buffer_unref(frames->flow);
}

static int stops(const char *element, int count, int width, int height) {
  Frames frames;
  GstElement *pipeline = make(element, width, height, -1, &frames);
  GstBus *bus = gst_element_get_bus(pipeline);
  gint64 longest = 0;  // time of a stop, in microseconds
  int middle = 0, silent = 0;
  for (int i = 0; i <= count; ++i) {
    const gboolean measures = i == 0;
    alarm(kPatience);
    frames.entered = frames.left = 0;
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    silent += measures ? !wait_for(&frames, &frames.left, 4, bus)
                       : !wait_for(&frames, &frames.entered, 2 + (unsigned)(i % 2), bus);
    if (!measures && silent == 0) g_usleep((gulong)(g_random_double() * 0.7 * (double)frames.shortest));
    const gint64 begin = g_get_monotonic_time();
    gst_element_set_state(pipeline, GST_STATE_NULL);
    longest = MAX(longest, g_get_monotonic_time() - begin);
    middle += !measures && frames.entered > frames.left;
  }
  gst_object_unref(bus);
  const double time = (double)frames.shortest / 1000;
  destroy(pipeline, &frames);
  printf(
      "%s: %d stops of at most %.1f ms, %d of them in the middle of a frame of %.1f ms, %d runs without "
      "frames\n",
      element, count, (double)longest / 1000, middle, time, silent);
  // A frame of less than a tenth of a millisecond is over before the stop begins.
  return silent != 0 || (middle == 0 && time >= 0.1);
}

// Plays to the end. Returns 0 if all frames came, 1 after an error message, 2 otherwise.
static int play(GstElement *pipeline, const Frames *frames, unsigned count) {
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  int outcome = 2;
  if (message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) outcome = 1;
  if (message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
    outcome = frames->left == count ? 0 : 2;
  if (message != NULL) gst_message_unref(message);
  gst_object_unref(bus);
  return outcome;
}

typedef struct {
  void (*refuse)(const char *, long, int);
  long (*asked)(const char *);
} Refuser;

// Plays once more. nth: the plugin's allocation that fails, or -1. lasting: all later ones fail, too.
static int run_refused(const Refuser *refuser, const char *element, int width, int height, long nth,
                       int lasting) {
  enum { kFrames = 3 };
  Frames frames;
  GstElement *pipeline = make(element, width, height, kFrames, &frames);
  refuser->refuse("memory", nth, lasting);
  const int outcome = play(pipeline, &frames, kFrames);
  refuser->refuse("memory", -1, 0);
  destroy(pipeline, &frames);
  return outcome;
}

static int refusals(const char *element, int count, int width, int height) {
  const Refuser refuser = {(void (*)(const char *, long, int))dlsym(RTLD_DEFAULT, "guest_refuse"),
                           (long (*)(const char *))dlsym(RTLD_DEFAULT, "guest_asked")};
  if (refuser.refuse == NULL) g_error("refuse.c is not preloaded");
  int errors = 0, faults = run_refused(&refuser, element, width, height, -1, 0) != 0;
  const long before = refuser.asked("memory");
  faults += run_refused(&refuser, element, width, height, -1, 0) != 0;
  const long allocations = refuser.asked("memory") - before;
  for (int i = 0; i < count && allocations > 0; ++i) {
    alarm(kPatience);
    const long nth = g_random_int_range(0, (gint32)allocations);
    const int outcome = run_refused(&refuser, element, width, height, nth, i % 2);
    errors += outcome == 1;
    faults += outcome == 2;
    faults += run_refused(&refuser, element, width, height, -1, 0) != 0;  // works again
  }
  printf("%s: %ld allocations in a run, %d runs with failures, %d errors, %d faults\n", element, allocations,
         count, errors, faults);
  return faults != 0 || allocations == 0;
}

int guest_main(int argc, char **argv) {
  if (argc < 6) return 2;
  int faults = 0;
  const int count = atoi(argv[2]), width = atoi(argv[3]), height = atoi(argv[4]);
  gst_init(NULL, NULL);
  for (int i = 5; i < argc; ++i) {
    alarm(kPatience);
    printf("%s\n", argv[i]);
    fflush(stdout);
    faults += strcmp(argv[1], "stops") == 0 ? stops(argv[i], count, width, height)
                                            : refusals(argv[i], count, width, height);
    fflush(stdout);
  }
  return faults != 0;
}
