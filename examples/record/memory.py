# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a camera has sent last, still encoded. A group begins with a key frame, without which none of it can be decoded."""
import collections
import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Packet:
    """A frame of video, or some sound. Times are running times in nanoseconds; they can lie before 0."""

    is_video: bool
    is_key: bool
    time: int  # when it is shown
    order: int  # when it is decoded
    caps: typing.Any
    buffer: typing.Any

    @property
    def size(self):
        return self.buffer.get_size()


class Memory:
    """The packets have numbers that go on for ever. `most` bounds their bytes."""

    def __init__(self, most):
        self.most, self.bytes, self.first = most, 0, 0
        self.packets, self.keys = collections.deque(), collections.deque()  # keys: the numbers of the key frames
        self.audio_caps = None
        self.is_short = False  # something that a clip could have needed was dropped, to stay below `most`

    @property
    def end(self):
        return self.first + len(self.packets)

    def at(self, number):
        return self.packets[number - self.first]

    def append(self, packet):
        if packet.is_key:
            self.keys.append(self.end)
        if not packet.is_video:
            self.audio_caps = packet.caps
        self.packets.append(packet)
        self.bytes += packet.size

    def begin(self, time):
        """The number of the last key frame at or before the time, or else of the first one; None without any."""
        before = [number for number in self.keys if self.at(number).time <= time]
        return before[-1] if before else self.keys[0] if self.keys else None

    def sound_before(self, number):
        """Sound arrives a little before or after the frames that it belongs to."""
        begin = self.at(number).time
        return [packet for packet in list(self.packets)[: number - self.first] if not packet.is_video and packet.time >= begin]

    def trim(self, time, cursor):
        """Drops what lies more than a group before the time, or too much, but nothing from the number `cursor` on."""
        needed = self.begin(time)
        if needed is not None:  # the group before has the sound that came early
            needed = max((number for number in self.keys if number < needed), default=needed)
        while self.first < cursor and (self.bytes > self.most or needed is None or self.first < needed):
            self.is_short |= needed is not None and self.first >= needed
            packet = self.packets.popleft()
            self.bytes -= packet.size
            if packet.is_key:
                self.keys.popleft()
            self.first += 1
