#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The test command: installs missing packages, builds, runs tests and ends in a line of counts.
#
#   tests/run.sh                       each test once, in ten minutes: the build that is installed, without a GPU
#   tests/run.sh all                   and `sample`, in half an hour
#   tests/run.sh sample [N]            one of N (default: 16) parts of the sanitized tests or of the other repetitions,
#                                      another one for each commit, in ten minutes
#   tests/run.sh rest                  repetitions, for hours: other thread orders, the race detector, other instruction
#                                      sets, random input, failures in full, all again with AddressSanitizer and UBSan
#   tests/run.sh cpu [FILTER]          the CPU backend, the elements on it, metas, pipelines, examples
#   tests/run.sh emulated [FILTER]     the kernels and elements on the emulated CUDA
#   tests/run.sh asan [FILTER]         the tests of the sanitized build
#   tests/run.sh tsan                  random pipelines, and four threads an element, with ThreadSanitizer on the CPU
#   tests/run.sh gpu [FILTER]          every test on a real card, then compute-sanitizer on the kernel tests
#   tests/run.sh lint                  formatting, clang-tidy and the layout of the source tree
#   tests/run.sh debian13              `all` in a fresh root of Debian 13, with GStreamer 1.26; needs root
#   tests/run.sh debian14              the same in Debian testing, GStreamer 1.28; no -Werror: it changes; needs root
#   tests/run.sh release               a repository of packages for Debian 12, 13 and testing, built, checked and used
#                                      in fresh roots (tests/release.sh); needs root
#   tests/run.sh container             the image of examples/container, built without a registry and used; needs root
#   tests/run.sh package               `release` for the Debian of this machine alone; needs root
#   tests/run.sh live                  the page of cudavision-live in Chromium, 100,000 random requests to its server
#   tests/run.sh publish               all tests of cudavision-publish, -record and -heatmap: also a million messages with
#                                      cuts, kills and full disks, and an hour of stream, in hours
#   tests/run.sh slurm                 the example batch as an array of Debian's Slurm on this machine; needs root
#
# FILTER is a part of the names of tests, as canny; only what they need is built. Works from a fresh clone on Debian 12
# and newer, as root or with sudo, with and without CUDA; a second run is quick. With CUDAVISION_WERROR=false a
# compiler's warning is no error. FRESH_ROOT_CACHE (tests/fresh_root.sh) lets debian13 and debian14 use ccache.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
export PATH="$PATH:/usr/local/cuda/bin"

mode=${1:-first} filter=${2:-}
if (($# > 2)) || [[ ! $mode =~ ^(first|rest|all|sample|cpu|emulated|asan|tsan|gpu|lint|debian13|debian14|release|package|container|live|publish|slurm)$ ]]; then
  sed -n '/^#   tests/s/^# //p' tests/run.sh >&2
  exit 2
fi

[[ $mode != @(release|container) ]] || exec "tests/$mode.sh"
if [[ $mode == package ]]; then
  root=$(source /etc/os-release && echo "$VERSION_CODENAME")
  [[ ! -x /usr/local/cuda/bin/nvcc ]] || root+=-cuda
  exec tests/release.sh "" "$root"
fi
if [[ $mode == debian1[34] ]]; then
  needs_root_folder "tests/run.sh $mode"
  install_packages debootstrap || exit 1
  suite=trixie
  [[ $mode == debian13 ]] || { suite=forky; export CUDAVISION_WERROR=${CUDAVISION_WERROR:-false}; }
  exec tests/fresh_root.sh "$suite" "tests/run.sh all"
fi

install_packages "${packages_to_build[@]}" "${packages_to_play[@]}" "${packages_to_test[@]}" \
  "${packages_to_measure[@]}" "${packages_to_draw[@]}" "${packages_to_document[@]}" || exit 1
[[ $mode != sample || ${filter:=16} =~ ^[1-9][0-9]{0,3}$ ]] || { echo "$filter: a number of parts is expected" >&2; exit 2; }
case $mode in
  first) install_packages clang-format || exit 1 ;;
  sample | rest | all) install_packages clang-format clang libclang-rt-dev || exit 1 ;;  # clang: for libFuzzer
  lint) install_packages clang-format clang-tidy || exit 1 ;;
