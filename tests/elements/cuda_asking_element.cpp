// SPDX-License-Identifier: LGPL-2.1-or-later
// An element that asks for a CUDA context when it goes from NULL to READY.
#include "tests/elements/cuda_asking_element.h"

struct AskingElement {
  GstElement parent;
  GstCudaContext *context;
};
struct AskingElementClass {
  GstElementClass parent_class;
};

G_DEFINE_TYPE(AskingElement, asking_element, GST_TYPE_ELEMENT)

namespace {

AskingElement *cast(gpointer element) { return static_cast<AskingElement *>(element); }

void set_context(GstElement *element, GstContext *context) {
  gst_cuda_handle_set_context(element, context, -1, &cast(element)->context);
  GST_ELEMENT_CLASS(asking_element_parent_class)->set_context(element, context);
}

gboolean query_pad(GstPad *pad, GstObject *parent, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      gst_cuda_handle_context_query(GST_ELEMENT(parent), query, cast(parent)->context))
    return TRUE;
  return gst_pad_query_default(pad, parent, query);
}

GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY &&
      !gst_cuda_ensure_element_context(element, -1, &cast(element)->context))
    return GST_STATE_CHANGE_FAILURE;
  const auto result = GST_ELEMENT_CLASS(asking_element_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) gst_clear_object(&cast(element)->context);
  return result;
}

}  // namespace

static void asking_element_class_init(AskingElementClass *klass) {
  klass->parent_class.set_context = set_context;
  klass->parent_class.change_state = change_state;
}

static void asking_element_init(AskingElement *asking) {
  for (const auto &[name, direction] : {std::pair{"sink", GST_PAD_SINK}, std::pair{"src", GST_PAD_SRC}}) {
    GstPad *pad = gst_pad_new(name, direction);
    gst_pad_set_query_function(pad, query_pad);
    gst_element_add_pad(&asking->parent, pad);
  }
}

namespace cudavision::test {

OwnedObject<GstElement> make_asking_element() {
  return OwnedObject<GstElement>(
      GST_ELEMENT(gst_object_ref_sink(g_object_new(asking_element_get_type(), nullptr))));
}

GstCudaContext *context_found_by(GstElement *asking) { return cast(asking)->context; }

}  // namespace cudavision::test
