"""A camera that libcamera makes out of a sensor, its receiver and its converter: vimc. What `cam` shows is the second opinion."""
import json
import shlex
import statistics
import time

from boxed.checks import Not
from devices.publishing import likeness, watch
from devices.tool import check, decoded, event, events
from devices.unit import Camera, reported

HELPER = "/usr/libexec/watchbox/watchbox-libcamera"
# Sides of vimc's frames are multiples of 6 in libcamera 0.0.3.
SIZE = (384, 216)


def run(guest, host, checks):
    done = guest.run("modprobe vimc && udevadm settle && cam --list", limit=90)
    checks.expect("libcamera lists vimc", done.ok and "vimc" in done.out.lower(), done, needed=True)
    name = listed(guest, checks)
    picture = captured(guest, checks, name)
    beside_v4l2(guest, checks, picture)
    controls(guest, checks)
    refused(guest, checks, name)
    published(guest, host, checks, picture)
    helper_lost(guest, host, checks)
    waited_for(guest, host, checks)
    checks.expect("nothing holds vimc any more", guest.run("rmmod vimc").ok)


def listed(guest, checks):
    """Its name."""
    done = guest.run(f"{HELPER} --version")
    checks.expect("the helper says what it is made for", done.ok and "libcamera" in done.out, done)
    checks.note(done.out.strip())
    guest.run("install -d -m 0700 /run/credentials/unit && echo secret >/run/credentials/unit/key")
    tried = dict(line.rsplit(": ", 1) for line in guest.run(
        f"{HELPER} --try /usr/lib/os-release /dev/media0 /run/credentials/unit/key /root /var/lib /proc/1/mem /proc/1/environ").out.splitlines())
    checks.same("it reads libraries and devices, and as root no secret and no other process", tried, {
        "/usr/lib/os-release": "readable", "/dev/media0": "readable", **dict.fromkeys((
            "/run/credentials/unit/key", "/root", "/var/lib", "/proc/1/mem", "/proc/1/environ"), "Permission denied")})
    document = guest.run("watchboxctl discover --local --json", limit=90).document
    found = [node for node in document["nodes"] if node["bus"] == "csi"]
    checks.same("one camera at a ribbon cable", len(found), 1)
    camera = found[0]
    checks.same("it is a camera, of libcamera", (camera["kind"], camera["driver"]), ("camera", "libcamera"))
    checks.expect("with formats that can be published", any(format["isUsable"] for format in camera["formats"]), camera)
    checks.same("vivid beside it is V4L2's, and not listed twice", sorted(
        node["device"] for node in document["nodes"] if node["kind"] == "camera"), ["/dev/video0", camera["device"]])
    checks.note(f"{camera['device']} ({camera['name']}): " + ", ".join(
        f"{format['pixelFormat']} {format['size']}" for format in camera["formats"][:4]))
    return camera["device"]


def captured(guest, checks, name):
    """A frame, as raw yuv420p would be compared: what both see is the sensor's test pattern."""
    width, height = SIZE
    for path in (name, "csi:"):
        done = check(guest, f"capture {shlex.quote(path)} {width}x{height} --count 5", limit=120)
        checks.expect(f"{path} delivers frames", done.ok and event(done, "end")["pictures"] == 5, done, needed=True)
    setup = event(done, "setup")
    checks.note(f"{setup['format']} {setup['width']}x{setup['height']}, {setup['bytesPerLine']} bytes a line")
    frames = events(done, "picture")
    checks.expect("with the driver's time stamps, which grow", all(
        one["timestamp"] < other["timestamp"] for one, other in zip(frames, frames[1:])), frames)
    checks.same("and its numbers", sorted({frame["sequence"] for frame in frames}), [frame["sequence"] for frame in frames])
    return setup


def beside_v4l2(guest, checks, setup):
    """What comes from libcamera and what comes without it, of one camera: its pipeline is still as libcamera set it up, so the kernel's own calls
    get the same frames of its last stage. Behind the arrival of a frame both ways are the same code."""
    node = guest.run("dirname $(grep -l 'RGB/YUV Capture' /sys/class/video4linux/*/name)").out.strip().split("/")[-1]
    ways = {"through libcamera": "csi:", "by V4L2": f"--pipeline-stage --format {setup['format']} /dev/{node}"}
    delays = {way: [] for way in ways}
    # In turns, since a machine that is busy is busy for both.
    for _ in range(3):
        for way, path in ways.items():
            done = check(guest, f"capture {path} {SIZE[0]}x{SIZE[1]} --count 40", limit=120)
            checks.expect(f"frames come {way}", done.ok, done, needed=True)
            delays[way] += [(frame["received"] - frame["timestamp"]) / 1e6 for frame in events(done, "picture")]
    median = {way: statistics.median(delays[way]) for way in ways}
    extra = median["through libcamera"] - median["by V4L2"]
    checks.note("from the driver's time stamp to the frame in our hands: " + ", ".join(
        f"{median[way]:.2f} ms {way}" for way in ways) + f"; libcamera's way costs {extra:.2f} ms (promised: 2)")
    checks.expect("no more than four times that", extra <= 8, f"{extra:.2f} ms")