esac

unpack_broker || exit 1
CUDAVISION_TEST_DATA=$(test_data) || exit 1
export CUDAVISION_TEST_DATA

failed_steps=0
logs=()
fail() { echo "$1" >&2; failed_steps=$((failed_steps + 1)); }

# The card that is here, or one architecture: a release, not a test, compiles the kernels for all of them.
archs=$(native_archs)
werror=${CUDAVISION_WERROR:-true}
benchmarks=enabled
[[ $mode != @(first|sample|all) ]] || benchmarks=disabled
races=false  # they compile all kernels once more
[[ $mode != @(rest|all|sample) ]] || races=true
build_options() {
  case $1 in
    # Meson of Debian 13 and newer defines _GLIBCXX_ASSERTIONS by itself.
    build-tests) echo "-Dcpp_args=-D_GLIBCXX_ASSERTIONS -Dwerror=$werror -Dcuda-archs=${archs:-90} -Dtests=enabled -Dbenchmarks=$benchmarks -Dexamples=enabled -Draces=$races" ;;
    # Little optimisation and debug information: enough to locate a fault. More would triple the time to compile.
    # Two of the five instruction sets of the CPU backend are left to build-tests. -fno-sanitize=enum: other programs
    # may write any number into the enum fields of metas, and GCC compares them as numbers.
    build-asan) echo "-Dwerror=$werror -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled -Dexamples=enabled
      -Dbuildtype=plain -Doptimization=1 -Dcpp_args=['-g1','-fno-sanitize=enum','-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)']
      -Db_sanitize=address,undefined" ;;
    build-tsan) echo "-Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled -Dexamples=disabled -Dbuildtype=plain
      -Doptimization=1 -Dcpp_args=['-g1','-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3)'] -Db_sanitize=thread
      -Db_lundef=false" ;;
  esac
}

# configure FOLDER: configures an existing folder again, to see new files and options. Counts a failure.
configure() {
  local again=()
  [[ ! -e $1/build.ninja ]] || again=(--reconfigure)
  # shellcheck disable=SC2046  # the options are words
  meson setup "${again[@]}" "$1" $(build_options "$1") && tests/support/check_layout.py --build "$1" ||
    { fail "$1: the configuration failed"; return 1; }
}

# build FOLDER [TARGET...]: a failure is counted.
build() {
  local folder=$1; shift
  echo "== $folder"
  ninja -C "$folder" "$@" || { fail "$folder: the build failed"; return 1; }
}

