# SPDX-License-Identifier: LGPL-2.1-or-later
"""HTTP: one POST after the other, each with a message, or with a list of them (--batch). The answer 2xx confirms."""
import asyncio
import itertools
import select

from target import Trouble, needed, reason


class Http:
    def __init__(self, target, chosen, password, context):
        self.aiohttp = needed("aiohttp", "python3-aiohttp")
        self.target, self.context = target, context
        self.timeout, self.batches = chosen.timeout, chosen.batch is not None
        self.window = chosen.batch or 1
        self.headers, self.auth = {}, None
        if target.user:
            self.auth = self.aiohttp.BasicAuth(target.user, password or "", "utf-8")
        elif password:
            self.headers["Authorization"] = f"Bearer {password}"
        self.loop, self.session = asyncio.new_event_loop(), None

    def connect(self):
        self.waiting = []
        self.session = self.loop.run_until_complete(self.new_session())

    async def new_session(self):
        connector = self.aiohttp.TCPConnector(ssl=self.context, limit=1) if self.context else None
        return self.aiohttp.ClientSession(connector=connector, auth=self.auth, headers=self.headers,
                                          timeout=self.aiohttp.ClientTimeout(total=self.timeout))

    def send(self, message):
        self.waiting.append((self.target.address(message.source, message.event), message))

    def confirmed(self, wake, seconds):
        if not self.waiting:
            select.select([wake], [], [], seconds)
            return []
        address = self.waiting[0][0]
        same = [message for _, message in itertools.takewhile(lambda pair: pair[0] == address, self.waiting)]
        status, further = self.loop.run_until_complete(self.post(address, same))
        if not 200 <= status < 300:
            raise Trouble(f"{address} answers {status}{further}")
        self.waiting = self.waiting[len(same):]
        return [message.id for message in same]

    def body(self, messages):
        if messages[0].picture is not None:
            form = self.aiohttp.FormData()
            form.add_field("message", messages[0].body, content_type="application/json", filename="message.json")
            form.add_field("picture", messages[0].picture, content_type="image/jpeg", filename="picture.jpg")
            return {"data": form}
        text = b",".join(message.body for message in messages)
        return {"data": b"[" + text + b"]" if self.batches else text, "headers": {"Content-Type": "application/json"}}

    async def post(self, address, messages):
        try:
            async with self.session.post(address, allow_redirects=False, **self.body(messages)) as response:
                further = response.headers.get("Location", "")
                return response.status, f": write {further} as the target" if further else ""
        except asyncio.TimeoutError:
            raise Trouble(f"{self.target} has not answered within {self.timeout:g} s") from None
        except (self.aiohttp.ClientError, OSError) as error:
            cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
            raise Trouble(f"{self.target}: {reason(cause)}") from None

    def close(self):
        if self.session:
            self.loop.run_until_complete(self.session.close())
            self.session = None
