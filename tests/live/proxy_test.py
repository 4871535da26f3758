#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cudavision-live in Chromium behind nginx and Caddy with TLS, under a path, with the settings of its README.
tests/run.sh live runs it.

usage: proxy_test.py [FOLDER]     FOLDER: pictures of the page are written there
"""
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from live_server import ROOT, SECONDS, TEST_PICTURE, Live
from selenium import webdriver
from selenium.webdriver.common.by import By

PICTURES = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
NAME = "cams.example.org"
folder = pathlib.Path(tempfile.mkdtemp(prefix="cudavision_proxy."))


def settings(language):
    """The block of the README in this language."""
    text = (ROOT / "examples" / "live" / "README.md").read_text(encoding="utf-8")
    return re.search(f"```{language}\n(.*?)```", text, re.DOTALL)[1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def make_certificate():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={NAME}", "-keyout",
                    folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)


class Proxies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_certificate()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        options.accept_insecure_certs = True
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900",
                         f"--host-resolver-rules=MAP {NAME} 127.0.0.1", f"--user-data-dir={folder / 'browser'}"):
            options.add_argument(argument)
        cls.driver = webdriver.Chrome(service=webdriver.chrome.service.Service(shutil.which("chromedriver")), options=options)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.port = free_port()

    def serve(self, *arguments):
        live = Live(*arguments, TEST_PICTURE)
        self.addCleanup(lambda: self.assertEqual(live.stop(), (0, "")))
        return live

    def run_proxy(self, *command):
        proxy = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def stop():
            proxy.terminate()
            proxy.communicate()

        self.addCleanup(stop)
        for _ in range(SECONDS * 10):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                self.assertIsNone(proxy.poll(), proxy.stderr.read() if proxy.poll() is not None else "")
                time.sleep(0.1)
        self.fail("the proxy does not listen")

    def nginx(self, live, text):
        text = text.replace("listen 443", f"listen 127.0.0.1:{self.port}").replace("127.0.0.1:8080", f"127.0.0.1:{live.port}")
        text = re.sub(r"/etc/ssl/\S+(cert|key).pem", rf"{folder}/\1.pem", text)
        (folder / "passwords").write_text("me:{PLAIN}secret\n", encoding="ascii")
        text = text.replace("/etc/nginx/passwords", f"{folder}/passwords")
        temporary = "".join(f"{name}_temp_path {folder}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(f"pid {folder}/nginx.pid; error_log stderr; daemon off; user root; events {{}}\n"
                                           f"http {{ access_log off; {temporary}\n{text}\n}}\n", encoding="utf-8")
        self.run_proxy("nginx", "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf")

    def caddy(self, live, text):
        text = text.replace(f"{NAME} {{", f"https://{NAME}:{self.port} {{\n\ttls {folder}/cert.pem {folder}/key.pem")
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{live.port}")
        hashed = subprocess.run(["caddy", "hash-password", "--plaintext", "secret"], check=True, capture_output=True, text=True)
        text = re.sub(r"\$2a\S+", lambda _: hashed.stdout.strip(), text)
        (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text, encoding="utf-8")
        self.run_proxy("caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile")

    def open(self, path="/cams/", user="me:secret@"):
        self.driver.get(f"https://{user}{NAME}:{self.port}{path}")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def until(self, condition):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(0.05)
        raise AssertionError("this did not come: " + self.find("body").text[:500])

    def shows_pictures(self, name):
        self.until(lambda: self.find("#link").text == "connected")
        self.until(lambda: not self.driver.find_elements(By.CSS_SELECTOR, "#left .empty"))
        there = self.until(lambda: self.driver.execute_async_script(
            "fetch(location.origin + new URL(document.querySelector('#json').href).pathname).then((answer) => answer.text()).then(arguments[0])"))
        self.assertIn('"pts":', there)
        if PICTURES:
            PICTURES.mkdir(exist_ok=True)
            self.driver.save_screenshot(str(PICTURES / f"{name}.png"))

    def test_nginx_as_the_readme_has_it(self):
        self.nginx(self.serve("--name", f"{NAME}:{self.port}"), settings("nginx"))
        self.open()
        self.shows_pictures("nginx")

    def test_caddy_as_the_readme_has_it(self):
        self.caddy(self.serve("--name", f"{NAME}:{self.port}"), settings("caddy"))
        self.open()
        self.shows_pictures("caddy")

    def test_a_token_works_under_a_path(self):
        live = self.serve_listening()
        self.nginx(live, re.sub(r" *auth_basic.*\n", "", settings("nginx")))
        self.open(f"/cams/?token={live.address.partition('?token=')[2]}", "")
        self.shows_pictures("token")
        self.assertEqual(self.driver.get_cookies()[0]["path"], "/cams")

    def serve_listening(self):
        live = Live("--listen", "0.0.0.0", "--name", f"{NAME}:{self.port}", TEST_PICTURE)
        self.addCleanup(live.stop)
        return live

    def test_settings_that_lack_something_are_told(self):
        """With nginx's usual headers and no --name the page says what to do, and so it does if no WebSocket comes through."""
        plain = re.sub(r" *(auth_basic|proxy_set_header Host).*\n", "", settings("nginx"))
        for lacks, arguments, text, said in (("name", (), plain, f"--name {NAME}:{self.port}"),
                                             ("upgrade", ("--name", f"{NAME}:{self.port}"), re.sub(r".*Upgrade.*\n", "", plain),
                                              "its WebSocket does not")):
            with self.subTest(lacks):
                self.nginx(self.serve(*arguments), text)
                self.open(user="")
                self.until(lambda: said in self.find("#connecting").text and said in self.find("#link").text)
                self.doCleanups()


if __name__ == "__main__":
    try:
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(folder)
