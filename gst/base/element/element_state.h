// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings and files of one instance of an element. Properties can contradict each other, such as range-min and
// range-max. Neither can be refused when it is set, so all are checked together when they are used.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <set>
#include <sstream>
#include <string>

#include "cuda/common/status.h"
#include "gst/base/element/properties.h"

namespace cudavision {

// Files type of an element that reads no files.
struct NoFiles {};

// S is default-constructible and comparable and has validate(const S &). These functions, if there are any, return a
// sentence for the user, or an empty string: hint(const S &) about valid settings that are probably not meant,
// futile(const S &) and futile(const F &) about valid settings and files with which no frame can have results.
template <typename S, typename F = NoFiles>
class ElementState {
 public:
  using Settings = S;
  using Files = F;

  explicit ElementState(GstElement *element) : element_(element) {}

  GstElement *element() const { return element_; }
  // The struct that properties write to, under the object lock.
  S *settings() { return &settings_; }
  // A copy of all properties, taken at one moment.
  S snapshot() const { return PropertyTable<S>::snapshot(element_); }
  // Called under the object lock after each change of a property.
  void note_change() { has_changed_ = true; }
  // The settings that the last take_settings() has returned. The next call changes the struct to which this refers.
  const S &settings_in_force() const { return in_force_; }
  // The settings of the next frame: the current properties, or the last valid ones if the current ones contradict each
  // other, which posts a warning (one for each fault). Properties that apply from the next start keep the values that
  // they had at the last start. Called by the streaming thread once per frame. Only after a change does it look at the
  // properties.
  const S &take_settings() {
    if (!has_changed_) return in_force_;
    has_changed_ = false;  // first: a change from now on is for the next frame, or for this one as well
    S now = snapshot();
    PropertyTable<S>::keep_until_start(in_force_, &now);
    const Status status = now == in_force_ ? Status() : validate(now);
    if (!status.ok() && status.text() != refusal_)
      GST_ELEMENT_WARNING(element_, RESOURCE, SETTINGS,
                          ("%s: the last valid values stay in force", status.text().c_str()), (nullptr));
    refusal_ = status.text();
    if (status.ok() && now != in_force_) accept(now);
    return in_force_;
  }
  // The contents of the files, as read when the element started.
  const F &files() const { return files_; }

  // Returns true the first time in a run that it is called with this topic.
  bool is_news(const std::string &topic) { return told_.insert(topic).second; }
  // Posts a warning, but only one for each topic in a run, and none if the text is empty. Its parts, which are texts
  // and whole numbers, are put together only then: a list can be too long in each frame.
  template <typename... Parts>
  void warn_once(const char *topic, const Parts &...parts) {
    if (told_.contains(topic)) return;
    std::ostringstream text;
    text.imbue(std::locale::classic());
    (text << ... << parts);
    if (!text.view().empty() && is_news(topic))
      GST_ELEMENT_WARNING(element_, RESOURCE, SETTINGS, ("%s", text.str().c_str()), (nullptr));
  }
  // Posts an info message in the same way.
  void inform_once(const std::string &topic, const std::string &text) {
    if (!text.empty() && is_news(topic))
      GST_ELEMENT_INFO(element_, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
  }

  // check() and load_files() are called at start, where contradictory properties and unusable files are errors.
  Status check() {
    told_.clear();
    refusal_.clear();
    const S now = snapshot();
    CUDAVISION_TRY(validate(now));
    accept(now);
    return {};
  }
  template <typename Load>
  Status load_files(const Load &load) {
    files_ = F();
    CUDAVISION_TRY(load(in_force_, &files_));
    if constexpr (requires(const F &files) { futile(files); }) warn_once("files", futile(files_));
    return {};
  }

 private:
  void accept(const S &now) {
    in_force_ = now;
    if constexpr (requires { hint(now); }) {
      const std::string text = hint(now);
      inform_once(text, text);  // each text once
    }
    if constexpr (requires { futile(now); }) warn_once("settings", futile(now));
  }

  GstElement *element_;
  S settings_, in_force_;
  std::atomic<bool> has_changed_ = false;
  std::string refusal_;  // the last warning of contradictory settings, while they last
  F files_;
  std::set<std::string> told_;  // what is no news in this run
};

}  // namespace cudavision
