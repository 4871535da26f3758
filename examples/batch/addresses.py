# SPDX-License-Identifier: LGPL-2.1-or-later
"""What may be shown of the address of a camera, which often has a password."""
import re
import shlex
import urllib.parse

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/+\S*")
LEFT_OUT = "..."


def split(uri):
    """The part of an address that may be shown, and the texts that may not. Passwords stand before the last @, or in
    what looks like a query, even in the path, such as /user=admin&password=…. A /, ? or # before the last @ may belong
    to a password or end the host: then only the scheme is shown. Whoever escapes a password may also escape the @."""
    scheme, _, rest = uri.partition("://")
    escaped = "@" not in rest and "%40" in re.split(r"[/?#]", rest)[0]
    user, _, place = rest.rpartition("%40" if escaped else "@")
    if re.search(r"[/?#]", user):
        return f"{scheme}://{LEFT_OUT}", [rest, user, re.split(r"[?&;]", rest, maxsplit=1)[-1]]
    shown = re.split(r"[?#;&=]", place)[0]
    return f"{scheme}://{shown}", [user, place[len(shown) :]]


def public(uri):
    return split(uri)[0]


SECRET = re.compile(r"(^|[-_])(pw|pass|passwd|password|passphrase|token|secret|key|cookies?|headers|auth|credentials)$", re.IGNORECASE)


def values(pipeline):
    """The words of a pipeline's text, and what a property is set to, or None."""
    for word in shlex.split(pipeline):
        name, equals, value = word.partition("=")
        yield word, name, value if equals and re.fullmatch(r"[\w-]+", name) else None


def shown_value(name, value):
    if SECRET.search(name):
        return LEFT_OUT
    return public(value) if ADDRESS.fullmatch(value) else LEFT_OUT if "://" in value else value


def without_secrets(pipeline):
    """A pipeline's text without the passwords of its addresses and properties."""
    shown, hides = [], False
    for word, name, value in values(pipeline):
        new = value if value is None else shown_value(name, value)
        hides |= new != value
        if value is not None:
            escaped = new.replace("\\", "\\\\").replace('"', '\\"')
            word = f"{name}={new}" if re.fullmatch(r"[\w.,:/+-]+", new) else f'{name}="{escaped}"'
        shown.append(word)
    return " ".join(shown) if hides else pipeline


def hide_all(text, pipeline):
    """Hides all addresses and passwords of a pipeline's text in another text, as hide() does for one address."""
    secrets = [value for _, name, value in values(pipeline) if value and shown_value(name, value) != value]
    for secret in sorted(secrets, key=len, reverse=True):
        if ADDRESS.fullmatch(secret):
            text = hide(text, secret)
        for part in (secret, *re.findall(r"\w{4,}", secret)):  # as a message may escape it
            text = text.replace(part, LEFT_OUT)
    return ADDRESS.sub(rf"\1://{LEFT_OUT}", text)


def words(text):
    """The parts of a text in which a password may be, from the whole to the smallest."""
    yield text
    yield text.partition(":")[2]
    for separators in r"&", r"[?#&;]", r"[:/?#@&;]":
        for word in re.split(separators, text):
            yield word
            yield re.sub(r"^\W*\w+=", "", word)


def hide(text, uri):
    """The text without what may not be shown of the address, however it is escaped, and without any other address."""
    hidden = {word for part in split(uri)[1] for word in words(part)}
    hidden |= {urllib.parse.unquote(word) for word in hidden}
    hidden |= {urllib.parse.quote(word, safe="") for word in hidden}
    for word in sorted(hidden, key=len, reverse=True):
        pattern = re.escape(word) if len(word) > 5 else rf"(?<!\w){re.escape(word)}(?!\w)"
        if len(word) > 1:
            text = re.sub(pattern, LEFT_OUT, text, flags=re.IGNORECASE)
    return ADDRESS.sub(rf"\1://{LEFT_OUT}", text)
