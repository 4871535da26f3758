# SPDX-License-Identifier: LGPL-2.1-or-later
"""Splits blocks of shell commands into statements, and says what is done with each: it is run or parsed, and why."""
import dataclasses
import re
import shlex
import subprocess

from pages import ROOT

RUN, PARSED, ELSEWHERE = "run", "parsed", "run by another test"

# The first rule whose pattern a statement contains decides. Rules name the test that runs the statement elsewhere.
RULES = [
    (r"\bcudavision-record\b", ELSEWHERE, "tests/examples/record_test.py"),
    (r"\bcudavision-calibrate\b", ELSEWHERE, "tests/examples/calibrate_test.py"),
    (r"\bcudavision-heatmap\b", ELSEWHERE, "tests/examples/heatmap_test.py"),
    (r"\b(sudo|apt-get|apt|debootstrap|dpkg-buildpackage|dpkg)\b", ELSEWHERE, "tests/release.sh"),
    (r"\b(podman|docker|buildah|kubectl|helm)\b", PARSED, "needs a container engine or a cluster"),
    (r"\b(git clone|pip3? install|curl|wget)\b|https?://|\b(rtsp|udp|srt|rtmp|whip)\w*(src|sink)\b|rtsp://", PARSED,
     "needs a network"),
    (r"\bcudavision-publish\b", ELSEWHERE, "tests/examples/publish_test.py"),
    (r"\bcudavision-live\b|\blive\.py\b", ELSEWHERE, "tests/live/server_test.py"),
    (r"\b(ncu|nsys|nvidia-smi|compute-sanitizer)\b|tests/run\.sh gpu|CUDAVISION_WAIT=", PARSED, "needs a card"),
    (r"\bnv\w+(dec|enc)\b|\bcuda(upload|download|convert|scale|convertscale|ipc\w+)\b|memory:CUDAMemory|"
     r"backend=cuda\b", PARSED, "needs a card"),
    (r"\bgdb\b", PARSED, "needs a person at the debugger"),
    (r"\btests/(run|fresh_root|release)\.sh\b", ELSEWHERE, "tests/run.sh"),
    (r"\btests/docs/\w+\.(sh|py)\b", ELSEWHERE, "tests/docs/meson.build"),
    (r"\btests/support/new_element\.py\b", ELSEWHERE, "tests/support/new_element.sh"),
    (r"\bexamples/demo\.sh\b", ELSEWHERE, "tests/fresh_root.sh"),
    (r"\b(meson|ninja)\b|\bbuild[\w-]*/tests/", ELSEWHERE, "tests/run.sh"),
    (r"\bpkg-config\b|\b(g\+\+|gcc|c\+\+|cc)\b", ELSEWHERE, "tests/examples/read_metas.sh"),
]
# Words that may stand at the beginning of a command that is run.
KNOWN = {"gst-launch-1.0", "gst-inspect-1.0", "python3", "cat", "cd", "cut", "diff", "echo", "export", "false", "grep",
         "head", "jq", "ls", "mkdir", "mkfifo", "rm", "sed", "sort", "source", "tail", "true", "uniq", "wait", "wc"}
KEYWORDS = {"do", "done", "if", "then", "else", "fi", "while", "{", "}", "!"}


@dataclasses.dataclass
class Statement:
    text: str
    line: int  # in its block, from 0


def without_comments(text):
    """The text without comments: a # at the beginning of a word, outside of quotes."""
    out, quote, at_word = [], None, True
    i = 0
    while i < len(text):
        c = text[i]
        if quote is None and c == "#" and at_word:
            while i < len(text) and text[i] != "\n":
                i += 1
            continue
        if c == "\\" and quote != "'":
            out.append(text[i:i + 2])
            i, at_word = i + 2, False
            continue
        if c in "'\"" and quote in (None, c):
            quote = c if quote is None else None
        out.append(c)
        at_word = quote is None and c in " \t\n;|&("
        i += 1
    return "".join(out)


def shell_complaint(text):
    """What bash says of the syntax of a text; empty if it is complete."""
    result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    return result.stderr.strip() if result.returncode != 0 or "here-document" in result.stderr else ""


def split(block_text):
    """Returns the statements of a block, and what bash says of the rest that is none."""
    statements, lines, first = [], [], 0
    for number, line in enumerate(block_text.split("\n")):
        if not lines:
            first = number
        lines.append(line)
        text = "\n".join(lines)
        if line.endswith("\\") or shell_complaint(text + "\n"):
            continue
        if without_comments(text).strip():
            statements.append(Statement(without_comments(text).strip(), first))
        lines = []
    rest = "\n".join(lines).strip()
    return statements, shell_complaint(rest + "\n") or "the last line is continued" if rest else ""


def commands_of(text):
    """The words of each simple command of a statement."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars="();|&<>")
    lexer.commenters, lexer.whitespace_split = "", True
    commands, words = [], []
    for word in lexer:
        if word and set(word) <= set(";|&"):
            commands.append(words)
            words = []
        elif not words and (word in KEYWORDS or re.match(r"[A-Za-z_]\w*=", word)):
            continue
        else:
            words.append(word)
    return [words for words in [*commands, words] if words and words[0] != "for"]


def is_our_program(word):
    return word.startswith(("examples/", "./examples/")) and word.endswith(".py") and (ROOT / word).is_file()


def test_of_example(word):
    """The path of the test of an example that is no Python, such as `build/examples/read_metas`; None if it has no
    test."""
    match = re.fullmatch(r"(?:\./)?(?:build[\w-]*/)?examples/(?:[\w-]+/)*([\w-]+)(?:\.sh)?", word)
    if match is None or not list((ROOT / "examples").rglob(f"{match.group(1)}.*")):
        return None
    tests = [*(ROOT / "tests").rglob("*.sh"), *(ROOT / "tests").rglob("meson.build")]
    name = re.compile(rf"\b{match.group(1)}\b")
    naming = sorted(str(test.relative_to(ROOT)) for test in tests if name.search(test.read_text(encoding="utf-8")))
    return naming[0] if naming else None


def kind_of(text):
    """Returns what is done with a statement, and the reason; or None and what is not known."""
    for pattern, kind, reason in RULES:
        if re.search(pattern, text):
            return kind, reason
    commands = commands_of(text)
    if not commands:
        return RUN, "sets variables"
    for words in commands:
        if test := test_of_example(words[0]):
            return ELSEWHERE, test
        if words[0] not in KNOWN and not is_our_program(words[0]):
            return None, f"no rule knows the command {words[0]}"
    return RUN, ""
