#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cudavision-publish with Debian's mosquitto, a server for HTTP, and librdkafka's own cluster."""
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import jsonschema
from publish_parts import LIBRARIES, MISSING, PROGRAM, PROGRAMS, ROOT, TOPIC, Broker, Publisher, Server, Subscriber, free_port, line, run_unpacked, text
from waiting import SECONDS, until

SCHEMA = json.loads((ROOT / "gst/visionjson/cudavisionjson.schema.json").read_text(encoding="utf-8"))
PERSON = {"type": "person", "x": 1, "y": 2, "width": 3, "height": 4, "score": None}


def people(*ids):
    return [{**PERSON, "params": {"tracking": {"id": number}}} for number in ids]


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def validate(message):
    """The published schema holds for what a message has from the line."""
    rest = {name: value for name, value in message.items() if name not in ("schema", "seq")}
    if "event" in message:
        event = {name: rest[name] for name in rest if name not in ("source", "utc", "frame")}
        jsonschema.validate(event, {**SCHEMA, "required": [], "properties": {}, "additionalProperties": True, "$ref": "#/$defs/event"})
        rest = json.loads(line(rest["frame"], rest["source"])) | {"utc": rest["utc"]}
    jsonschema.validate(rest, SCHEMA)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="publish.", ignore_cleanup_errors=True)))
        self.broker = None

    def mosquitto(self, more=""):
        if MISSING:
            self.skipTest("missing: " + ", ".join(MISSING))
        self.broker = Broker(self.folder, more)
        self.addCleanup(self.broker.kill)
        return self.broker

    def subscriber(self, *options, topic="#"):
        found = Subscriber(self.broker, *options, topic=topic)
        self.addCleanup(found.stop)
        return found

    def publisher(self, target, *options, **more):
        found = Publisher(self.folder, target, *options, **more)
        self.addCleanup(found.clean_up)
        return found

    def mqtt(self, topic=TOPIC):
        return f"mqtt://127.0.0.1:{self.broker.port}/{topic}"


