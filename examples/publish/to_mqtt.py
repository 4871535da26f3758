# SPDX-License-Identifier: LGPL-2.1-or-later
"""MQTT 3.1.1 and 5, with paho 1.6 or 2. Messages have quality of service 1: the broker confirms each. Every connection has
a client object of its own, so that no message is sent by paho's own memory, in an order that the spool does not know."""
import select
import time

from target import Trouble, needed, reason

KEEPALIVE = 30  # seconds
WINDOW = 20  # messages that are not confirmed; many brokers allow no more


class Mqtt:
    def __init__(self, target, chosen, password, context, name):
        self.paho = needed("paho.mqtt.client", "python3-paho-mqtt")
        self.target, self.chosen, self.password, self.context = target, chosen, password, context
        self.name = f"cudavision-publish-{name}"
        self.status = target.template.partition("{")[0] + f"status/{name}" if chosen.home_assistant else None
        self.window, self.client = WINDOW, None

    def make_client(self):
        protocol = self.paho.MQTTv5 if self.chosen.mqtt_5 else self.paho.MQTTv311
        versions = getattr(self.paho, "CallbackAPIVersion", None)  # paho 2
        client = self.paho.Client(*([versions.VERSION2] if versions else []), client_id=self.name, protocol=protocol)
        client.max_inflight_messages_set(WINDOW)
        client.on_connect, client.on_publish = self.connected, self.published
        if self.target.user:
            client.username_pw_set(self.target.user, self.password)
        if self.context:
            client.tls_set_context(self.context)
        if self.status:
            client.will_set(self.status, "offline", qos=1, retain=True)
        return client

    def connect(self):
        self.client, self.answer, self.refused = self.make_client(), None, None
        self.numbers, self.confirmed_ids, self.window = {}, [], WINDOW
        try:
            self.client.connect(self.target.host, self.target.port, KEEPALIVE)
        except (OSError, ValueError) as error:
            raise Trouble(f"{self.target}: {reason(error)}") from None
        end = time.monotonic() + self.chosen.timeout
        while self.answer is None:
            if time.monotonic() > end:
                raise Trouble(f"{self.target} does not answer: is it a broker for MQTT?")
            self.pump(0.2)
        if self.answer != "":
            raise Trouble(f"{self.target} refuses the connection: {self.answer}. Are the user and --password-file right?")
        if self.status:
            self.client.publish(self.status, "online", qos=1, retain=True)

    def connected(self, _client, _data, _flags, code, properties=None):
        failed = code.is_failure if hasattr(code, "is_failure") else code != 0 and getattr(code, "value", 1) != 0
        text = str(code) if not isinstance(code, int) else self.paho.connack_string(code)
        self.answer = text.removeprefix("Connection Refused: ").rstrip(".") if failed else ""
        self.window = min(WINDOW, getattr(properties, "ReceiveMaximum", WINDOW))

    def published(self, _client, _data, number, code=None, _properties=None):
        if getattr(code, "is_failure", False):
            self.refused = str(code)
        elif number in self.numbers:
            self.confirmed_ids.append(self.numbers.pop(number))

    def send(self, message):
        topic = message.topic or self.target.address(message.source, message.event)
        sent = self.client.publish(topic, message.body, qos=1, retain=message.retain)
        self.check(sent.rc)
        self.numbers[sent.mid] = message.id

    def check(self, code):
        if code != self.paho.MQTT_ERR_SUCCESS and self.answer in (None, ""):
            raise Trouble(f"{self.target}: the connection is lost: {self.paho.error_string(code).rstrip('.')}")

    def pump(self, seconds, *others):
        """Lets paho read and write, when there is something, or when one of the others can be read."""
        socket = self.client.socket()
        if socket is None:
            raise Trouble(f"{self.target}: the connection is lost")
        if getattr(socket, "pending", lambda: 0)():  # TLS has bytes already
            seconds = 0
        writers = [socket] if self.client.want_write() else []
        try:
            ready = select.select([socket, *others], writers, [], seconds)
        except (OSError, ValueError):
            raise Trouble(f"{self.target}: the connection is lost") from None
        if socket in ready[0] or seconds == 0:
            self.check(self.client.loop_read())
        if ready[1]:
            self.check(self.client.loop_write())
        self.check(self.client.loop_misc())
        if self.refused:
            raise Trouble(f"{self.target} refuses a message: {self.refused}")

    def confirmed(self, wake, seconds):
        """The ids that the broker has confirmed since the last call."""
        if not self.confirmed_ids:
            self.pump(seconds, wake)
        found, self.confirmed_ids = self.confirmed_ids, []
        return found

    def close(self):
        client, self.client = self.client, None
        if client and client.socket() is not None:
            if self.status:
                client.publish(self.status, "offline", qos=0, retain=True)
            client.disconnect()
            client.loop_write()
            if client.socket() is not None:
                client.socket().close()
