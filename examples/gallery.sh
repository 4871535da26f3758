#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures of the documentation: one of each element, and the animated one of the README.
#
#   examples/gallery.sh [OUT [NAME...]]      OUT: the folder for the pictures; default: gst/docs/pictures
#                                            NAME: a picture to write, such as cudacanny; default: all of them
#
# The pictures and the video are OpenCV's samples (Debian: opencv-doc). Missing packages are installed. The plugin is
# the one that GStreamer finds; if it finds none, it is built as examples/demo.sh builds it.
set -euo pipefail
mkdir -p "${1:-$(dirname "${BASH_SOURCE[0]}")/../gst/docs/pictures}"
out=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/../gst/docs/pictures}")
(($# < 1)) || shift
wanted=("$@")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
source examples/one_file.sh

if ! gst-inspect-1.0 cudacanny >/dev/null 2>&1; then
  install_packages "${packages_to_build[@]}" "${packages_to_play[@]}"
  build_in build -Dtests=disabled -Dbenchmarks=disabled
  export GST_PLUGIN_PATH_1_0=$PWD/build/gst/plugin
fi
command -v img2webp >/dev/null || install_packages "${packages_to_draw[@]}"
data=${CUDAVISION_TEST_DATA:-$(test_data)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- one frame ---

# shellcheck disable=SC2054  # the comma is one of caps
write_png=(videoconvert ! video/x-raw,format=RGB ! pngenc compression-level=1 ! filesink)

# picture FILE ELEMENT...: processes one of OpenCV's pictures and writes it as picture.png.
picture() {
  local file=$1; shift
  gst-launch-1.0 -q filesrc location="$data/$file" ! decodebin ! videoconvert ! video/x-raw,format=RGB ! "$@" ! \
    "${write_png[@]}" location="$work/picture.png"
}

is_wanted() { ((${#wanted[@]} == 0)) || [[ " ${wanted[*]} " == *" $1 "* ]]; }

# size WIDTH HEIGHT: the elements that scale a picture; prints one word a line.
size() { printf '%s\n' videoscale method=lanczos ! "video/x-raw,width=$1,height=$2,pixel-aspect-ratio=1/1"; }

# joined HEIGHT ABOVE BELOW: two PNG files become picture.png.
joined() {
  gst-launch-1.0 -q compositor name=c background=black sink_1::ypos="$1" ! "${write_png[@]}" \
    location="$work/picture.png" filesrc location="$2" ! pngdec ! c.sink_0 filesrc location="$3" ! pngdec ! c.sink_1
}

# keep NAME QUALITY: picture.png becomes a picture of the gallery.
keep() {
  is_wanted "$1" || return 0
  cwebp -quiet -m 6 -sharp_yuv -q "$2" "$work/picture.png" -o "$out/$1.webp"
  echo "$out/$1.webp: $(stat -c %s "$out/$1.webp") bytes"
}

# --- the street ---
# Its frames are decoded once. Two more are decoded, because the decoder may lose the last one on a busy machine.

street_frames=62
gst-launch-1.0 -q filesrc location="$data/vtest.avi" ! decodebin ! identity eos-after=$((street_frames + 2)) ! \
  videoconvert ! video/x-raw,format=I420 ! filesink location="$work/street.i420"
truncate -s $((street_frames * 768 * 576 * 3 / 2)) "$work/street.i420"
md5sum <"$work/street.i420" >"$out/decoded.md5"  # shows the test whether a decoder decoded other pixels

# The corner from which on 512x320 pixels of the frames are shown.
left=256 top=96

# street NAME SCALE FIRST LAST WIDTH HEIGHT ELEMENT...: processes the frames from FIRST to LAST at SCALE times their
# size, and writes the part that is shown, at WIDTH x HEIGHT, as NAME.<number from FIRST on>.png.
street() {
  local name=$1 scale=$2 first=$3 last=$4 width=$5 height=$6 bytes=$((768 * 576 * 3 / 2)); shift 6
  mapfile -t bigger < <(size $((768 * scale)) $((576 * scale)))
  mapfile -t smaller < <(size "$width" "$height")
  dd if="$work/street.i420" bs="$bytes" skip="$first" count=$((last - first + 1)) status=none |
    gst-launch-1.0 -q fdsrc fd=0 ! rawvideoparse format=i420 width=768 height=576 framerate=10/1 ! videoconvert ! \
      video/x-raw,format=RGB ! "${bigger[@]}" ! "$@" ! \
      videocrop left=$((left * scale)) right=$(((256 - left) * scale)) \
      top=$((top * scale)) bottom=$(((256 - top) * scale)) ! \
      videoconvert ! video/x-raw,format=RGB ! "${smaller[@]}" ! pngenc compression-level=1 ! \
      multifilesink index="$first" location="$work/$name.%03d.png"
}

people=(cudahog model=people display=false max-scale=1.3 win-stride=4 hit-threshold=0.3 ! cudavisiontrack min-hits=1)
large_people=(cudahog model=people display=false min-scale=2 max-scale=2.6 win-stride=4 hit-threshold=0.3 !
  cudavisiontrack min-hits=1)
erased=(cudabgsub display=false ! cudahog model=people display=false hit-threshold=-0.6 group-threshold=1 ! \
  cudainpaint "remove-type=*" mode=temporal dilate=8 search-radius=80)

# --- the gallery ---
# without cudavisionjson: it draws nothing

mapfile -t butterfly < <(size 986 712)
picture butterfly.jpg "${butterfly[@]}" ! cudacanny roi-x=493 gaussian-sigma=1.4 low-threshold=40 high-threshold=120
keep cudacanny 80

mapfile -t fruits < <(size 1024 960)
picture fruits.jpg "${fruits[@]}" ! cudahistogram mode=channels
keep cudahistogram 75

picture building.jpg cudalocalhist roi-x=434 bins=8 weight=magnitude window-width=12 window-height=12
keep cudalocalhist 75

picture sudoku.png cudahough threshold=190 nms-radius=14 line-width=2
keep cudahough 80

flow_roi=(roi-x=$((2 * left)) roi-y=$((2 * top)) roi-width=1024 roi-height=640)
street wheel 2 52 54 1024 640 cudaopticalflow preset=quality forward-backward=0 levels=5 max-speed=14 "${flow_roi[@]}"
street arrows 2 52 54 1024 640 cudaopticalflow preset=quality levels=5 display-mode=arrows arrow-scale=4 line-width=3 \
  "${flow_roi[@]}"
joined 640 "$work/wheel.054.png" "$work/arrows.054.png"
keep cudaopticalflow 75

picture graf1.png cudasigma2kp orientation=true window=7 cell=8 tau=3.9 min-distance=12 max-keypoints=300 color=yellow \
  line-width=2 point-size=5
keep cudasigma2kp 75

street stars 2 52 52 1024 640 cudahog cell-size=16 block-stride=16
street boxes 2 52 52 1024 640 cudahog model=people min-scale=2 max-scale=2.6 win-stride=4 hit-threshold=0.3
joined 640 "$work/boxes.052.png" "$work/stars.052.png"
keep cudahog 75

street tracked 2 30 60 1024 640 "${large_people[@]}" ! cudavisionoverlay
joined 640 "$work/tracked.045.png" "$work/tracked.060.png"
keep cudavisiontrack 75

street walkers 2 0 60 1024 640 cudabgsub open=2 close=8 min-area=1000 ! cudavisiontrack type=motion min-hits=1 ! \
  cudavisionoverlay
mv "$work/walkers.060.png" "$work/picture.png"
keep cudabgsub 75

# checked NAME ELEMENT...: the first 45 frames of the street and then changed ones, as a camera that is checked shows them.
checked() {
  local name=$1 frame=$((768 * 576 * 3 / 2)) raw=(rawvideoparse format=i420 width=768 height=576 framerate=10/1); shift
  dd if="$work/street.i420" bs="$frame" skip=45 count=16 status=none | gst-launch-1.0 -q fdsrc fd=0 ! "${raw[@]}" ! "$@" ! \
    video/x-raw,format=I420,width=768,height=576 ! filesink location="$work/changed.i420"
  dd if="$work/street.i420" bs="$frame" count=45 status=none | cat - "$work/changed.i420" | gst-launch-1.0 -q fdsrc fd=0 ! \
    "${raw[@]}" ! cudacameracheck learn-time=3 hysteresis=1 ! videocrop left=0 right=128 top=0 bottom=176 ! videoconvert ! \
    video/x-raw,format=RGB ! pngenc compression-level=1 ! multifilesink location="$work/$name.%03d.png"
}
mapfile -t coarse < <(size 128 96)
checked blurred "${coarse[@]}" ! videoscale method=lanczos
checked shifted videocrop left=24 top=10 ! videobox right=-24 bottom=-10
joined 400 "$work/blurred.060.png" "$work/shifted.060.png"
keep cudacameracheck 75

# bent COUNT WIDTH HEIGHT FOCAL: bent.png, what a fisheye sees of wall0.rgb ahead (1), or in a room of four such walls (4).
bent() {
  /usr/bin/python3 - "$work" "$@" <<'END'
import sys
import numpy
work, count, width, height, focal = sys.argv[1], *map(int, sys.argv[2:])
walls = [numpy.fromfile(f"{work}/wall{i}.rgb", numpy.uint8).reshape(768, 1024, 3) for i in range(count)]
row, column = numpy.mgrid[: 2 * height, : 2 * width] / 2 + 0.25  # four samples for a pixel
angle, turn = numpy.hypot(column - width / 2, row - height / 2) / focal, numpy.arctan2(row - height / 2, column - width / 2)
x, y, z = numpy.sin(angle) * numpy.cos(turn), numpy.sin(angle) * numpy.sin(turn), numpy.cos(angle)
image = numpy.zeros((*row.shape, 3))
places = [(z > 0, x / z / 2 + 0.5, y / z / 1.5 + 0.5)]  # where a picture is seen, and its column and row from 0 to 1
if count == 4:  # The camera is under the ceiling and looks down. The walls stand ahead, to the right, behind and to the left.
    image[z > 0] = 110 + 40 * ((numpy.floor(3 * x / z) + numpy.floor(3 * y / z)) % 2)[..., None][z > 0]  # the floor
    places = [((z > 0) & (ahead > z) & (ahead >= abs(across)), across / ahead / 2 + 0.5, z / ahead)
              for ahead, across in ((-y, x), (x, y), (y, -x), (-x, -y))]
for wall, (seen, across, down) in zip(walls, places):
    image[seen] = wall[(down[seen] * 768).astype(int).clip(0, 767), (across[seen] * 1024).astype(int).clip(0, 1023)]
image.reshape(height, 2, width, 2, 3).mean(axis=(1, 3)).round().astype(numpy.uint8).tofile(f"{work}/bent.rgb")
END
  gst-launch-1.0 -q filesrc location="$work/bent.rgb" blocksize=$(($2 * $3 * 3)) ! rawvideoparse format=rgb width="$2" \
    height="$3" ! "${write_png[@]}" location="$work/bent.png"
  cat >"$work/bent.yml" <<END
camera_matrix: [$4, 0, $((($2 - 1) / 2)).5, 0, $4, $((($3 - 1) / 2)).5, 0, 0, 1]
distortion_model: fisheye
distortion_coefficients: [0, 0, 0, 0]
END
}
dd if="$work/street.i420" bs=$((768 * 576 * 3 / 2)) skip=60 count=1 status=none >"$work/street.060.i420"
street_60=(filesrc location="$work/street.060.i420" blocksize=$((768 * 576 * 3 / 2)) ! rawvideoparse format=i420 width=768
  height=576 framerate=10/1 ! videoconvert)
# shellcheck disable=SC2054  # the commas are those of caps
to_wall=(videoscale method=lanczos add-borders=false ! videoconvert ! video/x-raw,format=RGB,width=1024,height=768 ! filesink)
gst-launch-1.0 -q "${street_60[@]}" ! "${to_wall[@]}" location="$work/wall0.rgb"
for number in 1 2 3; do
  files=(. building.jpg home.jpg graf1.png)
  gst-launch-1.0 -q filesrc location="$data/${files[number]}" ! decodebin ! "${to_wall[@]}" location="$work/wall$number.rgb"
done

bent 1 768 576 536
gst-launch-1.0 -q filesrc location="$work/bent.png" ! pngdec ! videoconvert ! video/x-raw,format=RGB ! \
  cudarectify calibration-location="$work/bent.yml" ! "${write_png[@]}" location="$work/straight.png"
joined 576 "$work/bent.png" "$work/straight.png"
keep cudarectify 75

bent 4 640 640 204
for turn in 0 90 180 270; do
  gst-launch-1.0 -q filesrc location="$work/bent.png" ! pngdec ! videoconvert ! video/x-raw,format=RGB ! \
    cudarectify calibration-location="$work/bent.yml" view=perspective tilt=-50 roll="$turn" ! \
    video/x-raw,width=320,height=320 ! "${write_png[@]}" location="$work/view$turn.png"
done
gst-launch-1.0 -q compositor name=c sink_1::xpos=640 sink_2::xpos=960 sink_3::xpos=640 sink_3::ypos=320 sink_4::xpos=960 \
  sink_4::ypos=320 ! "${write_png[@]}" location="$work/picture.png" \
  filesrc location="$work/bent.png" ! pngdec ! c.sink_0 filesrc location="$work/view0.png" ! pngdec ! c.sink_1 \
  filesrc location="$work/view90.png" ! pngdec ! c.sink_2 filesrc location="$work/view180.png" ! pngdec ! c.sink_3 \
  filesrc location="$work/view270.png" ! pngdec ! c.sink_4
keep cudarectify_fisheye 75

gst-launch-1.0 -q compositor name=c sink_1::xpos=768 ! "${write_png[@]}" location="$work/picture.png" \
  "${street_60[@]}" ! tee name=t ! queue ! c.sink_0 t. ! queue ! cudarectify view=plane \
  corners="0.184,0.236 0.869,0.206 1.541,0.788 -0.338,0.87" ! video/x-raw,width=384,height=576 ! c.sink_1
keep cudarectify_plane 75

cat >"$work/zones.json" <<'END'
{"units": "fraction",
  "lines": [{"name": "path", "from": [0.66, 0.34], "to": [0.66, 0.6]}],
  "zones": [{"name": "road", "polygon": [[0.7, 0.22], [0.94, 0.22], [0.97, 0.6], [0.7, 0.6]]}]}
END
street counted 2 30 60 1024 640 "${large_people[@]}" ! cudavisionzones location="$work/zones.json" ! \
  cudavisionoverlay
mv "$work/counted.060.png" "$work/picture.png"
keep cudavisionzones 75

for file in shop crossing gate; do
  street "$file" 2 30 60 512 320 "${large_people[@]}" ! cudavisionzones location="examples/count/$file.json" ! \
    cudavisionoverlay trail=2
done
joined 320 "$work/shop.060.png" "$work/crossing.060.png"
mv "$work/picture.png" "$work/two.png"
joined 640 "$work/two.png" "$work/gate.060.png"
keep cudavisionzones_files 75

street filled 2 30 60 1024 640 "${large_people[@]}" ! cudavisionredact dilate=24
street coarse 2 30 60 1024 640 "${large_people[@]}" ! cudavisionredact dilate=24 mode=pixelate
joined 640 "$work/filled.060.png" "$work/coarse.060.png"
keep cudavisionredact 75

street all 2 59 60 1024 640 cudahough display=false mode=segments low-threshold=100 high-threshold=200 threshold=120 \
  min-length=120 ! cudasigma2kp display=false cell=16 window=15 tau=7.9 min-distance=24 max-keypoints=150 \
  orientation=true ! "${large_people[@]}" ! cudavisionoverlay
mv "$work/all.060.png" "$work/picture.png"
keep cudavisionoverlay 75

# --- the street four times: edges and flow above, people and nobody below ---

left=208
street edges 1 28 61 400 250 cudacanny low-threshold=100 high-threshold=250 gaussian-sigma=1
street moving 1 27 61 400 250 cudaopticalflow preset=quality max-speed=6 roi-x="$left" roi-y="$top" roi-width=512 \
  roi-height=320
street people 1 0 61 400 250 "${people[@]}" ! cudavisionoverlay
street erased 1 0 61 768 480 "${erased[@]}"

# shellcheck disable=SC2046  # words
# quarter NAME: the source of one part of the grid.
quarter() {
  printf 'multifilesrc location=%s/%s.%%03d.png index=28 stop-index=61 caps=image/png,framerate=10/1' "$work" "$1"
  printf ' %s' ! pngdec ! $(size 400 250)
}
# shellcheck disable=SC2046  # the sources are words
gst-launch-1.0 -q compositor name=c sink_1::xpos=400 sink_2::ypos=250 sink_3::xpos=400 sink_3::ypos=250 ! \
  videoconvert ! video/x-raw,format=RGB ! pngenc compression-level=1 ! multifilesink index=28 location="$work/grid.%03d.png" \
  $(quarter edges) ! c.sink_0 $(quarter moving) ! c.sink_1 $(quarter people) ! c.sink_2 $(quarter erased) ! c.sink_3
! is_wanted street || img2webp -loop 0 -min_size -lossy -q 35 -m 4 -d 100 "$work"/grid.*.png -o "$out/street.webp"

street before 1 57 57 768 480 identity
joined 480 "$work/before.057.png" "$work/erased.057.png"
keep cudainpaint 85
