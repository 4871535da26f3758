// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject properties as a table. Each row ties a property to a member of a settings struct, whose initial
// value is the default. Values are read and written under the object lock. The streaming thread copies the
// whole struct as one snapshot.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cuda/common/range.h"
#include "gst/base/style/color_text.h"

namespace cudavision {

// Appends the rows of one table to another.
template <typename T>
std::vector<T> joined(std::vector<T> first, std::vector<T> second) {
  for (T &row : second) first.push_back(std::move(row));
  return first;
}

// When a new value takes effect.
enum class Mutable : guint {
  playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING,  // from the next frame
  controllable = playing | GST_PARAM_CONTROLLABLE,  // also over time, by a GstController
  ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY,  // at the next start
  never = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS,                             // it is read-only
};
inline GParamFlags flags_of(Mutable when) { return static_cast<GParamFlags>(when); }

struct PropertyText {
  const char *name, *nick, *blurb;
};

template <typename S>
struct Property {
  GParamSpec *spec;
  std::function<void(S &, const GValue *)> set;
  std::function<void(const S &, GValue *)> get;
};

// Marks a property as deprecated; programs may still use it.
template <typename S>
Property<S> deprecated(Property<S> property) {
  property.spec->flags = static_cast<GParamFlags>(property.spec->flags | G_PARAM_DEPRECATED);
  return property;
}

template <typename S>
Property<S> boolean_property(PropertyText text, bool S::*member, Mutable when = Mutable::playing) {
  return {g_param_spec_boolean(text.name, text.nick, text.blurb, S{}.*member, flags_of(when)),
          [member](S &s, const GValue *v) { s.*member = g_value_get_boolean(v) != FALSE; },
          [member](const S &s, GValue *v) { g_value_set_boolean(v, s.*member); }};
}

template <typename S>
Property<S> integer_property(PropertyText text, int S::*member, int least, int most,
                             Mutable when = Mutable::playing) {
  return {g_param_spec_int(text.name, text.nick, text.blurb, least, most, S{}.*member, flags_of(when)),
          [member](S &s, const GValue *v) { s.*member = g_value_get_int(v); },
          [member](const S &s, GValue *v) { g_value_set_int(v, s.*member); }};
}

template <typename S>
Property<S> real_property(PropertyText text, double S::*member, double least, double most,
                          Mutable when = Mutable::controllable) {
  return {g_param_spec_double(text.name, text.nick, text.blurb, least, most, S{}.*member, flags_of(when)),
          [member](S &s, const GValue *v) { s.*member = g_value_get_double(v); },
          [member](const S &s, GValue *v) { g_value_set_double(v, s.*member); }};
}

template <typename S>
Property<S> unsigned_property(PropertyText text, guint64 S::*member, Mutable when = Mutable::playing) {
  return {g_param_spec_uint64(text.name, text.nick, text.blurb, 0, G_MAXUINT64, S{}.*member, flags_of(when)),
          [member](S &s, const GValue *v) { s.*member = g_value_get_uint64(v); },
          [member](const S &s, GValue *v) { g_value_set_uint64(v, s.*member); }};
}

// Properties whose range of values is the one that the algorithm checks.
template <typename S>
Property<S> integer_property(PropertyText text, int S::*member, Range<int> range,
                             Mutable when = Mutable::playing) {
  return integer_property<S>(text, member, range.least, range.most, when);
}
template <typename S>
Property<S> real_property(PropertyText text, double S::*member, Range<double> range,
                          Mutable when = Mutable::controllable) {
  return real_property<S>(text, member, range.least, range.most, when);
}

// A value of an enum type, for an enum or int: the value, its description, and its nick, which is the text that users
// write.
struct EnumValue {
  template <typename E>
  EnumValue(E one, const char *text, const char *nick) : value{static_cast<int>(one), text, nick} {}
  GEnumValue value;
};

// Returns the enum type of that name. The first call registers it, with the values.
inline GType enum_type(const char *name, std::initializer_list<EnumValue> values) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const GType known = g_type_from_name(name); known != 0) return known;
  GEnumValue *table = g_new0(GEnumValue, values.size() + 1);  // GObject keeps it, and the last row ends it
  std::transform(values.begin(), values.end(), table, [](const EnumValue &one) { return one.value; });
  return g_enum_register_static(name, table);
}

