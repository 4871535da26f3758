// SPDX-License-Identifier: LGPL-2.1-or-later
// The common shape of all elements. An element consists of a description, a settings struct with a property table, the
// files that its properties name, and an operation. This header defines the GObject class around them.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gst/base/element/filter.h"
#include "gst/base/element/operation.h"
#include "gst/base/element/properties.h"
#include "gst/base/element/valid_settings.h"

namespace cudavision {

// The texts that gst-inspect-1.0 shows for an element, and its GType name. faster: a setting with which a frame takes
// less time, such as "preset=fast", for the warning about late frames; null if there is none in particular.
struct ElementText {
  const char *type_name, *long_name, *category, *description, *faster = nullptr;
};

// Makes the category of the debug log, which has the element's name.
inline GstDebugCategory *new_category(const ElementText &text) {
  g_autofree gchar *name = g_ascii_strdown(text.type_name + std::string_view("Gst").size(), -1);
  GstDebugCategory *category = nullptr;
  GST_DEBUG_CATEGORY_INIT(category, name, 0, text.long_name);
  return category;
}

// Files type of an element that reads no files.
struct NoFiles {};

// Settings and files of one instance. S is default-constructible and comparable and has validate(const S &).
template <typename S, typename F = NoFiles>
class ElementState {
 public:
  using Settings = S;
  using Files = F;

  explicit ElementState(GstElement *element) : element_(element) {}
  ElementState(const ElementState &) = delete;
  ElementState &operator=(const ElementState &) = delete;

  GstElement *element() const { return element_; }
  // The struct that properties write to, under the object lock.
  S *settings() { return &settings_; }
  // A copy of all properties, taken at one moment.
  S snapshot() const { return PropertyTable<S>::snapshot(element_); }
  // Called under the object lock after each change of a property.
  void note_change() { has_changed_ = true; }
  // The settings that the last take_settings() has returned. The next call changes the struct to which this refers.
  const S &settings_in_force() const { return valid_.in_force(); }
  // The settings of the next frame: the current properties, or the last valid ones if the current ones contradict each
  // other. Properties that apply from the next start keep the values that they had at the last start. An operation
  // calls this once per frame, in begin_frame(). Only after a change does it look at the properties.
  const S &take_settings() {
    if (!has_changed_) return valid_.in_force();
    has_changed_ =
        false;  // first: a change that comes from now on is for the next frame, or for this one as well
    S now = snapshot();
    if (now != valid_.in_force()) PropertyTable<S>::keep_until_start(valid_.in_force(), &now);
    return valid_.take(element_, now);
  }
  // The contents of the files, as read when the element started.
  const F &files() const { return files_; }

  // Posts a warning, but only one for each topic in a run, and none if the text is empty.
  void warn_once(const char *topic, const std::string &text) {
    if (!text.empty() && told_.insert(topic).second)
      GST_ELEMENT_WARNING(element_, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
  }

  // Posts an info message, but only one for each topic in a run. Shares its topics with warn_once().
  void inform_once(const char *topic, const std::string &text) {
    if (told_.insert(topic).second)
      GST_ELEMENT_INFO(element_, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
  }

  // check() and load_files() are called at start, where contradictory properties and unusable files are errors. If
  // there is a function futile(const F &), its text is posted as a warning, as for settings (valid_settings.h).
  Status check() {
    told_.clear();
    return valid_.begin(element_, snapshot());
  }
  template <typename Load>
  Status load_files(const Load &load) {
    files_ = F();
    CUDAVISION_TRY(load(valid_.in_force(), &files_));
    if constexpr (requires(const F &files) { futile(files); }) warn_once("files", futile(files_));
    return {};
  }

 private:
  GstElement *element_;
  S settings_;
  std::atomic<bool> has_changed_ = false;
  ValidSettings<S> valid_;
  F files_;
  std::set<std::string> told_;  // topics of warn_once() and inform_once() in this run
};

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
    static const GType type =
        g_type_register_static_simple(GST_TYPE_CUDA_VISION_FILTER, E::kText.type_name, sizeof(Class),
                                      init_class, sizeof(Instance), init_instance, GTypeFlags(0));
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
  struct Class {
    GstCudaVisionFilterClass parent_class;
  };

  static void init_class(gpointer klass, gpointer) {
    parent_class_ = G_OBJECT_CLASS(g_type_class_peek_parent(klass));
    G_OBJECT_CLASS(klass)->finalize = finalize;
    PropertyTable<Settings>::install(
        G_OBJECT_CLASS(klass), [](GObject *object) { return state_of(object).settings(); }, E::properties(),
        [](GObject *object) { state_of(object).note_change(); });
    auto *element = GST_ELEMENT_CLASS(klass);
    gst_element_class_set_static_metadata(element, E::kText.long_name, E::kText.category,
                                          E::kText.description, PACKAGE_AUTHOR);
    add_video_pads(element);
    auto *filter = static_cast<GstCudaVisionFilterClass *>(klass);
    filter->category = new_category(E::kText);
    filter->faster = E::kText.faster;
    filter->make_operation = make_operation;
    filter->check_settings = [](GstCudaVisionFilter *self) { return state_of(self).check(); };
    if constexpr (requires { &E::load; })
      filter->load_files = [](GstCudaVisionFilter *self) { return state_of(self).load_files(E::load); };
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
