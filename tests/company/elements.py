# SPDX-License-Identifier: LGPL-2.1-or-later
"""The elements under test: all of the plugin. One that tests/support/element_uses.inc gives work needs no line here."""
import dataclasses
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from plugin_elements import has, names, use_of  # noqa: E402,F401

# Settings with which the element finds something in the small frames, or a chain of which it is the last element.
CHAINS = {
    "cudabgsub": "cudabgsub min-area=20",
    "cudahog": "cudahog model=people hit-threshold=-5 group-threshold=0",
    "cudahough": "cudahough threshold=40",
    "cudainpaint": "cudainpaint mode=temporal remove-type=person search-radius=8 patch-size=5 attach-mask=true",
    "cudalocalhist": "cudalocalhist reduce=entropy",
    "cudaopticalflow": "cudaopticalflow preset=fast",
    "cudarectify": 'cudarectify view=plane corners="0.2,0.1 0.9,0 1,1 0,0.8"',  # without properties it changes nothing
    "cudavisionjson": "cudahough threshold=40 display=false ! cudavisionjson tensor-data=full location={lines}",
    "cudavisionoverlay": "cudacanny display=false ! cudahough threshold=40 display=false ! cudavisionoverlay",
    "cudavisionredact": f"{use_of('cudavisionredact')} hold=0",  # otherwise it goes on hiding after a flush
    "cudavisionzones": f"cudavisiontrack min-hits=0 ! {use_of('cudavisionzones')}",  # it counts boxes with ids
}
# The elements that remember earlier frames.
WITH_MEMORY = ("cudabgsub", "cudacameracheck", "cudainpaint", "cudaopticalflow", "cudavisionredact", "cudavisiontrack", "cudavisionzones")
# It makes every frame anew as a whole: display and every-nth have no effect.
MAKES_FRAMES = ("cudarectify",)
VARIANTS = {"drawn": "", "metas alone": "display=false", "every second": "every-nth=2 qos=false"}


@dataclasses.dataclass(frozen=True)
class Element:
    name: str
    variant: str

    def chain(self, backend, more=""):
        """The elements for gst-launch-1.0, of which two have the names first and last; {lines} stands for a file."""
        chain = f"{CHAINS.get(self.name, use_of(self.name))} {VARIANTS[self.variant]} {more}"
        parts = [part + (f" backend={backend}" if has(part.split()[0], "backend") else "") for part in chain.split(" ! ")]
        parts[-1] += " name=last"
        if len(parts) > 1:
            parts[0] += " name=first"
        return " ! ".join(parts)

    @property
    def posts(self):
        """Whether the element posts messages with the time that it took for a frame."""
        return has(self.name, "message")


def variants(name):
    """The element by itself, without drawing, and on every second frame, where it has such properties."""
    found = [Element(name, "drawn")]
    if name in MAKES_FRAMES:
        return found
    if has(name, "display"):
        found.append(Element(name, "metas alone"))
    if has(name, "every-nth") and name not in WITH_MEMORY:
        found.append(Element(name, "every second"))
    return found
