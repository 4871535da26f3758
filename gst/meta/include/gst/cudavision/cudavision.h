// SPDX-License-Identifier: LGPL-2.1-or-later
// Includes the whole library: the results that the elements of gst-cudavision attach to frames.
#pragma once

#include <gst/cudavision/attachregion.h>
#include <gst/cudavision/dlpack.h>
#include <gst/cudavision/elementtype.h>
#include <gst/cudavision/keypointsmeta.h>
#include <gst/cudavision/linesmeta.h>
#include <gst/cudavision/prelude.h>
#include <gst/cudavision/region.h>
#include <gst/cudavision/results.h>
#include <gst/cudavision/tensormeta.h>
