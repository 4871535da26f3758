#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzzes the code that reads data from outside, with libFuzzer and AddressSanitizer: parsers.sh BUILD_FOLDER. An input
# may take 256 MB and, on an idle machine, a second. CUDAVISION_FUZZ_SECONDS is the time of each target, by default a
# minute. A failure leaves the input that replays it in BUILD_FOLDER/tests/fuzz; add it to tests/fuzz/corpus when the
# fault is mended.
set -euo pipefail
build=$(cd "$1" && pwd) seconds=${CUDAVISION_FUZZ_SECONDS:-60}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
clang=$(command -v clang++ || true)
echo 'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }' >"$build/tests/fuzz/trial.cpp"
if [[ -z $clang ]] || ! $clang -fsanitize=fuzzer,address "$build/tests/fuzz/trial.cpp" -o "$build/tests/fuzz/trial" 2>/dev/null; then
  echo "no clang++ with libFuzzer" && exit 77  # Meson counts it as skipped
fi

declare -A sources=(
  [background]="gst/bgsub/saved_background.cpp gst/base/input/excerpt.cpp gst/base/input/regular_file.cpp"
  [calibration]="gst/rectify/calibration.cpp gst/rectify/view.cpp
    gst/base/geometry/projective.cpp gst/base/input/excerpt.cpp gst/base/input/regular_file.cpp gst/base/input/yaml.cpp"
  [looks]="gst/cameracheck/saved_looks.cpp gst/cameracheck/camera_look.cpp gst/base/geometry/projective.cpp
    gst/base/input/excerpt.cpp gst/base/input/regular_file.cpp"
  [model]="gst/hog/model_file.cpp gst/hog/model_markup.cpp gst/hog/model_yaml.cpp gst/base/input/excerpt.cpp
    gst/base/input/regular_file.cpp gst/base/input/yaml.cpp"
  [mask]="gst/inpaint/mask_picture.cpp gst/inpaint/decode_png.cpp gst/base/input/excerpt.cpp
    gst/base/input/regular_file.cpp"
  [text]="gst/base/style/color_text.cpp gst/base/input/excerpt.cpp gst/visionjson/json_text.cpp"
)
if pkg-config --atleast-version=1.24 gstreamer-1.0; then
  sources[meta]="gst/meta/element_type.cpp gst/meta/keypoints_meta.cpp gst/meta/lines_meta.cpp
    gst/meta/mapping.cpp gst/meta/reading.cpp gst/meta/region.cpp gst/meta/tensor_meta.cpp gst/meta/tensor_names.cpp gst/meta/transform.cpp"
fi
read -ra flags <<<"$(pkg-config --cflags gstreamer-1.0 gstreamer-video-1.0 libpng json-glib-1.0 yaml-0.1)"
read -ra libraries <<<"$(pkg-config --libs gstreamer-1.0 gstreamer-video-1.0 libpng json-glib-1.0 yaml-0.1 libhwy)"

fuzz() {
  local target=$1 folder=$build/tests/fuzz/$1
  mkdir -p "$folder/found"
  # shellcheck disable=SC2086  # the sources are words
  $clang -std=c++20 -g -O1 -fsanitize=fuzzer,address -I. -Igst/meta/include "${flags[@]}" tests/fuzz/parsers/"$target"_fuzz.cpp \
    ${sources[$target]} "$build"/cuda/libalgorithms.a "$build"/cuda/libalgorithms_cpu.a "${libraries[@]}" ${FUZZ_LIBRARIES:-} -o "$folder/fuzz" || return
  # rss_limit_mb: 256 MB of the target's own, and freed memory that AddressSanitizer keeps
  ASAN_OPTIONS=quarantine_size_mb=16:detect_leaks=1:allocator_may_return_null=1 "$folder/fuzz" -seed=1 \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=512 -malloc_limit_mb=256 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/found" "tests/fuzz/corpus/$target" >"$folder/log" 2>&1 ||
    { echo "$target: see $folder"; tail -40 "$folder/log"; return 1; }
  echo "$target: $(sed -n 's/stat::number_of_executed_units: *//p' "$folder/log") executions in $seconds s"
}

pids=()
for target in "${!sources[@]}"; do fuzz "$target" & pids+=($!); done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed
