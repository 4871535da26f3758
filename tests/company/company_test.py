#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An element beside each neighbour (neighbours.py): its frames and results are those of plain frames. Prints TAP.

  company_test.py ELEMENT [PART_OF_A_NEIGHBOURS_NAME]

Each neighbour stands in front of the element and behind it, once, in a mode and a variant that change from pair to
pair. With CUDAVISION_COMPANY=all it stands there in all of its modes, beside all variants. CUDAVISION_TEST_BACKEND
chooses the backend.
"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "meta"))
try:
    import introspection  # noqa: F401  (initialises GStreamer)
except SystemExit:
    print("1..0 # SKIP see above")
    sys.exit()

import check  # noqa: E402
import elements  # noqa: E402
import hooks  # noqa: E402
import page  # noqa: E402
from modes import ALL, MODES  # noqa: E402
from neighbours import NEIGHBOURS  # noqa: E402
from run import Fault, Run  # noqa: E402

BACKEND = os.environ.get("CUDAVISION_TEST_BACKEND", "cpu")


def pairs(name):
    """Yields the pairs to test: neighbour, variant, mode, and whether the neighbour stands in front."""
    variants, shift = elements.variants(name), elements.names().index(name)
    for number, neighbour in enumerate(NEIGHBOURS):
        for in_front in (True, False) if neighbour.behind else (True,):
            turn = number + shift + (not in_front)
            if os.environ.get("CUDAVISION_COMPANY") == "all":
                yield from ((neighbour, variant, mode, in_front) for variant in variants for mode in neighbour.modes)
            else:
                yield neighbour, variants[turn % len(variants)], neighbour.modes[turn % len(neighbour.modes)], in_front


def play(neighbour, variant, mode, in_front, folder):
    run = Run(neighbour, variant, mode, in_front, BACKEND, folder)
    try:
        run.build()
        MODES[mode](run)
    finally:
        run.close()
    check.check(run, folder)
    return run


def check_variants(name, folder):
    """The test must see what the element does: otherwise the comparisons would prove nothing."""
    for variant in elements.variants(name):
        check.check_effect(play(NEIGHBOURS[0], variant, "forward", True, folder))


def check_page():
    check.require(page.is_up_to_date(NEIGHBOURS, ALL), "gst/docs/company.md differs: tests/company/page.py --write")


def cases(name, part, folder):
    """Yields the tests: title, missing elements and modules, function."""
    if not part:
        yield "the element does something", [], lambda: check_variants(name, folder)
        yield "the page has the table of neighbours", [], check_page
    for neighbour, variant, mode, in_front in pairs(name):
        if part in neighbour.name:
            yield (f"{'behind' if in_front else 'in front of'} {neighbour.name}: {mode}, {variant.variant}",
                   neighbour.missing(), lambda case=(neighbour, variant, mode, in_front): play(*case, folder))


def run_twice(run):
    """Repeats a failed run: on a busy machine a live source loses frames, which elements with a memory then lack."""
    try:
        run()
    except (Fault, RuntimeError) as fault:
        print("#", str(fault).replace("\n", " "), flush=True)
        run()


def main():
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, missing, run) in enumerate(cases(*(sys.argv[1:] + [""])[:2], pathlib.Path(folder)), 1):
            result, reason = "ok", f" # SKIP missing: {', '.join(missing)}" if missing else ""
            try:
                if not missing:
                    run_twice(run) if ": live" in title else run()
            except (Fault, RuntimeError) as fault:
                result, reason = "not ok", "\n# " + str(fault).replace("\n", " ")
            print(f"{result} {number} - {title}{reason}", flush=True)
    hooks.end_servers()
    print(f"1..{number}")


main()