# run_tests FOLDER [TEST...]: all tests without names. Later tests still run after a failure.
run_tests() {
  local folder=$1; shift
  # Time limits end tests that hang: five times the usual ones, for slow machines; none for runs asked to be longer.
  local factor=5
  [[ -z ${CUDAVISION_FUZZ_STEPS:-}${CUDAVISION_FUZZ_SECONDS:-}${CUDAVISION_SOAK_FRAMES:-} ]] &&
    [[ -z ${CUDAVISION_GUEST_RUNS:-}${CUDAVISION_GUEST_STEPS:-}${CUDAVISION_ORDERS:-} ]] || factor=0
  rm -f "$folder/meson-logs/testlog.junit.xml"
  # Half as many more than there are cores, because programs that others start also wait.
  meson test -C "$folder" --no-rebuild --print-errorlogs -t "$factor" --num-processes $(($(nproc) * 3 / 2)) "$@" ||
    failed_steps=$((failed_steps + 1))
  local log=$folder/meson-logs/testlog.${#logs[@]}.junit.xml
  mv "$folder/meson-logs/testlog.junit.xml" "$log"  # the next run writes another one
  logs+=("$log")
}

# run_selected FOLDER MODE: builds and runs the tests of a mode that match the filter.
run_selected() {
  local folder=$1 kind=$2 selected targets names
  configure "$folder" || return
  selected=$(tests/support/select_tests.py "$folder" "$kind" "$filter") || { fail "nothing to run"; return; }
  { read -r targets; read -r names; } <<<"$selected"
  # shellcheck disable=SC2086
  build "$folder" $targets && run_tests "$folder" $names
}

run_first() {
  tests/support/lint.sh || fail "lint: see above"
  configure build-tests && build build-tests && CUDAVISION_TEST_PART=first run_tests build-tests --no-suite repetition
}

run_rest() {
  configure build-tests && build build-tests && CUDAVISION_TEST_PART=rest run_tests build-tests --suite kernels --suite repetition
  configure build-asan && build build-asan && run_tests build-asan
}

# run_sample N: every Nth of the sanitized tests, or every Nth of the kernels' repetitions and one of the other ones.
# The commit decides which.
run_sample() {
  local parts=$1 commit kind part others
  commit=$(git rev-parse --short=7 HEAD 2>/dev/null) || commit=0
  kind=$((16#$commit % 2)) part=$((16#$commit / 2 % parts))
  local -x GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part
  if ((kind)); then
    echo "== part $((part + 1)) of $parts of the sanitized tests"
    configure build-asan && build build-asan && run_tests build-asan --suite kernels --suite elements --suite meta
    return
  fi
  echo "== part $((part + 1)) of $parts of the repetitions"
  configure build-tests && build build-tests || return
  CUDAVISION_TEST_PART=rest run_tests build-tests --suite kernels --suite traced
  mapfile -t others < <(meson test -C build-tests --no-rebuild --list 2>/dev/null | sed -n '/repetition/{/traced/!s|.* / ||p}')
  unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX
  run_tests build-tests "${others[part % ${#others[@]}]}"
}

case $mode in
  first) run_first ;;
  rest) run_rest ;;
  sample) run_sample "$filter" ;;
  all) run_first; run_sample 16 ;;
  cpu | emulated) run_selected build-tests "$mode" ;;
  asan) run_selected build-asan asan ;;
  tsan)
    configure build-tsan && build build-tsan gst/plugin/libgstcudavision.so tests/fuzz/pipelines_fuzz_test &&
      run_tests build-tsan pipelines_fuzz ;;
  live)
    install_packages "${packages_to_browse[@]}" || exit 1
    configure build-tests && build build-tests gst/plugin/libgstcudavision.so gst/meta/GstCudaVision-1.0.typelib &&
      exec tests/live/live.sh build-tests ;;
  publish)
    configure build-tests && build build-tests gst/plugin/libgstcudavision.so || exit 1
    export CUDAVISION_PUBLISH_FULL=1 GST_PLUGIN_PATH_1_0=$PWD/build-tests/gst/plugin
    for test in publish_test heatmap_test record_test publish_endurance; do /usr/bin/python3 "tests/examples/$test.py" || fail "$test"; done
    exit $((failed_steps > 0)) ;;
  slurm)
    configure build-tests && build build-tests gst/plugin/libgstcudavision.so && exec tests/slurm.sh build-tests/gst/plugin ;;
  gpu)
    [[ -n $archs ]] || { echo "tests/run.sh gpu needs an NVIDIA card, its driver and nvcc" >&2; exit 1; }
    run_selected build-tests gpu
    python3 tests/support/compute_sanitizer.py build-tests/tests/kernels build-tests/meson-logs/sanitizer.junit.xml "$filter" ||
      failed_steps=$((failed_steps + 1))
    logs+=(build-tests/meson-logs/sanitizer.junit.xml) ;;
  lint) configure build-tests && exec tests/support/lint.sh all ;;
esac

python3 tests/support/count.py "$failed_steps" "${logs[@]}"