class MqttTest(Case):
    def test_events_arrive_with_source_seq_utc_and_the_version_of_the_schema(self):
        self.mosquitto()
        subscriber = self.subscriber()
        lines = [line(0, "door"), line(1, "yard", event=False), line(2, "a/b+c"), line(3, "door", utc="2026-01-02T03:04:05.000000006Z")]
        self.assertEqual(self.publisher(self.mqtt()).end(lines), (0, ""))
        got = subscriber.messages(3)
        self.assertEqual([topic for topic, _ in got], ["cams/door/cross", "cams/a_b_c/cross", "cams/door/cross"])
        self.assertEqual([(m["source"], m["seq"], m["frame"], m["id"]) for _, m in got],
                         [("door", 1, 0, 1), ("a/b+c", 1, 2, 3), ("door", 2, 3, 4)])
        self.assertEqual(got[2][1]["utc"], "2026-01-02T03:04:05.000000006Z")
        for _, message in got:
            self.assertEqual(message["schema"], SCHEMA["version"])
            validate(message)

    def test_whole_lines_come_as_often_as_every_says_and_when_counts_or_ids_change(self):
        self.mosquitto()
        subscriber = self.subscriber()
        zones = [[{"name": "hall", "occupancy": n, "crowded": False, "counts": []}] for n in (0, 1)]
        lines = [line(n, event=False, regions=people(1), zones=zones[0]) for n in range(30)]
        lines += [line(n, "yard", False, regions=people(*ids), zones=zones[inside])
                  for n, (ids, inside) in enumerate([((), 0), ((), 0), ((1,), 0), ((2,), 0), ((2,), 0), ((2,), 1), ((2,), 1)])]
        self.assertEqual(self.publisher(self.mqtt(), "--every", "1").end(lines[:30]), (0, ""))
        self.assertEqual(self.publisher(self.mqtt(), "--changes", "--mqtt-5").end(lines[30:]), (0, ""))
        got = subscriber.messages(7)
        self.assertEqual([(topic, m["frame"]) for topic, m in got],
                         [("cams/door/line", n) for n in (0, 10, 20)] + [("cams/yard/line", n) for n in (0, 2, 3, 5)])
        for _, message in got:
            validate(message)

    def test_a_message_is_retained_only_if_this_is_asked_for(self):
        self.mosquitto()
        self.assertEqual(self.publisher(self.mqtt("kept/{source}"), "--retain").end([line(0)]), (0, ""))
        self.assertEqual(self.publisher(self.mqtt("gone/{source}")).end([line(0)]), (0, ""))
        self.assertEqual(self.publisher(self.mqtt("kept/last")).end([line(1)]), (0, ""))
        subscriber = self.subscriber()
        self.assertEqual([topic for topic, _ in subscriber.messages(1)], ["kept/door"])

    def test_tls_with_certificates_of_both_sides_and_a_password_from_a_credential(self):
        if MISSING:
            self.skipTest(f"missing: {MISSING}")
        self.make_certificates()
        (self.folder / "users").touch()
        self.assertEqual(run_unpacked("mosquitto_passwd", "-b", self.folder / "users", "me", "geheim", stderr=subprocess.DEVNULL).wait(), 0)
        broker = self.mosquitto(f"cafile {self.folder}/ca.pem\ncertfile {self.folder}/server.pem\nkeyfile {self.folder}/server.key\n"
                                f"require_certificate true\npassword_file {self.folder}/users\n")
        certificate = "--certificate", str(self.folder / "client.pem"), "--key", str(self.folder / "client.key")
        authority = "--ca", str(self.folder / "ca.pem")
        target = f"mqtts://me@127.0.0.1:{broker.port}/{TOPIC}"
        subscriber = self.subscriber("--cafile", authority[1], "--cert", certificate[1], "--key", certificate[3], "-u", "me", "-P", "geheim")
        (self.folder / "cudavision-publish.password").write_text("geheim\n", encoding="utf-8")
        program = self.publisher(target, *authority, *certificate, CREDENTIALS_DIRECTORY=str(self.folder))
        program.write([line(0)])
        self.assertEqual(subscriber.messages(1)[0][1]["seq"], 1)
        for place in "cmdline", "environ":
            self.assertNotIn(b"geheim", pathlib.Path(f"/proc/{program.process.pid}/{place}").read_bytes())
        self.assertEqual(program.end(), (0, ""))
        (self.folder / "wrong").write_text("falsch", encoding="utf-8")
        status, said = self.publisher(target, *authority, *certificate, "--password-file", str(self.folder / "wrong"), "--linger", "1").end([line(1)])
        self.assertEqual(status, 1)
        self.assertRegex(said, r"\A[^\n]*refuses the connection: [^\n]*--password-file[^\n]*\n[^\n]*: 1 messages wait in [^\n]*\n\Z")
        self.assertNotIn("falsch", said)
        status, said = self.publisher(target, *certificate, "--password-file", str(self.folder / "wrong"), "--linger", "1").end()
        self.assertRegex(said, r"\A[^\n]*(self.signed|unable to get)[^\n]*--ca[^\n]*\n[^\n]* 1 messages wait")
        self.assertEqual(self.publisher(target, *authority, *certificate, CREDENTIALS_DIRECTORY=str(self.folder)).end(), (0, ""))
        self.assertEqual([m["seq"] for _, m in subscriber.messages(2)], [1, 2])

    def test_the_broker_of_the_page_has_tls_and_gets_messages(self):
        if MISSING:
            self.skipTest(f"missing: {MISSING}")
        page = (ROOT / "examples/publish/README.md").read_text(encoding="utf-8").replace("\\\n", "")
        commands = re.search(r"^umask 077\n.*?^```", page, re.M | re.S)[0].removesuffix("```") + "wait"
        target, options = re.search(r"cudavision-publish (mqtts://me@localhost/\S+) (.*--ca .*)", page).groups()
        port = free_port()
        for real, here in (("listener 8883", f'listener {port}" "user root'), ("-p 8883", f"-p {port}"), (" &\nmosquitto_sub", " & sleep 1\nmosquitto_sub"),
                           ("/usr/sbin/mosquitto ", "mosquitto ")):
            self.assertIn(real, commands)
            commands = commands.replace(real, here)
        with open(self.folder / "received", "wb") as received:
            shell = subprocess.Popen(["bash", "-c", commands], cwd=self.folder, stdout=received, stderr=subprocess.DEVNULL, start_new_session=True,
                                     env={**os.environ, "PATH": PROGRAMS, "LD_LIBRARY_PATH": LIBRARIES})
        self.addCleanup(shell.wait)
        self.addCleanup(os.killpg, shell.pid, 9)
        files = [one if one.startswith("--") else str(self.folder / one) for one in options.split()]
        until((self.folder / "password").exists, "the password")
        program = self.publisher(target.replace("localhost", f"localhost:{port}"), *files)
        until(lambda: program.write([line(0)]) or (self.folder / "received").read_bytes(), "a message")
        self.assertEqual(program.end(), (0, ""))
        self.assertRegex((self.folder / "received").read_text(encoding="utf-8"), r"^cameras/door/cross \{")

    def make_certificates(self):
        openssl(self.folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca")
        (self.folder / "names").write_text("subjectAltName=IP:127.0.0.1", encoding="utf-8")
        for name in "server", "client":
            openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
            openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-out", f"{name}.pem")

    def test_home_assistant_gets_sensors_whose_templates_find_the_values(self):
        jinja2 = __import__("jinja2")
        self.mosquitto()
        subscriber = self.subscriber()
        zones = [{"name": 'the "door" }}', "counts": [{"direction": "in", "total": 7, "recent": 0, "types": []}]},
                 {"name": 'the "door" }}', "occupancy": 2, "crowded": False, "counts": [{"direction": "enter", "total": 9, "recent": 0, "types": []}]}]
        record = line(0, event=False, zones=zones, regions=people(1, 2) + [{**PERSON, "type": "motion"}])
        self.assertEqual(self.publisher(self.mqtt(), "--home-assistant").end([record, line(1, event=False, zones=zones)]), (0, ""))
        subscriber.process.kill()
        lines = subscriber.lines()
        found = {topic: body for _, topic, body in lines}
        states = [json.loads(body) for _, topic, body in lines if topic == "cams/door/line"]
        values, status = {}, [body for _, topic, body in lines if topic.startswith("cams/status/")]
        self.assertEqual(status, ["online", "offline"])
        for topic, body in found.items():
            if match := re.fullmatch(r"homeassistant/(sensor|binary_sensor)/([\w-]+)/config", topic):
                config = json.loads(body)
                jsonschema.validate(config, DISCOVERY[match[1]])
                self.assertEqual((config["unique_id"], config["state_topic"]), (match[2], "cams/door/line"))
                self.assertIn(config["availability_topic"], found)
                template = jinja2.Template(config["value_template"])
                values[match[1], config["name"]] = [template.render(value_json=state) for state in states]
        name = 'the "door" }}'
        self.assertEqual(values, {("sensor", f"{name}, in"): ["7", "7"], ("sensor", f"{name}, enter"): ["9", "9"],
                                  ("sensor", f"{name}, inside"): ["2", "2"], ("binary_sensor", name): ["ON", "ON"],
                                  ("sensor", "person in the picture"): ["2", "0"], ("binary_sensor", "motion"): ["ON", "OFF"]})
        late = self.subscriber()  # what Home Assistant sees after a start
        self.assertEqual({topic for topic, _ in [one[1:] for one in until(lambda: len(late.lines()) >= 8 and late.lines(), "retained")]}, set(found))


# The members that home-assistant.io/integrations/sensor.mqtt and binary_sensor.mqtt document, as far as they are used.
MEMBERS = {"name": {"type": "string"}, "unique_id": {"type": "string"}, "state_topic": {"type": "string", "pattern": "^[^+#]+$"},
           "value_template": {"type": "string"}, "availability_topic": {"type": "string"},
           "device": {"type": "object", "required": ["identifiers"], "additionalProperties": False,
                      "properties": {"identifiers": {"type": "array", "items": {"type": "string"}}, "name": {"type": "string"},
                                     "manufacturer": {"type": "string"}}}}
DISCOVERY = {kind: {"type": "object", "required": ["state_topic", "unique_id", "device"], "additionalProperties": False,
                    "properties": {**MEMBERS, **more}}
             for kind, more in (("sensor", {"state_class": {"enum": ["measurement", "total", "total_increasing"]}}),
                                ("binary_sensor", {"device_class": {"enum": ["motion", "occupancy"]}}))}


class HttpTest(Case):
    def target(self, server, path="hook/{source}/{event}"):
        return f"http://127.0.0.1:{server.port}/{path}"

    def test_what_a_server_answers_late_wrong_or_never_is_sent_again_in_order(self):
        server = Server(204, 500, "late", 301, "never", 404)
        status, said = self.publisher(self.target(server), "--timeout", "0.5").end([line(n, "a b/c") for n in range(6)])
        self.assertEqual(status, 0)
        frames = [json.loads(body)["frame"] for _, _, body in server.requests]
        self.assertEqual(frames, [0, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5])
        self.assertEqual(server.requests[0][0], "/hook/a b/c/cross")
        for words in ("answers 500", "answers 301", "answers 404", "not answered within 0.5 s", "confirms messages again"):
            self.assertIn(words, said)

    def test_batches_are_lists_of_messages_for_one_address(self):
        (self.folder / "token").write_text("abc", encoding="utf-8")
        server = Server()
        program = self.publisher(self.target(server, "{source}"), "--batch", "8", "--password-file", str(self.folder / "token"))
        self.assertEqual(program.end([line(n, "a" if n < 18 else "b") for n in range(20)]), (0, ""))
        self.assertEqual([(path, [m["frame"] for m in json.loads(body)]) for path, _, body in server.requests],
                         [("/a", list(range(8))), ("/a", list(range(8, 16))), ("/a", [16, 17]), ("/b", [18, 19])])
        self.assertEqual({headers["Authorization"] for _, headers, _ in server.requests}, {"Bearer abc"})

    def test_a_picture_goes_with_the_message_as_it_was_when_the_line_came(self):
        picture, server = self.folder / "now-door.jpg", Server()
        picture.write_bytes(b"\xff\xd8first")
        program = self.publisher(self.target(server), "--picture", str(self.folder / "now-{source}.jpg"))
        program.write([line(0)])
        until(lambda: server.confirmed, "the first message")
        picture.write_bytes(b"\xff\xd8second")
        self.assertEqual(program.end([line(1)]), (0, ""))
        for body, expected in zip(server.confirmed, (b"\xff\xd8first", b"\xff\xd8second"), strict=True):
            self.assertIn(b'name="picture"; filename="picture.jpg"\r\n\r\n' + expected + b"\r\n", body)
            self.assertIn(b'name="message"', body)


class KafkaTest(Case):
    def test_messages_of_a_camera_have_its_name_as_key_and_their_order(self):
        try:
            kafka = __import__("confluent_kafka")
        except ImportError:
            self.skipTest("no python3-confluent-kafka")
        consumer = kafka.Consumer({"test.mock.num.brokers": 2, "group.id": "test", "auto.offset.reset": "earliest", "log_level": 0})
        port = next(iter(consumer.list_topics(timeout=SECONDS).brokers.values())).port
        lines = [line(n, f"cam{n % 3}") for n in range(300)]
        self.assertEqual(self.publisher(f"kafka://127.0.0.1:{port}/cams-{{event}}").end(lines), (0, ""))
        consumer.subscribe(["cams-cross"])
        found = {}
        for _ in lines:
            message = consumer.poll(SECONDS)
            found.setdefault(message.key().decode(), []).append(json.loads(message.value()))
        consumer.close()
        self.assertEqual({key: [m["seq"] for m in messages] for key, messages in found.items()},
                         {f"cam{n}": list(range(1, 101)) for n in range(3)})
        self.assertEqual({m["source"] for m in found["cam1"]}, {"cam1"})

    def test_without_a_broker_messages_wait_and_bad_settings_are_refused(self):
        try:
            __import__("confluent_kafka")
        except ImportError:
            self.skipTest("no python3-confluent-kafka")
        target = f"kafka://127.0.0.1:{free_port()}/cams"
        status, said = self.publisher(target, "--timeout", "1", "--linger", "2").end([line(0)])
        self.assertEqual(status, 1)
        self.assertRegex(said, r"\A[^\n]* has confirmed nothing for 1 s; [^\n]*\n[^\n]* 1 messages wait in [^\n]*\n\Z")
        (self.folder / "settings").write_text("# ours\nsasl.pasword=x\n", encoding="utf-8")
        status, said = self.publisher(target, "--kafka-settings", str(self.folder / "settings")).end()
        self.assertEqual((status, said.count("\n")), (1, 1), said)
        self.assertIn("sasl.pasword", said)


class SpoolTest(Case):
    def test_lines_are_taken_while_a_broker_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            program = self.publisher(f"mqtt://127.0.0.1:{silent.getsockname()[1]}/{TOPIC}", "--timeout", "0.5", "--linger", "0")
            program.write([line(n) for n in range(6000)])  # more than a pipe holds
            until(lambda: "does not answer: is it a broker for MQTT?" in program.told(), "the complaint")
            status, said = program.end()
        self.assertEqual(status, 1)
        self.assertIn("6000 messages wait", said)

    def test_the_oldest_messages_are_dropped_if_the_spool_is_full(self):
        server = Server()
        target = f"http://127.0.0.1:{server.port}/"
        status, said = self.publisher(f"http://127.0.0.1:{free_port()}/", "--spool-size", "20K", "--linger", "0").end([line(n) for n in range(200)])
        self.assertEqual(status, 1)
        self.assertIn("the spool is full: the oldest messages are dropped", said)
        self.assertEqual(self.publisher(target).end([line(200)]), (0, ""))
        frames = [json.loads(body)["frame"] for body in server.confirmed]
        self.assertEqual(frames, list(range(frames[0], 201)))
        self.assertTrue(40 < len(frames) < 90, frames)
        self.assertEqual(json.loads(server.confirmed[-1])["seq"], 201)

    def test_reading_waits_if_the_spool_is_full_and_that_is_wanted(self):
        server = Server()
        port = free_port()
        program = self.publisher(f"http://127.0.0.1:{port}/", "--spool-size", "20K", "--when-full", "wait", "--linger", "0")
        program.write([line(number) for number in range(1000)])  # they are read in several parts
        until(lambda: "the spool is full: reading waits" in program.told(), "the complaint")
        os.kill(program.process.pid, 9)
        program.process.wait()
        self.assertEqual(self.publisher(f"http://127.0.0.1:{server.port}/").end(), (0, ""))
        frames = [json.loads(body)["frame"] for body in server.confirmed]
        self.assertEqual(frames, list(range(len(frames))))
        self.assertTrue(40 < len(frames) < 900, frames)

    def test_a_second_program_does_not_take_the_same_spool(self):
        first = self.publisher(f"http://127.0.0.1:{free_port()}/")
        first.write([line(0)])
        until(lambda: first.told(), "the first one works")
        second = subprocess.run([sys.executable, PROGRAM, "http://127.0.0.1/", "--spool", self.folder / "spool"], capture_output=True, text=True,
                                input="", check=False)
        self.assertEqual(second.returncode, 1)
        self.assertRegex(second.stderr, r"\A[^\n]*another cudavision-publish uses this spool[^\n]*\n\Z")

    def test_a_stop_is_quick_and_keeps_what_waits(self):
        program = self.publisher(f"http://127.0.0.1:{free_port()}/")
        program.write([line(0)])
        until(program.told, "it works")
        began = time.monotonic()
        self.assertEqual(program.stop(), 0)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual((self.folder / "spool").stat().st_mode & 0o777, 0o600)
        self.assertIn("1 messages wait", program.told())


class InputTest(Case):
    def server(self):
        found = Server()
        return found, f"http://127.0.0.1:{found.port}/"

    def frames(self, server):
        return [json.loads(body)["frame"] for body in server.confirmed]

    def test_a_growing_file_is_read_on_after_a_kill_and_anew_if_it_is_replaced(self):
        server, target = self.server()
        lines = self.folder / "lines.jsonl"
        lines.write_text(text(line(n) for n in range(5)) + line(5)[:40], encoding="utf-8")
        program = self.publisher(target, "--input", str(lines))
        until(lambda: len(server.confirmed) == 5, "five messages")
        time.sleep(1.2)  # confirmed messages are removed once a second
        program.stop(9)
        with open(lines, "a", encoding="utf-8") as file:
            file.write(line(5)[40:] + "\n" + line(6) + "\n")
        program = self.publisher(target, "--input", str(lines))
        until(lambda: len(server.confirmed) == 7, "two more")
        lines.write_text(line(100) + "\n", encoding="utf-8")
        until(lambda: len(server.confirmed) == 8, "the line of the file that was emptied")
        (self.folder / "other").write_text(text([line(200), line(201)]), encoding="utf-8")
        (self.folder / "other").rename(lines)
        until(lambda: len(server.confirmed) == 10, "the lines of the new file")
        self.assertEqual(program.stop(), 0)
        with open(lines, "r+", encoding="utf-8") as file:  # emptied while the program is away
            file.write(text([line(300), line(301), line(302)]))
        program = self.publisher(target, "--input", str(lines))
        until(lambda: len(server.confirmed) == 13, "the lines since then")
        self.assertEqual(program.stop(), 0)
        self.assertEqual(self.frames(server), [0, 1, 2, 3, 4, 5, 6, 100, 200, 201, 300, 301, 302])

    def test_a_named_pipe_is_read_before_its_writer_comes_and_until_it_goes(self):
        server, target = self.server()
        os.mkfifo(self.folder / "pipe")
        program = self.publisher(target, "--input", str(self.folder / "pipe"), stdin=None)
        time.sleep(0.5)
        self.assertIsNone(program.process.poll())
        with open(self.folder / "pipe", "w", encoding="utf-8") as file:
            file.write(text([line(0), line(1)]))
        self.assertEqual(program.end(), (0, ""))
        self.assertEqual(self.frames(server), [0, 1])

    def test_what_is_no_line_is_left_out_and_told_once(self):
        server, target = self.server()
        wrong = ["Setting pipeline to PAUSED ...", '{"frame":1', "[" * 5000, "17", '{"events":[{"event":"cross"}]}', '{"frame":3,"events":[{"event":7}]}',
                 '{"source":5,"frame":1,"events":[{"event":"cross"}]}', "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), ""]
        program = self.publisher(target)
        status, said = program.end([line(0), *wrong, line(1).replace("door", "\\ud800"), line(2).replace("cross", "\\ud800")])
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("no line of cudavisionjson and is left out: 'Setting pipeline", said)
        self.assertEqual([n for n in self.frames(server) if n != 3], [0, 1, 2])

    def test_the_end_of_the_program_ends_the_pipeline_with_an_error_that_says_so(self):
        if subprocess.run(["gst-inspect-1.0", "cudavisionjson"], check=False, capture_output=True).returncode:
            self.skipTest("no plugin")
        server, target = self.server()
        pipeline = subprocess.Popen(["gst-launch-1.0", "-q", "videotestsrc", "is-live=true", "!", "video/x-raw,width=64,height=48,framerate=20/1", "!",
                                     "cudavisionjson", "source=x", "wall-clock=true", "!", "fakesink"], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})
        program = self.publisher(target, "--every", "0.1", stdin=pipeline.stdout)
        pipeline.stdout.close()
        until(lambda: len(server.confirmed) > 3, "messages of a pipeline")
        program.stop(9)
        self.assertIn(b"Could not write to the standard output: Broken pipe", pipeline.stderr.read())
        pipeline.stderr.close()
        self.assertEqual(pipeline.wait(SECONDS), 1)
        for body in server.confirmed:
            validate(json.loads(body))

    def test_the_unit_of_the_page_ends_as_a_whole_if_the_program_ends(self):
        if subprocess.run(["gst-inspect-1.0", "cudabgsub"], check=False, capture_output=True).returncode:
            self.skipTest("no plugin")
        page = (ROOT / "examples/publish/README.md").read_text(encoding="utf-8")
        unit = page.partition("```ini\n")[2].partition("```")[0]
        command = shlex.split(re.search("^ExecStart=(.*)$", unit, re.M)[1])
        self.mosquitto()
        for real, here in (("v4l2src", "videotestsrc is-live=true pattern=ball ! video/x-raw,width=64,height=48"),
                           ("mqtts://me@broker.example.org/", f"mqtt://me@127.0.0.1:{self.broker.port}/")):
            self.assertIn(real, command[-1])
            command[-1] = command[-1].replace(real, here)
        (self.folder / "cudavision-publish").symlink_to(PROGRAM)
        (self.folder / "cudavision-publish.password").write_text("x", encoding="utf-8")
        subscriber = self.subscriber()
        service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={
            **os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "LC_ALL": "C", "STATE_DIRECTORY": str(self.folder / "state"),
            "CREDENTIALS_DIRECTORY": str(self.folder)})
        self.assertEqual(subscriber.messages(1)[0][0], "cameras/door/line")
        self.assertTrue(list((self.folder / "state").glob("*.sqlite")))
        children = pathlib.Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text(encoding="ascii").split()
        os.kill(next(int(pid) for pid in children if b"cudavision-publish" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()), 9)
        self.assertIn("Could not write to the standard output", service.communicate(timeout=SECONDS)[1])
        self.assertNotEqual(service.returncode, 0)

    def test_the_program_takes_the_options_of_the_page(self):
        page = (ROOT / "examples/publish/README.md").read_text(encoding="utf-8").replace("\\\n", "")
        commands = [shlex.split(found) for found in re.findall(r"^gst-launch.*\| +cudavision-publish (.*)$", page, re.M)]
        self.assertGreater(len(commands), 4)
        openssl(self.folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "broker.key", "-out", "broker.crt", "-subj", "/CN=broker")
        (self.folder / "password").write_text("x", encoding="utf-8")
        for number, command in enumerate(commands):
            with self.subTest(command):
                process = subprocess.run([sys.executable, PROGRAM, *command, "--spool", f"spool{number}", "--linger", "0"], cwd=self.folder, input="",
                                         capture_output=True, text=True, check=False)
                self.assertEqual(process.returncode, 0, process.stderr)


