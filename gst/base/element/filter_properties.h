// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties common to all elements.
#pragma once

#include "gst/base/element/properties.h"
#include "gst/base/element/session.h"

namespace cudavision {

enum class ActiveBackend { none, cuda, cpu };

struct ObjectSettings : FilterSettings {  // protected by the object lock
  ActiveBackend active_backend = ActiveBackend::none;
};

using FilterProperties = PropertyTable<ObjectSettings>;

// Installs the properties. Call it once, in class_init.
void install_filter_properties(GObjectClass *klass, FilterProperties::SettingsOf settings_of);

}  // namespace cudavision