def controls(guest, checks):
    done = guest.run("watchboxctl camera controls csi: --json | tee /tmp/controls.json", limit=90)
    ours = {control["name"] for control in done.document["controls"]}
    # libcamera 0.4: "Control: [inout] libcamera::Brightness: …".
    theirs = {line.removeprefix("Control: ").removeprefix("[inout] ").removeprefix("libcamera::").split(":")[0] for line in guest.run("cam --camera 1 --list-controls", limit=60).out.splitlines()
              if line.startswith("Control:")}
    snake = {"".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_") for name in theirs}
    checks.same("each control that cam lists, by its name", sorted(snake - ours), [])
    checks.note(f"controls: {', '.join(sorted(ours))}")


def refused(guest, checks, name):
    done = check(guest, "capture csi:/base/none 384x216 --count 1", limit=90)
    error = event(done, "error") if not done.ok else {}
    checks.same("a name that libcamera does not list: wait for it", (error.get("case"), error.get("remedy")),
                ("notThere", "waitForDevice"))
    done = guest.run("""
cam --camera 1 --capture=100000 >/tmp/cam.txt 2>&1 &
holder=$!
for _ in {1..600}; do grep -q bytesused /tmp/cam.txt && break; kill -0 $holder || { cat /tmp/cam.txt; break; }; sleep 0.1; done
DeviceCheck capture csi: 384x216 --count 1
kill $holder; wait $holder
echo "holder $holder"
""", limit=120)
    error = event(done, "error")
    holder = done.out.split("holder ")[-1].strip()
    checks.same("another program has it: wait for that", (error["case"], error["remedy"]), ("busy", "waitForDevice"))
    checks.expect("and which one it is", f"Process {holder} (cam)" in error["why"], error)
    checks.note(f"{error['why']}")
    done = guest.run("mount -t tmpfs none /usr/libexec/watchbox && DeviceCheck capture csi: 384x216 --count 1; umount /usr/libexec/watchbox")
    error = event(done, "error")
    checks.same("without the helper it is waited for", (error["case"], error["remedy"]), ("noHelper", "waitForDevice"))
    checks.expect("and the message says how to get it", "watchbox-libcamera" in error["hint"], error)


def published(guest, host, checks, setup):
    """The guest's encoder loses nothing, so what the viewer decodes is what was given to it."""
    width, height = 576, 432
    camera = Camera(guest, host, "ribbon", checks, keeps_log=True, path="csi:", width=width, height=height, frameRate=10,
                    gopSeconds=2)
    capture = camera.start_as_asked("a CSI camera is published")["capture"]
    checks.same("through the hardware encoder", capture["encoder"], "h264_v4l2m2m")
    checks.expect("status names it", capture["device"].startswith("csi:"), capture["device"])
    film, opened = watch(host, checks, camera, 30, "a viewer on the other machine opens 30 frames")
    sealed = {line["dts"]: line for line in camera.sealed()}
    checks.same("each is what the encoder made, to the bit", [frame["dts"] for frame in opened if frame["sha256"] != sealed.get(
        frame["dts"], {}).get("sha256")], [])
    checks.note(f"from libcamera's time stamp to sealed: {delay(sealed.values()):.1f} ms at the median")
    if film:
        shown = decoded(film, width, height)
        checks.expect("ffmpeg decodes what it wrote", len(shown) >= 30, len(shown))
        snapshot = guest.run(f"curl --silent --fail --unix-socket /run/watchbox/camera/ribbon.sock "
                             "--output /share/files/ribbon.jpg http://camera/api/v1/snapshot")
        if checks.expect("a snapshot", snapshot.ok, snapshot):
            alike = likeness(decoded(guest.file("ribbon.jpg"), width, height)[0], shown[0])
            checks.expect("shows the same", alike > 25, f"{alike:.1f} dB")
    checks.note(reported(camera.capture()))
    idle = guest.run("cat /tmp/controls.json").document["controls"]
    status, text = guest.call(camera.camera, "/api/v1/controls")
    checks.same("its controls can be read while it publishes", (status, {one["name"] for one in json.loads(text)["controls"]}), (
        200, {one["name"] for one in idle}))
    masked(guest, host, checks, camera)
    changed(guest, checks, camera)
    checks.note(f"stopped in {camera.stop():.1f} s")
    checks.until("and nothing of it is left", lambda: not guest.run("pgrep -f watchbox-libcamera").ok or Not("the helper runs"))


def delay(sealed):
    """Milliseconds from the driver's time stamp until a frame is sealed."""
    return statistics.median(line["instant"] - line["captured"] for line in sealed if "captured" in line) / 1e6


def masked(guest, host, checks, camera):
    camera.stop()
    camera.device["masks"] = [{"x": 0, "y": 0, "width": 0.5, "height": 1}]
    camera.start_as_asked("with a mask over its left half")
    film, _ = watch(host, checks, camera, 10, "a viewer opens 10 frames")
    if film:
        width, height = camera.device["width"], camera.device["height"]
        row = decoded(film, width, height)[-1][width * height // 2:][:width]
        checks.expect("its left half is black, its right half is not", max(row[:width // 2 - 8]) < 24 and max(row[width // 2 + 8:]) > 60,
                      (max(row[:width // 2 - 8]), max(row[width // 2 + 8:])))


def changed(guest, checks, camera):
    process = camera.process()
    status, text = guest.call(camera.camera, "/api/v1/video", "PATCH", {"frameRate": 5, "width": 288, "height": 216})
    checks.expect("rate and size change while it publishes", status == 204, (status, text))
    checks.until("and are what is published", lambda: (lambda capture: (
        (capture["width"], capture["height"]) == (288, 216)) or Not(reported(capture)))(camera.capture()))
    checks.same("by the same process", camera.process(), process)


def helper_lost(guest, host, checks):
    """A helper that is killed or hangs costs its camera less than three seconds, and its process nothing."""
    camera = Camera(guest, host, "ribbon", checks, path="csi:", width=SIZE[0], height=SIZE[1], frameRate=10, encoder="libx264")
    camera.start_as_asked("published again, through libx264")
    viewer = host.viewer("ribbon")
    checks.until("a viewer watches it", lambda: viewer.pictures(10), needed=True)
    process = camera.process()
    for signal, words in (("KILL", "is killed"), ("STOP", "stands still")):
        helper = guest.run("pgrep -x -f '.*watchbox-libcamera'").out.strip()
        checks.expect("one helper runs", helper.isdigit(), helper, needed=True)
        threads = guest.run(f"grep -h NoNewPrivs /proc/{helper}/task/*/status | sort -u").out.split()
        checks.same("and each of its threads is held", threads, ["NoNewPrivs:", "1"])
        since, count = time.monotonic(), len(viewer.frames())
        guest.run(f"kill -{signal} {helper}")
        checks.until(f"the helper {words}: another one takes over", lambda: (lambda now: (
            now.isdigit() and now != helper) or Not(now))(guest.run("pgrep -x -f '.*watchbox-libcamera'").out.strip()))
        # Those that were on their way do not count.
        checks.until("and the viewer sees frames again", lambda: (
            len(viewer.frames()) > count + 20 and camera.publishing()) or Not(f"{len(viewer.frames()) - count} frames"))
        gap = viewer.gap(since)
        checks.promise(f"the helper {words}: the viewer is without a frame", gap, 3)
        checks.note(f"the helper {words}: {gap:.1f} s without a frame; {reported(camera.capture())}")
    checks.same("in the same process of the camera", camera.process(), process)
    viewer.clean(checks, "the viewer opened every frame that was sent, through all that")
    camera.stop()


def waited_for(guest, host, checks):
    """Another program has the camera, then no one, then it is gone, then it is there."""
    guest.run("systemd-run --quiet --unit=other cam --camera 1 --capture=1000000")
    checks.until("another program takes the camera", lambda: "bytesused" in guest.journal("other.service") or Not(
        guest.journal("other.service")), needed=True)
    camera = Camera(guest, host, "ribbon", checks, path="csi:", width=SIZE[0], height=SIZE[1], frameRate=10, encoder="libx264")
    camera.start()
    waiting = checks.until("another program has it: the unit is up, and waits", camera.waits("WB-2202"), needed=True)
    checks.expect("and names its process", f"Process {guest.property('other.service', 'MainPID')}" in waiting["reason"], waiting["reason"])
    checks.note(f"{waiting['code']}: {waiting['reason']}")
    guest.run("systemctl stop other")
    checks.until("it is free, and is published", camera.publishing, needed=True)
    checks.expect("the unit was up all the time", guest.property(camera.unit, "NRestarts") == "0", camera.words())
    camera.stop()
