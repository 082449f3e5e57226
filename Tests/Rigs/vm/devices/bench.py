"""A camera of ours and ffmpeg at the same camera, in turn: CPU per frame, and time from the driver's time stamp to the
packet."""
import json
import pathlib
import re
import statistics
import time

from boxed.checks import Checks
from devices.bench_trace import Trace
from devices.guest import HOST
from devices.unit import Camera

STATE = "/run/watchbox-camera"
PRIVATE = "/run/private/watchbox-camera"
WARM = 5
"""Seconds of stream before figures count: what queued up while the programs started is gone by then."""
# Moves, so that there is something to encode. Its time stamps are of the start of exposure: vivid's others are of an end that
# lies up to one frame in the future.
CAMERA = "osd_text_mode=2 horizontal_movement=4 timestamp_source=1"
LIMITS = (50_000, 100_000, 200_000, 300_000, 500_000, 700_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000,
          33_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000, 1_000_000_000)
"""Of DurationHistogram, nanoseconds."""


class CannotHold(Exception):
    """This machine is too slow for what is to be measured."""


class Quiet(Checks):
    """Only what goes wrong is worth a line here."""

    def _report(self, holds, what, evidence=None):
        if not holds:
            super()._report(holds, what, evidence)


class LoggedCamera(Camera):
    """With a line for each unit that it seals."""

    def settings(self):
        return {**super().settings(), "frameLog": f"{STATE}/{self.camera}/frames"}

    def log(self):
        done = self.guest.run(f"cp {PRIVATE}/{self.camera}/frames /share/files/frames", limit=60)
        if not done.ok:
            raise OSError(f"no frame log: {done}")
        lines = self.guest.file("frames").read_text().split("\n")[:-1]
        return [frame for frame in map(json.loads, lines) if frame["track"] == "video"]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def upper_end(counts, part):
    """Of the class of a DurationHistogram that holds this part of all, in words."""
    seen = 0
    for limit, count in zip(LIMITS, counts):
        seen += count
        if seen and seen >= sum(counts) * part:
            return f"≤ {limit / 1e6:g} ms"
    return f"> {LIMITS[-1] / 1e6:g} ms"


