#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that the checks of the pages find faults: each check gets a page with faults, and complains about every one.

usage: faults.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from pages import Report

HERE = pathlib.Path(__file__).resolve().parent

# For each check a page, and what the check must say of it.
FAULTS = {
    "property_tables": ("""
<!-- properties of cudahistogram -->
| property | default | values | meaning | a new value applies from the |
|---|---|---|---|---|
| `bins` | 255 | 1 to 256 | Number of bins of equal width | next frame |
<!-- end -->
<!-- properties of cudahistogramm -->
<!-- end -->
""", ["the table of cudahistogram differs from the plugin", "-| `bins` | 255 |", "+| `bins` | 256 |",
      "the plugin has no element cudahistogramm", "the table of cudacanny is there 0 times"]),
    "commands": ("""
```sh
gst-launch-1.0 videotestsrc ! cudacanny low-treshold=5 ! fakesink
gst-launch-1.0 filesrc location=in.mp4 ! qtdemux ! h264parse ! nvh264dec ! cudacanny output=edge ! fakesink
gst-launch-1.0 nvh264dec ! cudacany ! fakesink
gst-launch-1.0 nvh264dec ! cudahistogram bins=300 colour=red ! fakesink
frobnicate --all
examples/no_such_program.py
if true; then
```

```sh
gst-launch-1.0 -q videotestsrc ! cudahistogram bins=2 display=false ! cudavisionjson ! fakesink
```

```json
{"frame":0,"pts":0,"running-time":0,"width":320,"height":240,"regions":[],"tensors":[{"id":"histogram","dims":[1,2],
 "type":"u32","least":1,"max":2,"sum":3}]}
```

<!-- run by: no_such_test -->
```sh
gst-launch-1.0 videotestsrc ! fakesink
```
""", ['no property "low-treshold"', "output of cudacanny has no value edge", "there is no element cudacany",
      "bins of cudahistogram cannot be 300", "cudahistogram has no property colour",
      "no rule knows the command frobnicate", "no rule knows the command examples/no_such_program.py",
      "syntax error: unexpected end of file",
      "the command printed: tensors[0].least is null, not 1", "the command printed: tensors[0].sum is 76800, not 3",
      "tests/ has no test no_such_test"]),
    "programs": ("""
```python
print("no end"
```

```python
from gi.repository import GstCudaVision
GstCudaVision.buffer_get_line_meta(None)
```

<!-- run with: import math -->
```python
raise SystemExit("this program fails")
```

```c
gst_cuda_vision_no_such_function(buffer);
```

```json
{"frame":0,"pts":0,"running-time":0,"width":320,"height":240,"regions":[],"tensors":[],"edges":7}
```

```json
{"frame":0,
```

The line is `{"frame":0,"pts":0,"running-time":0,"width":320,"height":"240","regions":[],"tensors":[]}`.

```cobol
STOP RUN.
```

```
gst-launch-1.0 videotestsrc ! fakesink
```
""", ["the Python is wrong", "GstCudaVision has no buffer_get_line_meta", "this program fails",
      "gst_cuda_vision_no_such_function", "'edges' was unexpected", "this is no JSON", "height: '240' is not of type",
      "no check knows the language cobol", "a block with commands or JSON names its language"]),
    "inline_code": ("Set `mode=temporary`, or `cudahough mode=segment`, `threshhold=5` or `cudacanny apertures`; "
                    "`videotestsrc ! cudacany`.",
                    ["no value temporary", "no value segment", "no element has the property threshhold",
                     "cudacanny has no property apertures", "there is no element cudacany"]),
    "links": ("# A title\n\n[one](no_such_page.md), [two](#no-such-title), [three](#a-title), "
              "![four](pictures/none.webp), `tests/no_such_test.sh`.",
              ["the link no_such_page.md points at nothing", "the link #no-such-title points at a heading",
               "the link pictures/none.webp points at nothing", "the repository has no tests/no_such_test.sh",
               "4 complaints"]),
}


def main():
    report, count = Report(), 0
    for check, (text, expected) in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, str(HERE / f"{check}.py")], capture_output=True, text=True,
                                    env={**os.environ, "CUDAVISION_PAGES": str(page)}, check=False)
        if result.returncode == 77:
            print(f"{check}: {result.stdout.strip()}")
            continue
        if result.returncode != 1:
            report.complain(check, f"ended in {result.returncode}: {result.stderr.strip()[-600:]}")
        for words in expected:
            count += 1
            if words not in result.stdout:
                report.complain(check, f"does not say: {words}\nIt says:\n{result.stdout}")
    return report.finish(f"faults: {count} of them")


if __name__ == "__main__":
    sys.exit(main())