class ErrorTest(Case):
    def test_each_error_is_one_line_that_says_what_to_do(self):
        (self.folder / "notes.txt").write_text("this is no spool, but a text that is long enough\n" * 40, encoding="utf-8")
        (self.folder / "empty").touch()
        here = "mqtt://127.0.0.1/topic"
        cases = [(["mqtt://host"], "topic"), (["host/topic"], "a target is written as"), (["mqtt://host:x/a"], "no address"),
                 (["mqtt://me:secret@host/a"], "--password-file"), (["mqtt://host/a/#"], "topic"), (["mqtt://host/{name}"], "{source} and {event}"),
                 (["kafka://host/a b"], "topic of Kafka"), (["http://host/", "--retain"], "--retain is for targets mqtt://"),
                 (["kafka://me@host/a"], "--kafka-settings"), (["mqtt://host/a", "--batch", "3"], "--batch is for targets http://"),
                 (["mqtt://host/a", "--home-assistant"], "{source} and {event} in the topic"),
                 (["mqtt://me@host/a", "--password-file", "missing"], "missing: No such file"), (["mqtt://me@host/a", "--password-file", "empty"], "one line is expected"),
                 (["mqtt://host/a", "--ca", "missing"], "is not encrypted"), (["mqtts://host/a", "--ca", "notes.txt"], "PEM"),
                 ([here, "--input", "missing"], "mkfifo"), ([here, "--input", "/dev/null"], "named pipe or from a file"),
                 ([here, "--spool", "notes.txt"], "is no spool"), ([here, "--spool", "missing/spool"], "may this user write there"),
                 (["http://host/", "--picture", "a", "--batch", "2"], "exclude one another")]
        running = [(subprocess.Popen([sys.executable, PROGRAM, *(["--spool", f"s{n}"] if "--spool" not in arguments else []), *arguments], cwd=self.folder,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), arguments, words)
                   for n, (arguments, words) in enumerate(cases)]
        for process, arguments, words in running:
            out, said = process.communicate(timeout=SECONDS)
            with self.subTest(arguments):
                self.assertEqual((process.returncode, out, said.count("\n")), (1, "", 1), said)
                self.assertIn(words, said)
                self.assertNotIn("secret", said)

    def test_a_missing_package_is_named(self):
        for target, module, package in (("mqtt://host/a", "paho", "python3-paho-mqtt"), ("http://host/", "aiohttp", "python3-aiohttp"),
                                        ("kafka://host/a", "confluent_kafka", "python3-confluent-kafka")):
            (self.folder / f"{module}.py").write_text("raise ImportError", encoding="utf-8")
            status, said = self.publisher(target, PYTHONPATH=str(self.folder)).end()
            self.assertEqual((status, said), (1, f"cudavision-publish: this target needs the package {package}: apt install {package}\n"))


if __name__ == "__main__":
    unittest.main()
