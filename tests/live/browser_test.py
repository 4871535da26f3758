#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the page of cudavision-live in Chromium, as a person uses it. tests/run.sh live runs it.

usage: browser_test.py [FOLDER]     FOLDER: pictures of the page are written there. CUDAVISION_SLOW=N allows N times as
                                    much time, on a machine that is busy
"""
import base64
import io
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import numpy
from live_server import SECONDS, Live, make_video
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PICTURES = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
STREET = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "/usr/share/doc/opencv-doc/examples/data")) / "vtest.avi"
folder = pathlib.Path(tempfile.mkdtemp(prefix="cudavision_live."))
EDGES = "--elements", "cudacanny output=overlay color=lime"


def contrast(first, second):
    """The contrast of two colours, as WCAG defines it."""
    def luminance(colour):
        return sum(share * (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4)
                   for share, v in zip((0.2126, 0.7152, 0.0722), (c / 255 for c in colour)))
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


# A script that returns the visible texts of the page, outside of drawings, with their colours and backgrounds.
COLOURS = """
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const found = [];
for (const part of document.querySelectorAll('body *')) {
  const text = [...part.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join('');
  if (!text || !part.checkVisibility() || part.disabled || part.closest('svg, .skip')) continue;
  let behind = part, back;
  do {
    back = numbers(getComputedStyle(behind).backgroundColor);
    behind = behind.parentElement;
  } while (back[3] === 0 && behind);
  found.push([text.slice(0, 40), numbers(getComputedStyle(part).color).slice(0, 3), back.slice(0, 3)]);
}
return found;
"""
# A script that returns the parts whose content is wider than they are, or that reach beyond the window.
CUT_OFF = """
const beyond = (part) => part.getBoundingClientRect().right > innerWidth + 1;
const wider = (part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0 &&
  getComputedStyle(part).overflowX !== 'visible' && part.tagName !== 'INPUT';
return [...document.querySelectorAll('main *, header *')]
  .filter((part) => part.checkVisibility() && !part.closest('svg, .button, select, .scroll') && (beyond(part) || wider(part)))
  .map((part) => part.tagName + ' ' + part.className + ' ' + part.textContent.slice(0, 40));
"""


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900",
                         "--hide-scrollbars", f"--user-data-dir={folder / 'browser'}"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
        cls.driver = webdriver.Chrome(service=service, options=options)
        cls.addClassCleanup(cls.driver.quit)
        cls.requests = set()

    def setUp(self):
        self.live = None

    def start(self, *arguments, width=1400, dark=False):
        self.live = Live(*arguments)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.driver.get(self.live.base + "/")

    def tearDown(self):
        """No test may leave a message in the console, and no page may ask another host."""
        self.assertEqual(self.driver.get_log("browser"), [])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            asked = message["params"]
            if message["method"] == "Network.requestWillBeSent" and asked.get("documentURL", "").startswith(self.live.base):
                self.assertTrue(asked["request"]["url"].startswith((self.live.base, "blob:" + self.live.base)), asked)
        self.driver.get("about:blank")
        self.assertEqual(self.live.stop(), (0, ""))

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def until(self, condition, seconds=SECONDS):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(0.05)
        raise AssertionError("this did not come")

    def picture(self, side="left"):
        """The pixels that the page shows."""
        url = self.driver.execute_script(f"return document.querySelector('#{side} canvas').toDataURL()")
        return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")).astype(int)

    def green(self):
        """How many pixels are pure green, as the edges that are drawn in lime."""
        r, g, b = self.picture().transpose(2, 0, 1)
        return int(((g > 180) & (r < 110) & (b < 110)).sum())

    def slide(self, name, place):
        """Moves a slider as the mouse does."""
        self.driver.execute_script("""
            const slider = document.querySelector(`#${arguments[0]}`).closest('.property').querySelector('input[type=range]');
            slider.value = arguments[1];
            slider.dispatchEvent(new Event('input'));""", name, place)

    def shoot(self, name):
        if PICTURES:
            PICTURES.mkdir(exist_ok=True)
            (PICTURES / f"{name}.png").write_bytes(base64.b64decode(
                self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]))

    def looks_right(self):
        """No text is cut off, and every one has the contrast of WCAG AA."""
        self.assertEqual(self.driver.execute_script(CUT_OFF), [])
        found = self.driver.execute_script(COLOURS)
        low = [(text, round(contrast(*colours), 2)) for text, *colours in found if contrast(*colours) < 4.5]
        self.assertEqual(low, [])

    def paused(self):
        self.until(lambda: self.green() > 0)
        self.find("#pause").click()
        self.until(lambda: self.find("#pause").text == "Play")
        time.sleep(0.5)

    def test_people_with_ids_are_seen_within_three_seconds(self):
        began = time.monotonic()
        self.start(str(STREET))
        opened = time.monotonic()
        self.until(lambda: self.picture().max() > 0)
        self.until(lambda: "person" in self.find("#counts").text)
        seconds = time.monotonic() - opened
        print(f"\nthe program listened after {opened - began:.1f} s, the page showed people {seconds:.1f} s after it was opened")
        self.assertLess(seconds, 3 * float(os.environ.get("CUDAVISION_SLOW", "1")))
        before = self.picture()
        self.until(lambda: (self.picture() != before).mean() > 0.01)  # it plays
        self.until(lambda: "ms" in self.find(".step .spent").text)
        self.find("#lists summary").click()
        self.until(lambda: "tracking" in self.find("#lists").text)
        self.looks_right()
        self.driver.execute_script("scrollTo(0, 0)")
        self.shoot("people")

    def test_a_slider_changes_the_edges_of_the_same_frame(self):
        self.start(*EDGES, str(STREET))
        self.paused()
        position, before = self.find("#time").text, self.green()
        began = time.monotonic()
        self.slide("p-0-high-threshold", 600)
        self.until(lambda: self.green() < before / 2)
        print(f"\na slider's effect was seen after {time.monotonic() - began:.2f} s")
        self.assertLess(time.monotonic() - began, 0.5 * float(os.environ.get("CUDAVISION_SLOW", "1")))
        self.slide("p-0-high-threshold", 300)
        self.until(lambda: self.green() > before / 2)
        self.assertEqual(self.find("#time").text, position)
        self.find("#forward").click()
        self.until(lambda: self.find("#time").text != position)

    def test_the_copied_line_gives_the_same_json(self):
        video = make_video(folder / "in.avi")
        self.start("--elements", "cudacanny output=overlay color=lime", video)
        self.paused()
        Select(self.find("#example")).select_by_visible_text("Lines")
        self.until(lambda: "cudahough" in self.find("#steps").text)
        self.slide("p-0-threshold", 350)
        self.until(lambda: "threshold=" in self.find("#launch").text)
        time.sleep(1)
        there = json.loads(self.driver.execute_async_script(
            "fetch(document.querySelector('#json').href).then((answer) => answer.text()).then(arguments[0])"))
        ran = subprocess.run(["bash", "-c", self.find("#launch").text], capture_output=True, text=True, check=True)
        same = [json.loads(line) for line in ran.stdout.splitlines() if json.loads(line)["pts"] == there["pts"]]
        self.assertEqual([{**line, "frame": 0} for line in same], [{**there, "frame": 0}])
        self.assertIn("lines", there)
        self.find("#python")
        self.driver.execute_script("document.querySelector('#python').closest('details').open = true")
        program = subprocess.run([sys.executable, "-c", self.find("#python").text], capture_output=True, text=True, check=True)
        self.assertEqual(len(program.stdout.splitlines()), 30)

    def test_an_element_says_on_the_page_what_it_refuses(self):
        self.start("--elements", "cudahistogram range-max=100", "videotestsrc is-live=true")
        self.until(lambda: self.find("#histogram").is_displayed())
        field = self.find("#p-0-range-min")
        field.clear()
        field.send_keys("150", Keys.ENTER)
        self.until(lambda: "range-min (150) must be less than range-max (100)" in self.find(".step .note").text)
        self.until(lambda: field.get_attribute("value") == "0")
        field.clear()
        field.send_keys("-7", Keys.ENTER)
        self.until(lambda: "it is from 0 to 255" in self.find("#toasts").text)
        self.until(lambda: field.get_attribute("value") == "0")
        Select(self.find("#add")).select_by_visible_text("cudahog")
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".step")) == 2)
        field = self.find("#p-1-block-stride")
        self.assertTrue(field.is_displayed())

    def test_warnings_are_seen_in_the_overview_under_the_picture_and_at_the_step(self):
        sideways = "videotestsrc is-live=true ! taginject tags=image-orientation=rotate-90 ! cudahough min-angle=80 display=false"
        self.start("--elements", "cudahough threshold=5000", sideways, "videotestsrc is-live=true")
        for selector, texts in (("#wall .error", ("image-orientation", "threshold is 5000")), ("#failure", ("image-orientation",)),
                                (".step .note", ("threshold is 5000",))):
            for text in texts:
                self.until(lambda: any(text in part.text for part in self.driver.find_elements(By.CSS_SELECTOR, selector)))
            if "wall" in selector:
                self.find("#wall a").click()

    def test_lines_and_zones_are_drawn_and_saved(self):
        self.start(*EDGES, str(STREET))
        self.paused()
        self.find("[data-draw=line]").click()
        svg = self.find("#left svg")
        hand = ActionChains(self.driver).move_to_element_with_offset(svg, -100, -100)
        hand.click_and_hold().move_by_offset(0, 200).release().perform()
        self.until(lambda: self.find("#zones").is_displayed())
        self.find("[data-draw=zone]").click()
        for moves in ("", Keys.ARROW_RIGHT * 20, Keys.ARROW_DOWN * 20):  # by the keyboard alone
            self.find("#left svg").send_keys(moves + Keys.ENTER)
        self.find("#left svg").send_keys(Keys.ARROW_LEFT * 20 + Keys.ARROW_UP * 20 + Keys.ENTER)
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, "#zones li")) == 2)
        self.find("#savezones").click()
        file = folder / "zones.json"
        saved = json.loads(self.until(lambda: file.is_file() and file.read_text(encoding="utf-8")))
        (line,), (zone,) = saved["lines"], saved["zones"]
        self.assertEqual((saved["units"], line["name"], zone["name"]), ("pixels", "line 1", "zone 1"))
        self.assertLessEqual(abs(line["from"][0] - line["to"][0]), 1)
        self.assertGreater(line["to"][1], line["from"][1] + 100)
        (x, y) = zone["polygon"][0]
        self.assertEqual(zone["polygon"], [[x, y], [x + 80, y], [x + 80, y + 80]])
        self.find("[data-draw=region]").click()
        for moves in ("", Keys.ARROW_RIGHT * 20 + Keys.ARROW_DOWN * 10):
            self.find("#left svg").send_keys(moves + Keys.ENTER)
        self.until(lambda: "roi-width=80 roi-height=40" in self.find("#launch").text)
        self.looks_right()
        self.shoot("zones")

    def test_four_corners_show_the_ground_from_above_and_are_its_metres(self):
        self.start("--elements", "cudarectify ! cudacanny output=overlay color=lime", str(STREET))
        self.paused()
        self.find("[data-draw=corners]").click()
        svg = self.find("#left svg")
        scale = self.driver.execute_script("return arguments[0].getBoundingClientRect().width", svg) / (768 * 1.5)  # with a margin
        corners = (380, 100), (500, 100), (700, 600), (-100, 560)  # the last ones lie outside of the frame
        for x, y in corners:
            place = [round((at - length / 2) * scale) for at, length in ((x, 768), (y, 576))]
            ActionChains(self.driver).move_to_element_with_offset(svg, *place).click().perform()
            if (x, y) == corners[2]:
                time.sleep(0.5)
                self.shoot("corners")
        text = self.until(lambda: re.search(r'corners="([^"]*).* view=plane', self.find("#launch").text))[1]
        for (x, y), pair in zip(corners, text.split(), strict=True):
            u, v = map(float, pair.split(","))
            self.assertLess(abs(u * 768 - x) + abs(v * 576 - y), 2 / scale)
        for name, length in ("wide", 6), ("long", 12):
            self.find(f"[aria-label='Metres, {name}']").send_keys(str(length), Keys.ENTER)
        for name, length in ("width", 300), ("height", 600):
            field = self.find(f"#p-0-{name}")
            self.driver.execute_script("arguments[0].closest('details').open = true", field)
            field.clear()
            field.send_keys(str(length), Keys.ENTER)
        self.until(lambda: self.picture().shape == (600, 300, 3))
        self.find("[data-draw=line]").click()
        ActionChains(self.driver).move_to_element_with_offset(svg, -50, 0).click_and_hold().move_by_offset(100, 0).release().perform()
        self.until(lambda: "line 1" in self.find("#left svg").get_attribute("textContent"))
        self.find("#savezones").click()
        file = folder / "zones.json"
        saved = json.loads(self.until(lambda: file.is_file() and file.read_text(encoding="utf-8")))
        file.unlink()
        self.assertEqual(saved["metres"], {"picture": [[0, 0], [299, 0], [299, 599], [0, 599]],
                                           "ground": [[0, 0], [6, 0], [6, 12], [0, 12]]})
        (x, y), (u, _) = saved["lines"][0]["from"], saved["lines"][0]["to"]
        self.assertLess(abs(x + u - 300) + abs(y - 300), 6)  # in the picture from above, whose middle it crosses
        self.looks_right()
        self.driver.execute_script("scrollTo(0, 0)")
        self.shoot("from_above")
        # In front of the step, the camera's own picture is there to draw on, without the line of the other one.
        self.find("[aria-label='Move cudacanny up']").click()
        self.until(lambda: re.search("cudacanny.*cudarectify", self.find("#launch").text))
        self.find("[data-draw=region]").click()
        self.assertEqual((svg.get_dom_attribute("viewBox"), svg.get_attribute("textContent")), ("0 0 768 576", ""))
        self.until(lambda: self.driver.execute_script("return document.querySelector('svg.still image').getBBox().width") == 768)
        self.shoot("still")

    def test_a_line_across_the_path_counts_people(self):
        """Counted by hand, 5 people cross it from left to right and 6 from right to left (tests/examples/count.sh)."""
        self.start(str(STREET))
        self.until(lambda: "person" in self.find("#counts").text)
        self.find("#pause").click()
        self.until(lambda: self.find("#pause").text == "Play")
        self.find("[data-draw=line]").click()
        svg = self.find("#left svg")
        scale = self.driver.execute_script("return arguments[0].getBoundingClientRect().width", svg) / 768
        hand = ActionChains(self.driver).move_to_element_with_offset(svg, *(round(v * scale) for v in (400 - 384, 275 - 288)))
        hand.click_and_hold().move_by_offset(0, round(205 * scale)).release().perform()
        self.until(lambda: "cudavisionzones" in self.find("#steps").text)
        self.assertEqual([step.find_element(By.TAG_NAME, "h3").text for step in self.driver.find_elements(By.CSS_SELECTOR, ".step")
                          if step.find_element(By.CSS_SELECTOR, "details").get_attribute("open")], ["4. cudavisionzones"])
        slider = self.find("#position")
        self.driver.execute_script("arguments[0].value = 0; arguments[0].dispatchEvent(new Event('input'))", slider)
        self.find("#pause").click()
        length = 79.5
        self.until(lambda: float(slider.get_attribute("value")) > length - 2, length + SECONDS)
        self.find("#pause").click()
        counted = {name: int(number) for name, number in re.findall(r"line 1, (\S+) (\d+)", self.find("#counts").text)}
        print(f"\ncounted {counted}, {self.find('.numbers').text}")
        self.shoot("counted")
        self.assertLessEqual(abs(counted["left-to-right"] - 5), 1)
        self.assertLessEqual(abs(counted["right-to-left"] - 6), 1)

    def test_a_heat_map_lies_over_the_picture(self):
        self.start(str(STREET))
        self.until(lambda: "person" in self.find("#counts").text)
        self.find("#heat").click()
        self.until(lambda: "seconds" in self.find("#heatbar output").text)
        Select(self.find("#heatbar select")).select_by_value("visits")
        self.until(lambda: "tracks" in self.find("#heatbar output").text)
        painted, size = self.driver.execute_script("""
            const map = document.querySelector('#left .heat');
            const pixels = map.getContext('2d').getImageData(0, 0, map.width, map.height).data;
            return [pixels.filter((value, n) => n % 4 === 3 && value === 255).length, [map.width, map.height]];""")
        self.assertEqual((size, painted % 256), ([768, 576], 0))
        self.assertGreater(painted, 5 * 256)
        time.sleep(8)
        self.looks_right()
        self.driver.execute_script("scrollTo(0, 0)")
        self.shoot("heat")
        self.find("#heat").click()
        self.until(lambda: not self.find("#left .heat").is_displayed())

    def test_presets_and_pictures_are_saved_and_opened(self):
        self.start(*EDGES, str(STREET))
        self.paused()
        self.slide("p-0-high-threshold", 500)
        self.until(lambda: "high-threshold=" in self.find("#launch").text)
        line = self.find("#launch").text
        self.find("#savepreset").click()
        self.until(lambda: (folder / "preset.json").is_file())
        Select(self.find("#example")).select_by_visible_text("Keypoints")
        self.until(lambda: "cudasigma2kp" in self.find("#launch").text)
        self.find("#openpreset").send_keys(str(folder / "preset.json"))
        self.until(lambda: self.find("#launch").text == line)
        self.find("#save").click()
        saved = self.until(lambda: next(folder.glob("vtest.avi-left*.png"), None))
        with Image.open(saved) as picture:
            self.assertEqual(picture.size, (768, 576))

    def test_two_settings_side_by_side(self):
        self.start(*EDGES, str(STREET))
        self.paused()
        self.find("#compare").click()
        self.until(lambda: self.find("#right").is_displayed())
        self.find("[data-side=right]").click()
        self.slide("p-0-high-threshold", 700)
        self.until(lambda: (self.picture() != self.picture("right")).mean() > 0.01)
        self.looks_right()
        self.shoot("side_by_side")

    def test_the_keyboard_alone_is_enough(self):
        self.start(*EDGES, str(STREET))
        self.until(lambda: self.green() > 0)
        reached = set()
        self.find("body").click()
        for _ in range(80):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            reached.add(self.driver.execute_script(
                "const at = document.activeElement; return at.id || at.textContent.trim() || at.getAttribute('aria-label')"))
            if self.driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle") == "none":
                self.assertEqual(self.driver.execute_script("return document.activeElement.tagName"), "BODY")
        self.assertLessEqual({"pause", "back", "forward", "position", "compare", "save", "end", "add", "example",
                              "p-0-low-threshold", "savepreset"}, reached)
        self.find("#pause").send_keys(Keys.SPACE)
        self.until(lambda: self.find("#pause").text == "Play")

    def test_a_phone(self):
        for dark in True, False:
            self.start("--elements", "cudacanny output=overlay color=lime ! cudahistogram", str(STREET),
                       "videotestsrc is-live=true", width=360, dark=dark)
            self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".tile")) == 2)
            time.sleep(1)
            self.looks_right()
            self.shoot(f"phone_wall_{dark}")
            self.find(".tile").click()
            self.until(lambda: self.green() > 0)
            self.driver.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
            time.sleep(1.5)
            self.looks_right()
            self.shoot(f"phone_{dark}")
            if dark:
                self.tearDown()

    def test_the_page_says_what_it_waits_for(self):
        """A server that accepts and says nothing, and steps that hold frames back."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.start(f"http://127.0.0.1:{silent.getsockname()[1]}/x.mp4")
            self.until(lambda: self.find("#left .waits").text == "Waiting for the source: no video has come yet.")
            self.looks_right()
            self.shoot("waits")
            alone = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=800,600",
                                    f"--user-data-dir={folder / 'alone'}", f"--screenshot={folder / 'alone.png'}",
                                    self.live.base], capture_output=True, check=False, timeout=120)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            with Image.open(folder / "alone.png") as picture:
                pixels = numpy.asarray(picture.convert("L"))
            self.assertGreater((pixels < 32).sum(), 50)  # letters
            self.assertLess((pixels < 32).mean(), 0.1)
            self.tearDown()
        self.start("--elements", "cudabgsub display=false ! cudavisionredact look-back-time=4000000000", str(STREET))
        self.until(lambda: "frames back" in self.find("#left .waits").text)
        self.until(lambda: self.picture().max() > 0)
        self.until(lambda: not self.find("#left .waits").is_displayed())
        self.driver.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
        self.slide("p-1-look-back-time", 300)
        self.until(lambda: "look-back-time=1500000000" in self.find("#launch").text)

    def test_all_examples_work(self):
        self.start(*EDGES, "videotestsrc is-live=true ! video/x-raw,width=320,height=240")
        self.until(lambda: "Lines" in self.find("#example").text)
        for example in [option.text for option in Select(self.find("#example")).options[1:]]:
            before = self.find("#launch").text
            Select(self.find("#example")).select_by_visible_text(example)
            if example != "Edges":
                self.until(lambda before=before: self.find("#launch").text != before)
            self.assertEqual((self.find("#toasts").text, self.find("#failure").is_displayed()), ("", False), example)

    def test_a_camera_that_fails_is_seen(self):
        self.start(str(STREET), "videotestsrc ! identity error-after=5", dark=True)
        self.until(lambda: "Failed after iterations as requested" in self.find("#wall").text)
        self.looks_right()
        self.shoot("wall")

    def test_a_server_that_ends_is_said(self):
        self.start("videotestsrc is-live=true")
        self.until(lambda: self.find("#link").text == "connected")
        self.assertEqual(self.live.stop(), (0, ""))
        self.until(lambda: "connection lost" in self.find("#link").text)
        self.driver.get("about:blank")
        self.driver.get_log("browser")  # discards the errors of attempts to connect
        self.live = Live()


if __name__ == "__main__":
    try:
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(folder)
