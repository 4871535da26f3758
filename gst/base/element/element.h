// SPDX-License-Identifier: LGPL-2.1-or-later
// The common shape of all elements. An element consists of a description, a settings struct with a property table, the
// files that its properties name, and an operation. This header defines the GObject class around them.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "gst/base/element/element_state.h"
#include "gst/base/element/filter.h"
#include "gst/base/element/operation.h"
#include "gst/base/element/properties.h"
#include "gst/base/results/frame_notes.h"

namespace cudavision {

// The texts that gst-inspect-1.0 shows for an element, and its GType name. faster: a setting with which a frame takes
// less time, such as "preset=fast", for the warning about late frames; null if there is none in particular.
struct ElementText {
  const char *type_name, *long_name, *category, *description, *faster = nullptr;
};

// For the class_init of an element: sets the texts, and makes the category of the debug log, which has the element's
// name.
inline GstDebugCategory *describe(gpointer klass, const ElementText &text) {
  gst_element_class_set_static_metadata(static_cast<GstElementClass *>(klass), text.long_name, text.category,
                                        text.description, PACKAGE_AUTHOR);
  GstDebugCategory *category = nullptr;
  GST_DEBUG_CATEGORY_INIT(category, element_name(text.type_name).c_str(), 0, text.long_name);
  return category;
}

// The base class of the operation of an element with the settings S and the files F. In every element the operation
// takes the settings in begin_frame(), once per frame. The state outlives the operation.
template <typename S, typename F = NoFiles>
class ElementOperation : public Operation {
 public:
  using State = ElementState<S, F>;

  explicit ElementOperation(State &state) : state_(state), settings_(state.settings_in_force()) {}
  Reads begin_frame() final {
    state_.take_settings();
    return reads();
  }

 protected:
  // The part of a frame that run() reads with settings_.
  virtual Reads reads() const { return Reads::luma; }

  State &state_;
  const S &settings_;  // of the current frame
};

// The GObject class of the element that E describes. E has these members:
//   Operation   an ElementOperation with Status allocate(const OperationSetup &)
//   kText       an ElementText
//   properties  a function that returns the table of properties
//   extend      optional; sets further members of the class: void extend(GstCudaVisionFilterClass *)
//   load        optional; reads the files that properties name: Status load(const Settings &, Files *)
template <typename E>
class ElementClass {
 public:
  static GType type() {
    static const GType type = g_type_register_static_simple(GST_TYPE_CUDA_VISION_FILTER, E::kText.type_name,
                                                            sizeof(GstCudaVisionFilterClass), init_class,
                                                            sizeof(Instance), init_instance, GTypeFlags(0));
    return type;
  }
  static auto &state_of(gpointer object) { return *static_cast<Instance *>(object)->state; }

 private:
  using State = typename E::Operation::State;
  using Settings = typename State::Settings;

  struct Instance {
    GstCudaVisionFilter parent;
    State *state;
  };

  static void init_class(gpointer klass, gpointer) {
    parent_class_ = G_OBJECT_CLASS(g_type_class_peek_parent(klass));
    G_OBJECT_CLASS(klass)->finalize = finalize;
    PropertyTable<Settings>::install(
        G_OBJECT_CLASS(klass), [](GObject *object) { return state_of(object).settings(); }, E::properties(),
        [](GObject *object) { state_of(object).note_change(); });
    auto *filter = static_cast<GstCudaVisionFilterClass *>(klass);
    filter->category = describe(klass, E::kText);
    filter->faster = E::kText.faster;
    filter->remembers = !std::is_same_v<decltype(&E::Operation::drop_history), void (Operation::*)()>;
    filter->make_operation = make_operation;
    filter->prepare = prepare;
    if constexpr (requires { &E::extend; }) E::extend(filter);
  }

  static void init_instance(GTypeInstance *instance, gpointer) {
    // A plain cast: `instance` does not have the element's class yet.
    reinterpret_cast<Instance *>(instance)->state = new State(reinterpret_cast<GstElement *>(instance));
  }

  static void finalize(GObject *object) {
    delete &state_of(object);
    parent_class_->finalize(object);
  }

  static Status prepare(GstCudaVisionFilter *filter, const char **what) {
    State &state = state_of(filter);
    CUDAVISION_TRY(state.check());
    *what = "A file cannot be used";
    if constexpr (requires { &E::load; }) return state.load_files(E::load);
    return {};
  }

  static Status make_operation(GstCudaVisionFilter *filter, const OperationSetup &setup,
                               std::unique_ptr<Operation> *operation) {
    auto made = std::make_unique<typename E::Operation>(state_of(filter));
    CUDAVISION_TRY(made->allocate(setup));
    *operation = std::move(made);
    return {};
  }

  static inline GObjectClass *parent_class_;
};

}  // namespace cudavision

// Defines the registration of the element `name` that the struct E describes. Use it once, outside of any namespace.
#define CUDAVISION_DEFINE_ELEMENT(name, E) \
  GST_ELEMENT_REGISTER_DEFINE(name, #name, GST_RANK_NONE, ::cudavision::ElementClass<E>::type())
