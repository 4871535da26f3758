# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plugin's elements: their properties as GObject describes them, steps with checked values, and steps as text."""
import os
import pathlib
import shlex

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

Gst.init(None)
for its_name in dir(Gst):
    # PyGObject makes a class at its first use. If two threads of GStreamer do that at once, it makes two of which one is
    # never accepted, or gives one whose attributes are missing.
    getattr(Gst, its_name)
BASE = "GstCudaVisionFilter"  # the class with the properties that all elements share
UPRIGHT = "videoconvert ! videoflip video-direction=auto"  # behind a source: phones store portraits sideways, with a tag
WRITER = "cudavisionjson"  # it ends every pipeline, and is no step
VIEW, SIZED = "cudarectify", "video/x-raw"  # the step whose frames can have another size, and the caps that choose it
LONGEST_TEXT, LONGEST_TEXTS, MOST_STEPS = 65536, 131072, 16  # characters of a value and of all values together
LONGEST_LOOK_BACK = 10  # seconds for which all steps of a side together hold frames back: the frames take memory
DEPRECATED = 0x80000000  # the flag of a property that presets and command lines may still have, but the page does not show
MOST_MEMORY = 1 << 30  # bytes that a step may allocate: one value of a property, as win-stride=1, can ask for many times more
MOST_LENGTH = 4096  # pixels: the greatest width and height that a page can choose
MOST_NOTES = 4  # different warnings of one element that are shown
MOST_UNDONE = 16  # changes of a step that are undone one by one
SAFE_INTEGER = 2**53 - 1  # the largest integer that a number of JavaScript holds exactly
LONGEST_SLIDE, SLIDE = 5 * 10**9, 10**7  # nanoseconds: the end of the slider of a time, and one step of it
NUMBERS = ("gint", "guint", "gint64", "guint64", "glong", "gulong")


def noted(notes, text):
    """The texts with one more, if it is new. Few are kept: a source may say something else for each frame."""
    return notes if text in notes else [*notes, text][-MOST_NOTES:]


class Refused(Exception):
    """A value, an element or a source cannot be used; the text says why."""


def as_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


class Property:
    """One property of an element, made from its GParamSpec and its value in a new element."""

    def __init__(self, factory, spec, default):
        self.factory, self.name, self.help, self.common = factory, spec.name, spec.blurb, spec.owner_type.name == BASE
        flags = flags_of(spec)
        self.deprecated = bool(flags & DEPRECATED)
        self.live = bool(flags & (Gst.PARAM_MUTABLE_PLAYING | Gst.PARAM_CONTROLLABLE))
        self.options = self.least = self.most = None
        self.default = default
        if spec.value_type.is_a(GObject.TYPE_ENUM):
            self.kind, self.default = "enum", default.value_nick
            values = getattr(type(default), "__enum_values__", None)  # newer versions have Python's enums
            self.options = [(v.value_nick, v.value_name) for v in (values.values() if values else type(default))]
        elif spec.value_type == GObject.TYPE_BOOLEAN:
            self.kind = "bool"
        elif spec.value_type == GObject.TYPE_STRING:
            self.kind, self.default = "text", default or ""
            if self.name.endswith("color"):
                self.kind = "color"
            elif self.name.endswith("location"):
                self.kind = "file"
        else:
            self.kind = "int" if spec.value_type.name in NUMBERS else "float"
            self.least, self.most = spec.minimum, min(spec.maximum, SAFE_INTEGER)
            if self.name == "max-memory":  # whose 0 would allow everything
                self.least, self.most, self.default = 1, MOST_MEMORY, MOST_MEMORY

    def page(self):
        """What the page needs to know."""
        return {"name": self.name, "kind": self.kind, "help": self.help, "live": self.live, "common": self.common,
                "default": self.default, "min": self.least, "max": self.most, "options": self.options,
                "slider": [LONGEST_SLIDE, SLIDE] if self.help.startswith("Nanoseconds") else None}

    def refuse(self, value, why):
        shown = as_text(value)[:200]
        raise Refused(f'could not set property "{self.name}" in element "{self.factory}" to "{shown}": {why}')

    def check(self, value, folders):
        """Checks a value, and returns it as it is set. Each kind may be given as text, as on a command line."""
        if self.kind == "bool":
            value = {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
            return value if isinstance(value, bool) else self.refuse(value, "it is true or false")
        if self.kind in ("int", "float"):
            return self.number(value)
        if not isinstance(value, str) or len(value) > LONGEST_TEXT or not value.isprintable():
            self.refuse(value, f"it is a text without control characters, of at most {LONGEST_TEXT}")
        if self.kind == "enum" and value not in (nick for nick, _ in self.options):
            self.refuse(value, "it is one of " + ", ".join(nick for nick, _ in self.options))
        if self.kind == "file" and value:
            try:
                path = pathlib.Path(value).resolve()
            except (OSError, RuntimeError, ValueError) as error:
                self.refuse(value, f"it is no path: {str(error)[:200]}")
            if not any(path.is_relative_to(folder) for folder in folders):
                self.refuse(value, "it lies in no folder that --folder names")
            if os.path.exists(path) and not os.path.isfile(path):  # opening a FIFO or a device can take for ever
                self.refuse(value, "it is no regular file")
            return str(path)
        return value

    def number(self, value):
        whole = self.kind == "int"
        try:
            number = (int if whole else float)(value) if isinstance(value, str) else value
        except ValueError:
            number = value
        if isinstance(number, float) and whole and number.is_integer():
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int if whole else (int, float)):
            self.refuse(value, "it is a whole number" if whole else "it is a number")
        if not self.least <= number <= self.most:  # also refuses NaN
            self.refuse(value, f"it is from {self.least:.17g} to {self.most:.17g}")
        return number if whole else float(number)


