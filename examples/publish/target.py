# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address of a target, the passwords and certificates for it, and how trouble is told."""
import contextlib
import dataclasses
import importlib
import os
import pathlib
import re
import ssl
import sys
import time
import urllib.parse

PORTS = {"mqtt": 1883, "mqtts": 8883, "http": 80, "https": 443, "kafka": 9092}
CREDENTIAL = "cudavision-publish.password"  # of systemd


class Refused(Exception):
    """The program cannot begin or go on. The text is one line that says what to do."""


class Trouble(Exception):
    """The target cannot be reached, or does not confirm. It is tried again."""


class Teller:
    """Writes to the log. What may come often is written once a minute."""

    def __init__(self):
        self.last = {}

    def say(self, text):
        with contextlib.suppress(OSError):  # a log that is gone ends nothing
            print(f"cudavision-publish: {' '.join(str(text).split())}", file=sys.stderr, flush=True)

    def say_rarely(self, kind, text):
        now = time.monotonic()
        if now - self.last.get(kind, now - 60) >= 60:
            self.last[kind] = now
            self.say(text)


@dataclasses.dataclass(frozen=True)
class Target:
    kind: str  # mqtt, http or kafka
    encrypted: bool
    host: str
    port: int
    user: str | None
    template: str  # the topic, or the address for HTTP

    def __str__(self):
        return f"{self.kind}{'s' * self.encrypted}://{self.host}:{self.port}"

    def word(self, text):
        """A name as one level of a topic or an address."""
        if self.kind == "http":
            return urllib.parse.quote(text, safe="")
        return re.sub(r"[^\w.-]" if self.kind == "kafka" else r"[/+#\x00-\x1f]", "_", text, flags=re.ASCII) or "_"

    def address(self, source, event):
        values = {"{source}": source, "{event}": event}
        return re.sub(r"\{source\}|\{event\}", lambda match: self.word(values[match[0]]), self.template)


def parse(text):
    """The Target of an address such as mqtts://user@broker/cameras/{source}/{event}."""
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError as error:
        raise Refused(f"the target is no address: {error}") from None
    if parts.password is not None:
        raise Refused("other users see the arguments of a program: leave the password out, and name a file with "
                      "--password-file")
    if not port or not parts.hostname:
        raise Refused(f"{text}: a target is written as mqtt://HOST/TOPIC, mqtts://…, http://HOST/…, https://… or "
                      "kafka://HOST/TOPIC")
    template = urllib.parse.unquote(parts.path.removeprefix("/"))
    if parts.scheme in ("http", "https"):
        template = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    elif not template or re.search(r"[+#?]", text + template):
        raise Refused(f"{text}: behind the host stands a topic without +, # and ?, such as cameras/{{source}}/{{event}}")
    unknown = set(re.findall(r"\{.*?\}", template)) - {"{source}", "{event}"}
    if unknown:
        raise Refused(f"{unknown.pop()}: only {{source}} and {{event}} may stand in braces")
    if parts.scheme == "kafka" and re.search(r"[^\w.{}-]", template, re.ASCII):
        raise Refused(f"{template}: a topic of Kafka consists of letters, digits, dots, - and _")
    user = parts.username and urllib.parse.unquote(parts.username)
    return Target(parts.scheme.removesuffix("s"), parts.scheme.endswith("s"), parts.hostname, port, user, template)


def needed(module, package):
    """A module that is not part of Python."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Refused(f"this target needs the package {package}: apt install {package}") from None


def text_of(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: {getattr(error, 'strerror', None) or 'it is no text in UTF-8'}") from None


def password(path):
    """The password in a file, or the credential of systemd; None if there is neither."""
    credential = pathlib.Path(os.environ.get("CREDENTIALS_DIRECTORY", ""), CREDENTIAL)
    if path is None and not credential.exists():
        return None
    text = text_of(path or credential).rstrip("\r\n")
    if not text or "\n" in text:
        raise Refused(f"{path or credential}: one line is expected, the password")
    return text


def tls(target, chosen):
    """The context for an encrypted target, else None."""
    if not target.encrypted:
        if chosen.ca or chosen.certificate:
            raise Refused(f"{target} is not encrypted: certificates are for {target.kind}s://")
        return None
    try:
        context = ssl.create_default_context(cafile=chosen.ca)
        if chosen.ca:  # Python 3.13 would want extensions that OpenSSL's own programs neither write nor want
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if chosen.certificate:
            context.load_cert_chain(chosen.certificate, chosen.key)
    except OSError as error:  # ssl.SSLError is one
        names = ", ".join(name for name in (chosen.ca, chosen.certificate, chosen.key) if name)
        raise Refused(f"{names}: {error.strerror or error}: certificates and keys are files in the format PEM") from None
    return context


def reason(error):
    """Why a connection failed, with what helps."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.verify_message}: is --ca missing, or is it another host?"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
