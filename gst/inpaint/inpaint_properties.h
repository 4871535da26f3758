// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudainpaint, installed.
#pragma once

#include "gst/base/properties.h"
#include "gst/inpaint/inpaint_settings.h"

namespace cudavision {

using InpaintProperties = PropertyTable<InpaintSettings>;

// Once, in class_init.
void install_inpaint_properties(GObjectClass *klass, InpaintProperties::SettingsOf settings_of);

}  // namespace cudavision