class Bench:
    def __init__(self, guest, host, tree, options):
        self.guest, self.host, self.options = guest, host, options
        self.trace = Trace(guest, tree)
        self.rows, self.reported = [], {}
        self.preset = None
        # Of each round, ours and the peer's.
        self.cpu, self.p50, self.p99, self.added50, self.added99 = (([], []) for _ in range(5))
        self.copies = []
        self.own = [0] * (len(LIMITS) + 1)
        self._do("v4l2-ctl -d /dev/video0 " + " ".join(f"-c {setting}" for setting in CAMERA.split()), 30)

    def note(self, what):
        print(f"· {what}", flush=True)

    def clock(self):
        """What the reader of ffmpeg's packets adds to their latency."""
        out = self._do("bench-sampler delay | bench-sampler stamp", 60)
        late = [(int(there) - int(sent)) / 1e6 for there, sent in (line.split() for line in out.splitlines())]
        self.reported["readerMilliseconds"] = round(statistics.median(late), 3)
        self.note(f"a line through a pipe to the program that notes when ffmpeg's packets come takes "
                  f"{statistics.median(late):.2f} ms (p50) here; it is in ffmpeg's latency")

    # ---- one round ----

    def round(self, number):
        waited = [self._waited()]
        ours = self._ours(number)
        waited.append(self._waited())
        peer = (self._peer_cpu(number), *self._peer_latency())
        waited.append(self._waited())
        for pairs, mine, theirs in zip((self.cpu, self.p50, self.p99, self.added50, self.added99), ours, peer):
            pairs[0].append(mine)
            pairs[1].append(theirs)
        self.note(f"round {number + 1} (preset {self.preset}): CPU per frame ours {ours[0]:.2f} ms, ffmpeg {peer[0]:.2f} ms")
        for who, figures in (("ours", ours), ("ffmpeg", peer)):
            self.note(f"round {number + 1}, {who}: latency p50 {figures[1]:.1f} p99 {figures[2]:.1f} ms; medians: the driver "
                      f"{figures[5]:.1f} ms, x264 {figures[6]:.1f} ms, the rest {figures[3]:.2f} ms (p99 {figures[4]:.2f} ms)")

        busy = [(after[0] - before[0]) / (after[1] - before[1]) * 100 for before, after in zip(waited, waited[1:])]
        self.reported.setdefault("waitedPercent", []).append([round(part, 1) for part in busy])
        self.note(f"round {number + 1}: the guest waited for a processor of this machine {busy[0]:.0f} % of the time with "
                  f"ours, {busy[1]:.0f} % with ffmpeg; the more these differ, the less the round says")

    def _waited(self):
        """How long QEMU's threads were ready and had no processor so far, and the instant; seconds. The guest takes that for
        CPU time of its own programs."""
        delays = []
        for file in pathlib.Path("/proc", str(self.guest.process.pid), "task").glob("*/schedstat"):
            try:
                delays.append(int(file.read_text().split()[1]))
            except OSError:  # a thread that has ended
                pass
        return sum(delays) / 1e9, time.monotonic()

    def _latencies(self, packets):
        """p50 and p99 of the whole, p50 and p99 of what the program added, medians of the driver and of x264; milliseconds."""
        parts = self.trace.end()
        found = list(filter(None, (parts(*packet) for packet in packets)))
        if len(found) < len(packets) * 0.9:
            raise ValueError(f"the trace explains {len(found)} of {len(packets)} frames")
        driver, encoder, added = zip(*found)
        whole = [(instant - captured) / 1e6 for captured, instant in packets]
        return (percentile(whole, 0.5), percentile(whole, 0.99), percentile(added, 0.5), percentile(added, 0.99),
                percentile(driver, 0.5), percentile(encoder, 0.5))

    def _ours(self, number):
        self.trace.begin()
        camera = self._camera("bench", self.options.width, self.options.height, self.options.rate)
        try:
            capture = camera.capture()
            preset = re.search(r"preset (\w+)", capture["encoderReason"] or "")
            if capture["encoder"] != "libx264" or not preset:
                raise ValueError(f"ours encodes with {capture['encoder']}: {capture['encoderReason']}")
            self.preset = preset.group(1)
            before, after, (begin, end, usage) = self._sample(camera)
        finally:
            camera.stop()
        frames = [frame for frame in camera.log() if begin < frame["instant"] <= end]
        self._expect_pictures("ours", len(frames), (end - begin) / 1e9)
        self.copies.append(after["copiesPerFrame"])
        for index, (one, other) in enumerate(zip(before["ownDurations"]["counts"], after["ownDurations"]["counts"])):
            self.own[index] += other - one
        return usage / 1e3 / len(frames), *self._latencies([(frame["captured"], frame["instant"]) for frame in frames])

    def _camera(self, name, width, height, rate):
        """One that publishes in full size and rate, or CannotHold: what a busy machine was found not to hold is tried again."""
        for _ in range(3):
            # A stream name of its own: the relay keeps one for a second longer.
            camera = LoggedCamera(
                self.guest, self.host, name, Quiet("vm-bench"), width=width, height=height, frameRate=rate,
                bitrate=self.options.bitrate, gopSeconds=1, encoder="libx264", pixelFormat="yu12",
                encoderMemoryFile=f"{STATE}/{name}/encoder.json")
            camera.start()
            camera.checks.until("ours publishes", camera.publishing, needed=True)
            limit = camera.capture().get("limit")
            if not limit:
                return camera
            camera.stop()
            camera.forget()
        raise CannotHold(f"this machine is too slow for {width}x{height} at {rate}/s in a guest: {limit}")

    def _sample(self, camera):
        """Figures before and after, and what the sampler says of the time between."""
        group = self.guest.property(camera.unit, "ControlGroup")
        before = camera.capture()
        out = self._do(f"bench-sampler unit {group} {WARM} {self.options.seconds}", WARM + self.options.seconds + 60)
        return before, camera.capture(), tuple(map(int, out.split()))

    def _encoding(self):
        """What our encoder is opened with (VideoCodec's EncoderOpening)."""
        rate, bitrate = self.options.rate, self.options.bitrate
        return (f"-f v4l2 -input_format yuv420p -video_size {self.options.width}x{self.options.height} -framerate {rate} "
                f"%s -i /dev/video0 -an -c:v libx264 -preset {self.preset} -tune zerolatency -b:v {bitrate} -maxrate {bitrate} "
                f"-bufsize {bitrate // 2} -g {rate} -bf 0 -forced-idr 1 -x264-params scenecut=0")

    def _peer_cpu(self, number):
        out = self._do(f"""
rm -f /run/progress; mkfifo /run/progress
systemd-run --quiet --collect --unit=peer ffmpeg -hide_banner -nostdin -loglevel error -nostats -stats_period 1 \\
    -progress /run/progress -y {self._encoding() % ""} -f flv rtmp://{HOST}:{self.host.relay_port}/live/peer{number} || exit 1
group=$(systemctl show --property=ControlGroup --value peer)
bench-sampler progress "$group" {WARM} {self.options.seconds} </run/progress
status=$?
[ $status = 0 ] || journalctl --no-pager --lines=20 --unit=peer
systemctl stop peer 2>/dev/null
exit $status""", WARM + self.options.seconds + 90)
        begin, end, usage, frames = map(int, out.split())
        self._expect_pictures("ffmpeg", frames, (end - begin) / 1e9)
        return usage / 1e3 / frames

    def _peer_latency(self):
        """Time stamps as the driver gives them (-ts default, -copyts), in their own unit all the way (-enc_time_base)."""
        seconds = WARM + self.options.seconds
        self.trace.begin()
        # Not -t: with -copyts that is an instant of the driver's clock.
        out = self._do(f"""set -o pipefail
ffmpeg -hide_banner -nostdin -loglevel error -nostats -copyts {self._encoding() % "-ts default"} -enc_time_base 1:1000000 \\
    -frames:v {seconds * self.options.rate} -flush_packets 1 -f framecrc pipe:1 | bench-sampler stamp""", seconds + 90)
        unit, packets = None, []
        for line in out.splitlines():
            found = re.match(r"(\d+) #tb 0: (\d+)/(\d+)", line)
            if found:
                unit = int(found[2]) * 1_000_000_000 / int(found[3])
            found = re.match(r"(\d+) 0, *(-?\d+), *(-?\d+),", line)
            if found:
                packets.append((int(int(found[3]) * unit), int(found[1])))
        if not packets:
            raise ValueError(f"ffmpeg gave no packet: {out[-1000:]}")
        begin, end = packets[0][1] + WARM * 1_000_000_000, packets[-1][1]
        counted = [packet for packet in packets if packet[1] >= begin]
        self._expect_pictures("ffmpeg", len(counted), (end - begin) / 1e9)
        return self._latencies(counted)

    def _expect_pictures(self, who, count, seconds):
        expected = self.options.rate * seconds
        if count < expected * 0.5:
            raise CannotHold(f"this machine is too slow: {who} made {count} frames of {expected:.0f} in a guest")
        if count < expected * 0.9:
            self.note(f"{who} made only {count} frames of {expected:.0f}")

    def _do(self, script, limit):
        done = self.guest.run(script, limit)
        if not done.ok:
            raise OSError(f"in the guest: {done}")
        return done.out

    # ---- what came out ----

    def assess(self):
        name = f"{self.options.width}x{self.options.height} YU12, libx264"
        self._row(f"{name}, sealed: CPU per frame", self.cpu, "ms", 1.0)
        self._row(f"{name}, sealed: latency p50", self.p50, "ms", 0.5)
        self._row(f"{name}, sealed: latency p99", self.p99, "ms", 0.5)
        self._row("of that, outside driver and x264: p50", self.added50, "ms", 0.5)
        self._row("of that, outside driver and x264: p99", self.added99, "ms", 0.5)
        copies = max(self.copies)
        self.rows.append({"name": "copies of a raw YU12 frame", "ours": copies, "unit": "copies", "bar": "≤ 0",
                          "met": copies == 0})
        print(f"{'copies of a raw YU12 frame':<46} ours {copies:9d} (bar ≤ 0) {'MISSED' if copies else 'ok'}", flush=True)
        words = {part: upper_end(self.own, part / 100) for part in (50, 99)}
        self.reported["ownLatency"] = {"p50": words[50], "p99": words[99], "counts": self.own}
        self.note(f"of our latency, outside the encoder: p50 {words[50]}, p99 {words[99]} (classes of a histogram; the bar of "
                  "1 ms is for a machine, and this guest is 10 to 20 times as slow)")

    def _row(self, name, pairs, unit, bar):
        ours, peer = pairs
        ratios = [one / other for one, other in zip(ours, peer)]
        ratio = statistics.median(ratios)
        self.rows.append({"name": name, "ours": statistics.median(ours), "peer": statistics.median(peer), "unit": unit,
                          "ratio": round(ratio, 3), "ratios": [round(one, 3) for one in ratios], "bar": f"≤ {bar}",
                          "met": ratio <= bar})
        print(f"{name:<46} ours {statistics.median(ours):9.2f}  peer {statistics.median(peer):9.2f} {unit:<9} "
              f"ratio {ratio:5.2f} (bar ≤ {bar}) {'ok' if ratio <= bar else 'MISSED'}", flush=True)

    def large(self):
        """1920x1080, as fast as a guest holds: only our own part of it is asked for."""
        for rate in (2, 1):
            try:
                camera = self._camera("large", 1920, 1080, rate)
                break
            except CannotHold as reason:
                words = str(reason)
        else:
            self.note(f"1920x1080 was not measured: {words}")
            return
        try:
            before, after, _ = self._sample(camera)
        finally:
            camera.stop()
        pictures = after["captured"] - before["captured"]
        if not pictures:
            raise ValueError(f"no frames of 1920x1080: {after}")
        each = (after["threadNanoseconds"] - before["threadNanoseconds"]) / pictures / 1e6
        counts = [other - one for one, other in zip(before["ownDurations"]["counts"], after["ownDurations"]["counts"])]
        self.reported["large"] = {"rate": rate, "pictures": pictures, "outsideEncoderMilliseconds": round(each, 3),
                              "copies": after["copiesPerFrame"], "ownP50": upper_end(counts, 0.5),
                              "ownP99": upper_end(counts, 0.99)}
        self.note(f"1920x1080 at {rate}/s, {pictures} frames: {each:.2f} ms CPU of the camera's thread outside the encoder "
                  f"for each, {after['copiesPerFrame']} copies; our part of the latency p50 {upper_end(counts, 0.5)}, "
                  f"p99 {upper_end(counts, 0.99)}")