class OutputSize(Property):
    """The width or the height of new frames. It is no property of the element: a filter behind it chooses the size."""

    def __init__(self, factory, name):
        text = f"The {name} of the new picture in pixels; 0: that of the frame"
        super().__init__(factory, GObject.param_spec_int(name, name, text, 0, MOST_LENGTH, 0, GObject.ParamFlags.READWRITE), 0)


def offered():
    """The properties of all elements that can be steps, by factory and name."""
    found = {}
    for factory in sorted(Gst.Registry.get().get_feature_list_by_plugin("cudavision"), key=lambda f: f.get_name()):
        if factory.get_name() != WRITER:
            element = factory.create(None)
            found[factory.get_name()] = {spec.name: Property(factory.get_name(), spec, element.get_property(spec.name))
                                         for spec in element.list_properties() if usable(spec)}
    if VIEW in found:
        found[VIEW] |= {name: OutputSize(VIEW, name) for name in ("width", "height")}
    return found


def flags_of(spec):
    return int(spec.flags) & 0xFFFFFFFF


def usable(spec):
    both = GObject.ParamFlags.READABLE | GObject.ParamFlags.WRITABLE
    return (spec.owner_type.name not in ("GstObject", "GstBaseTransform") and flags_of(spec) & both == both
            and spec.name not in ("message", "post-messages"))  # messages have no reader


def summary(factory):
    return Gst.ElementFactory.find(factory).get_metadata("description")


class Step:
    """An element of a pipeline, with the values that were chosen for it."""

    def __init__(self, catalogue, folders, factory, values):
        if not isinstance(factory, str) or factory not in catalogue:
            raise Refused(f'no element "{str(factory)[:100]}" that can be a step: there are {", ".join(catalogue)}')
        self.properties, self.folders, self.factory = catalogue[factory], folders, factory
        self.values = self.checked(values)
        self.undo = []  # the values before each change that no frame has confirmed yet
        self.notes = []  # the last texts that the element has posted

    def checked(self, values):
        if not isinstance(values, dict):
            raise Refused("the properties are an object")
        for name in values:
            if name not in self.properties:
                raise Refused(f'no property "{name[:100]}" in element "{self.factory}"')
        return {name: self.properties[name].check(value, self.folders) for name, value in values.items()}

    def change(self, values):
        self.undo.append({name: self.values.get(name, self.properties[name].default) for name in values})
        if len(self.undo) > MOST_UNDONE:  # no frame comes to confirm them: the two oldest become one
            oldest = self.undo.pop(0)
            self.undo[0].update(oldest)
        self.values.update(values)
        self.notes = []

    def take_back(self):
        before = self.undo.pop()
        self.values.update(before)
        return before

    def confirmed(self):
        values = dict(self.values)
        for before in reversed(self.undo):
            values.update(before)
        return values

    def chosen(self):
        return {name: value for name, value in self.values.items() if value != self.properties[name].default}

    def of_element(self, values):
        """Those of the values that are properties of the element."""
        return {name: value for name, value in values.items() if not isinstance(self.properties[name], OutputSize)}

    def caps(self):
        """What a filter behind the element asks for, or an empty text."""
        sizes = [f"{name}={value}" for name, value in self.chosen().items() if isinstance(self.properties[name], OutputSize)]
        return ",".join([SIZED, *sizes]) if sizes else ""

    def words(self, quote):
        """The step as in a pipeline's text."""
        chosen = self.of_element(self.chosen())
        element = " ".join([self.factory, *(quote(name, as_text(value)) for name, value in chosen.items())])
        return " ! ".join(filter(None, (element, self.caps())))