// E is an enum or int whose values are those of the GEnum type.
template <typename S, typename E, typename Base>
Property<S> enum_property(PropertyText text, GType type, E Base::*member, Mutable when = Mutable::playing) {
  return {g_param_spec_enum(text.name, text.nick, text.blurb, type, static_cast<int>(S{}.*member),
                            flags_of(when)),
          [member](S &s, const GValue *v) { s.*member = static_cast<E>(g_value_get_enum(v)); },
          [member](const S &s, GValue *v) { g_value_set_enum(v, static_cast<int>(s.*member)); }};
}

// A string property that may be unset: NULL for GObject, std::nullopt in the settings.
template <typename S>
Property<S> string_property(PropertyText text, std::optional<std::string> S::*member,
                            Mutable when = Mutable::playing) {
  const auto pointer = [](const std::optional<std::string> &value) {
    return value ? value->c_str() : nullptr;
  };
  return {g_param_spec_string(text.name, text.nick, text.blurb, pointer(S{}.*member), flags_of(when)),
          [member](S &s, const GValue *v) {
            (s.*member).reset();
            if (const char *value = g_value_get_string(v); value != nullptr) s.*member = value;
          },
          [member, pointer](const S &s, GValue *v) { g_value_set_string(v, pointer(s.*member)); }};
}

// A colour as text (color_text.h). Setting it to NULL restores the default.
template <typename S>
Property<S> color_property(PropertyText text, ColorText S::*member, Mutable when = Mutable::playing) {
  return {g_param_spec_string(text.name, text.nick, text.blurb, (S{}.*member).text().c_str(), flags_of(when)),
          [member](S &s, const GValue *v) {
            const char *value = g_value_get_string(v);
            s.*member = value != nullptr ? ColorText(value) : S{}.*member;
          },
          [member](const S &s, GValue *v) { g_value_set_string(v, (s.*member).text().c_str()); }};
}

// The properties of one class. settings_of returns the settings struct of an instance.
template <typename S>
class PropertyTable {
 public:
  using SettingsOf = S *(*)(GObject *);
  using Changed = void (*)(GObject *);

  // Installs the properties and sets the class's set_property and get_property. Call it once, in class_init. changed:
  // if not null, called under the object lock after each change.
  static void install(GObjectClass *klass, SettingsOf settings_of, std::vector<Property<S>> properties,
                      Changed changed = nullptr) {
    settings_of_ = settings_of;
    changed_ = changed;
    properties_ = new std::vector<Property<S>>(std::move(properties));
    klass->set_property = set;
    klass->get_property = get;
    for (std::size_t i = 0; i < properties_->size(); ++i) {
      GParamSpec *spec = (*properties_)[i].spec;
      if (G_IS_PARAM_SPEC_ENUM(spec))
        gst_type_mark_as_plugin_api(spec->value_type, static_cast<GstPluginAPIFlags>(0));
      g_object_class_install_property(klass, static_cast<guint>(i + 1), spec);
    }
  }

  // A copy of all settings, taken at one moment.
  static S snapshot(gpointer object) {
    g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(object));
    return *settings_of_(static_cast<GObject *>(object));
  }

  // Copies from `started` to *now the properties whose changes apply only from the next start.
  static void keep_until_start(const S &started, S *now) {
    for (const Property<S> &property : *properties_) {
      if ((property.spec->flags & GST_PARAM_MUTABLE_READY) == 0) continue;
      g_auto(GValue) value = G_VALUE_INIT;
      g_value_init(&value, property.spec->value_type);
      property.get(started, &value);
      property.set(*now, &value);
    }
  }

 private:
  // No exception may pass through GObject. A value that does not fit into memory leaves the property as it is.
  static void set(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    try {
      g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(object));
      (*properties_)[id - 1].set(*settings_of_(object), value);
      if (changed_ != nullptr) changed_(object);
    } catch (const std::bad_alloc &) {
      GST_ERROR_OBJECT(object, "there is no memory for the value of %s", spec->name);
    }
  }
  static void get(GObject *object, guint id, GValue *value, GParamSpec *) {
    g_autoptr(GMutexLocker) lock = g_mutex_locker_new(GST_OBJECT_GET_LOCK(object));
    (*properties_)[id - 1].get(*settings_of_(object), value);
  }

  static inline SettingsOf settings_of_;
  static inline Changed changed_;
  // Never destroyed: other threads may use properties while the process exits.
  static inline const std::vector<Property<S>> *properties_;
};

}  // namespace cudavision
