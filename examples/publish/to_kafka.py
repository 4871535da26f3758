# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kafka, with an idempotent producer. The name of the camera is the key, so that its messages stay in one partition and in
their order."""
import select

from target import Refused, Trouble, needed, text_of

WINDOW = 1000


def further_settings(path):
    """The lines NAME=VALUE of a file, as librdkafka's CONFIGURATION.md describes them: TLS, users, passwords."""
    lines = [line for line in text_of(path).splitlines() if line.strip() and not line.startswith("#")]
    if not all("=" in line for line in lines):
        raise Refused(f"{path}: each line is written as NAME=VALUE")
    return dict(line.split("=", 1) for line in lines)


class Kafka:
    window = WINDOW

    def __init__(self, target, chosen):
        self.kafka = needed("confluent_kafka", "python3-confluent-kafka")
        self.target, self.producer = target, None
        self.settings = {"bootstrap.servers": f"{target.host}:{target.port}", "enable.idempotence": True, "message.timeout.ms": 0,
                         "log_level": 0}
        if chosen.kafka_settings:
            self.settings |= further_settings(chosen.kafka_settings)
        try:
            self.kafka.Producer(self.settings)
        except self.kafka.KafkaException as error:
            raise Refused(f"{chosen.kafka_settings or target}: {error.args[0].str()}") from None

    def connect(self):
        self.found, self.trouble = [], None
        self.producer = self.kafka.Producer(self.settings)

    def delivered(self, error, number):
        if error is None:
            self.found.append(number)
        else:
            self.trouble = self.trouble or error.str()

    def send(self, message):
        number, topic = message.id, self.target.address(message.source, message.event)
        try:
            self.producer.produce(topic, message.body, message.source, on_delivery=lambda error, _: self.delivered(error, number))
        except (BufferError, self.kafka.KafkaException) as error:
            raise Trouble(f"{self.target}: {error}") from None

    def confirmed(self, wake, seconds):
        if len(self.producer):
            self.producer.poll(0.1)
        else:
            self.producer.poll(0)
            select.select([wake], [], [], seconds)
        if self.trouble:
            raise Trouble(f"{self.target}: {self.trouble}")
        found, self.found = self.found, []
        return found

    def close(self):
        if self.producer:
            self.producer.purge()
            self.producer = None
