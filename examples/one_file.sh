# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# For a shell in which gst-launch-1.0, or a program of one's own, plays files of strangers:
#
#   source one_file.sh
#
# decodebin then refuses files that name other files or addresses. one_file.py says more.
export GST_PLUGIN_FEATURE_RANK=hlsdemux:NONE,hlsdemux2:NONE,dashdemux:NONE,dashdemux2:NONE,mssdemux:NONE,mssdemux2:NONE
GST_PLUGIN_FEATURE_RANK+=,sdpdemux:NONE,gesdemux:NONE
