// SPDX-License-Identifier: LGPL-2.1-or-later
// Playing one file reads nothing but that file. one_file.py is the same in Python, and says why.
#pragma once

#include <gst/gst.h>

#include <set>
#include <string>

// From now on, decodebin and others that choose elements by the content of a file choose none that open other files or
// addresses. Elements that a pipeline names itself, such as rtspsrc, can be used.
inline void read_nothing_else() {
  static const std::set<std::string> modules{"gst-plugins-base", "gst-plugins-good", "gst-plugins-bad",
                                             "gst-plugins-ugly"};
  static const std::set<std::string> classes{"Codec/Demuxer", "Codec/Demuxer/Audio", "Codec/Demuxer/Metadata",
                                             "Codec/Demuxer/Video"};
  GList *factories = gst_element_factory_list_get_elements(
      GST_ELEMENT_FACTORY_TYPE_DEMUXER | GST_ELEMENT_FACTORY_TYPE_DECRYPTOR, GST_RANK_MARGINAL);
  for (GList *at = factories; at != nullptr; at = at->next) {
    GstPluginFeature *feature = GST_PLUGIN_FEATURE(at->data);
    GstPlugin *plugin = gst_plugin_feature_get_plugin(feature);
    const char *klass =
        gst_element_factory_get_metadata(GST_ELEMENT_FACTORY(feature), GST_ELEMENT_METADATA_KLASS);
    if (classes.count(klass) == 0 || plugin == nullptr || modules.count(gst_plugin_get_source(plugin)) == 0)
      gst_plugin_feature_set_rank(feature, GST_RANK_NONE);
    if (plugin != nullptr) gst_object_unref(plugin);
  }
  gst_plugin_feature_list_free(factories);
}