def steps_of(catalogue, folders, described):
    """Steps as a page describes them, a list of objects with `element` and `properties`."""
    if not isinstance(described, list) or len(described) > MOST_STEPS or not all(isinstance(s, dict) for s in described):
        raise Refused(f"the steps are a list of at most {MOST_STEPS} objects")
    steps = [Step(catalogue, folders, step.get("element"), step.get("properties", {})) for step in described]
    check_length(step.values for step in steps)
    check_look_back(step.values for step in steps)
    return steps


def check_length(values_of_steps):
    if sum(len(value) for values in values_of_steps for value in values.values() if isinstance(value, str)) > LONGEST_TEXTS:
        raise Refused(f"the texts of all steps together have at most {LONGEST_TEXTS} characters")


def check_look_back(values_of_steps):
    """The old form, look-back, is in frames. They are counted as 1/30 s each, so that 300 of them are the limit."""
    together = sum(values.get("look-back-time", 0) or values.get("look-back", 0) * Gst.SECOND // 30 for values in values_of_steps)
    if together > LONGEST_LOOK_BACK * Gst.SECOND:
        raise Refused(f"all steps together hold frames back for at most {LONGEST_LOOK_BACK} s, because the frames take memory: "
                      f"look-back-time gives {together / Gst.SECOND:.1f} s")


def steps_of_text(text):
    """Describes the steps of a text as for gst-launch-1.0."""
    described = []
    for part in filter(None, (part.strip() for part in f" {text} ".split(" ! "))):
        factory, *settings = split(part)
        sized = factory.startswith(SIZED) and described
        if sized:  # the size of the frames of the step before
            settings = "".join([factory, *settings]).split(",")[1:]
        pairs = [setting.partition("=") for setting in settings]
        if not all(equals for _, equals, _ in pairs):
            raise Refused(f"{part!r} is no element with properties")
        properties = {name: value for name, _, value in pairs}
        if sized:
            described[-1]["properties"].update(properties)
        else:
            described.append({"element": factory, "properties": properties})
    return described


def split(text):
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Refused(f"{text!r}: {error}") from error


def in_pipeline(name, value):
    plain = value and all(c.isalnum() or c in "-_.:/#," for c in value)
    return f"{name}={value}" if plain else f'{name}="' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def in_shell(name, value):
    """Quotes a setting for the shell. gst-launch-1.0 parses each word once more, as a part of a pipeline's text."""
    return shlex.quote(in_pipeline(name, value))


def can_be_quoted(value):
    """Whether in_pipeline() writes a value so that GStreamer reads the same. Its parser takes a quote behind a backslash
    for a part of the text, so a backslash at the end would let the text go on to the next quote. A text that still has
    quotes around it is unpacked a second time, and NULL stands for no text."""
    return not value.endswith("\\") and not (value.startswith('"') and value.endswith('"')) and value != "NULL"


def words_of(source, steps, quote):
    """A pipeline's text, or None if one of the values cannot be written. It is only for readers: nothing here parses it."""
    words = [step.words(quote) for step in steps]
    can_be_written = source.can_be_written and all(can_be_quoted(as_text(v)) for step in steps for v in step.chosen().values())
    if not can_be_written or sum(map(len, words)) > LONGEST_STEPS:
        return None
    return " ! ".join([source.words(quote), UPRIGHT, *words])


LONGEST_STEPS = 16384  # characters of steps that are written as text
UNWRITABLE = "# One of the values cannot be written in a pipeline's text: a program can set it with set_property()."


def launch_line(source, steps, end):
    text = words_of(source, steps, in_shell)
    return UNWRITABLE if text is None else f"gst-launch-1.0 -q {text} ! {end}"


PROGRAM = '''import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision

Gst.init(None)
for sample in GstCudaVision.samples({pipeline}
                                    " ! appsink name=sink sync=false max-buffers=2"):
    buffer = sample.get_buffer()
    print(buffer.pts / 1e9, GstCudaVision.metas(buffer))
'''


def program(source, steps):
    text = words_of(source, steps, in_pipeline)
    return UNWRITABLE if text is None else PROGRAM.format(pipeline=repr(text))
