"""What goes wrong with devices costs the one camera as little as can be; what is changed costs nothing."""
import subprocess
import time

from boxed.checks import Not
from devices.capture import LINK, still
from devices.publishing import SMALL, expected, likeness
from devices.tool import decoded
from devices.unit import Camera, plug, reported


def run(guest, host, checks):
    still(guest)
    changes(guest, host, checks)
    refused(guest, host, checks)
    hangs(guest, host, checks)
    stopped(checks, unplugged(guest, host, checks))


def is_new(camera, before):
    def look():
        now = camera.process()
        return now if now not in (before, "0", "") else Not(f"process {now}")
    return look


def hang(guest, process):
    """Fixed as soon as the process is gone, so that the next one can have the encoder."""
    return guest.run(f"""
echo 1 >/sys/module/wb_h264sim/parameters/hang_after
for _ in {{1..600}}; do kill -0 {process} 2>/dev/null || break; sleep 0.05; done
echo 0 >/sys/module/wb_h264sim/parameters/hang_after
! kill -0 {process} 2>/dev/null""", limit=60)


def hangs(guest, host, checks):
    """An encoder in the kernel that does not answer: nothing inside the process gets it out of there."""
    camera = Camera(guest, host, "hangs", checks)
    camera.start_as_asked("a camera chooses its encoder, and is published")
    checks.until("with the hardware encoder", lambda: (lambda capture: capture["isHardwareEncoder"] or Not(
        capture["encoderReason"]))(camera.capture()), needed=True)
    viewer = host.viewer("hangs")
    checks.until("a viewer watches it", lambda: viewer.pictures(5), needed=True)

    # The simulated encoder of a busy machine can miss its second by itself: then that is the hang of this turn.
    def settled(turn):
        def look():
            process, capture = camera.process(), camera.capture()
            restarts = int(guest.property(camera.unit, "NRestarts"))
            holds = restarts == capture["encoderHangs"] >= turn and camera.process() == process and (
                # It may have been too slow to be found again at once, and is looked for.
                capture["isHardwareEncoder"] or capture["encoderHangs"] >= 3)
            return (process, capture) if holds else Not(
                f"{restarts} restarts, {capture['encoderHangs']} hangs, {capture['encoder']}: {capture['encoderReason']}")
        return look

    # By the program's name: of a process that ends at once, journald cannot always say any more which unit it was of.
    def said(turn):
        text = guest.run("journalctl --no-pager --output=short-monotonic --lines=1000 --identifier=watchbox-camera").out
        return text.count("of hangs does not answer") >= turn or Not(text[-2000:])
    process, capture = checks.until("no restart but for hangs", settled(0), needed=True)
    for turn in (1, 2, 3):
        since = time.monotonic()
        if capture["encoderHangs"] >= turn:
            checks.note(f"hang {turn}: came by itself")
            end, was, ended = since, "", None
        else:
            was, ended = process, hang(guest, process)
            end = time.monotonic()
        checks.expect(f"hang {turn}: the process ends by itself", ended is None or ended.ok, f"{ended}\n{camera.words()}",
                      needed=True)
        count = len(viewer.frames())
        checks.until(f"hang {turn}: systemd starts it again", is_new(camera, was), needed=True)
        checks.until(f"hang {turn}: it publishes again", camera.publishing, needed=True)
        checks.until(f"hang {turn}: the viewer sees frames again", lambda: len(viewer.frames()) > count or Not("none"))
        process, capture = checks.until(f"hang {turn}: is remembered, and there was no restart but for hangs", settled(turn),
                                        needed=True)
        checks.until(f"hang {turn}: and the journal has the reason", lambda: said(turn))
        first = next((frame["instant"] / 1e9 for frame in viewer.frames() if frame["instant"] / 1e9 > end), end)
        checks.promise(f"hang {turn}: the process has ended", ended.seconds if ended else 0, 3)
        checks.note(f"hang {turn}: frames at the viewer {first - end:.1f} s after that, {viewer.gap(since):.1f} s without one; "
                    f"then {capture['encoder']}")
    checks.same("after three the software encoder takes over", (
        capture["encoder"], capture["isHardwareEncoder"], capture["encoderHangs"]), ("libx264", False, 3))
    checks.expect("and status says why", "hang" in capture["encoderReason"] or "hung" in capture["encoderReason"],
                  capture["encoderReason"])
    checks.note(f"reason: {capture['encoderReason']}")
    checks.expect("no other camera's unit was touched, and this one has not failed", guest.property(
        camera.unit, "ActiveState") == "active", camera.words())
    viewer.clean(checks, "the viewer opened every frame that was sent, through all that")
    camera.stop()


def unplugged(guest, host, checks):
    """A camera that is not there, or may not be used, is waited for, in the same process."""
    # It may come back under another number.
    camera = Camera(guest, host, "plugs", checks, path=LINK, encoder="libx264")
    guest.run("chmod 0600 /dev/video0; chgrp root /dev/video0")
    camera.start()
    waiting = checks.until("without permission the unit is up, and waits", camera.waits("WB-2202"), needed=True)
    checks.note(f"{waiting['code']}: {waiting['reason']}")
    plug(guest, False)
    waiting = checks.until("without its camera it waits, too, and says what for", camera.waits("WB-2201"), needed=True)
    checks.note(f"{waiting['code']}: {waiting['reason']}")
    words = guest.property(camera.unit, "StatusText")
    checks.expect("systemctl status shows it", words.startswith("waiting for the camera"), words)
    process = camera.process()
    begin = time.monotonic()
    plug(guest, True)
    still(guest)
    checks.until("the camera comes, and is published", camera.publishing, needed=True)
    checks.note(f"publishing {time.monotonic() - begin:.1f} s after it came")
    viewer = host.viewer("plugs")
    checks.until("a viewer watches it", lambda: viewer.pictures(5), needed=True)
    plug(guest, False)
    checks.until("unplugged: it waits again", camera.waits("WB-2201"))
    checks.expect("its unit is up all the time", guest.property(camera.unit, "ActiveState") == "active", camera.words())
    since, count = time.monotonic(), len(viewer.frames())
    plug(guest, True)
    checks.until("plugged in: the viewer sees frames again", lambda: len(viewer.frames()) > count + 3 or Not("none"))
    checks.note(f"frames {viewer.gap(since):.1f} s after it was plugged in, at the most")
    # From the next start of the stream on the driver's times are of the year 2038.
    count = len(viewer.frames())
    guest.run("v4l2-ctl -d /dev/video0 --set-ctrl=wrap_timestamp=2; v4l2-ctl -d /dev/video0 --set-ctrl=disconnect=1")
    checks.until("vivid's disconnect: the viewer sees frames again", lambda: (
        len(viewer.frames()) > count + 20 and camera.capture()["interruptions"] >= 2) or Not(camera.capture()))
    frames = viewer.frames()
    steps = [after["dts"] - before["dts"] for before, after in zip(frames, frames[1:])]
    # For as long as the camera was away there was no frame: how long that took depends on the machine.
    beyond = [step - (after["instant"] - before["instant"]) / 1e6 for step, before, after in zip(steps, frames, frames[1:])]
    checks.expect("times out of range are not published", min(steps) > 0 and max(beyond) < 60_000,
                  f"{steps}, beyond what passed at the viewer: {max(beyond):.0f} ms")
    guest.run("v4l2-ctl -d /dev/video0 --set-ctrl=wrap_timestamp=0")
    checks.same("the same process all the time", camera.process(), process)
    checks.note(reported(camera.capture()))
    viewer.clean(checks, "the viewer opened every frame that was sent, through all that")
    return camera


def refused(guest, host, checks):
    """What no waiting fixes is reported as well, and the unit does not run wild."""
    camera = Camera(guest, host, "codec", checks, path="/dev/video11")
    camera.start()
    waiting = checks.until("a codec as the camera: it says so, and waits for a person", camera.waits("WB-2203"))
    if waiting:
        checks.note(f"{waiting['code']}: {waiting['reason']}")
    checks.same("without a restart", guest.property(camera.unit, "NRestarts"), "0")
    camera.stop()


def stopped(checks, camera):
    """A process that does nothing any more: only systemd can know."""
    process = camera.process()
    begin = time.monotonic()
    camera.guest.run(f"kill -STOP {process}")
    # WatchdogSec=, and TimeoutAbortSec= because a stopped process does not take SIGABRT either.
    checks.until("stopped: the unit's watchdog ends it, systemd starts it again", is_new(camera, process), needed=True)
    checks.note(f"a new process {time.monotonic() - begin:.1f} s after it stopped (WatchdogSec=20s, TimeoutAbortSec=10s)")
    checks.until("it was the watchdog", lambda: (lambda words: "Watchdog timeout" in words or Not(words[-2000:]))(
        camera.guest.journal(camera.unit, lines=1000)))
    checks.until("and it publishes again", camera.publishing)
    camera.stop()


def changes(guest, host, checks):
    """Snapshot, bitrate and rate of a camera that publishes."""
    picture = expected(guest, SMALL)
    camera = Camera(guest, host, "changes", checks, width=SMALL[0], height=SMALL[1], frameRate=15, encoder="libx264",
                    bitrate=1_000_000)
    camera.start_as_asked("a camera is published")
    snapshot(guest, checks, camera, picture)
    viewer = host.viewer("changes")
    checks.until("a viewer watches it", lambda: viewer.pictures(10), needed=True)
    before, process = camera.status(), camera.process()
    status, text = guest.call("changes", "/api/v1/video", "PATCH", {"bitrate": 250_000})
    checks.expect("PATCH of the bitrate", status in (200, 204), f"{status}: {text}")
    count = len(viewer.frames())
    checks.until("frames go on", lambda: viewer.pictures(count + 30))
    now = camera.status()
    checks.same("the same process, connection and encoder, nothing dropped", (
        camera.process(), now["connections"], now["capture"]["encoderOpenings"], now["video"]["dropped"]), (
        process, before["connections"], before["capture"]["encoderOpenings"], before["video"]["dropped"]))
    frames = viewer.frames()
    steps = [after["dts"] - one["dts"] for one, after in zip(frames, frames[1:])]
    checks.note(f"the longest step between frames: {max(steps[:count])} ms before the change, {max(steps[count - 1:])} ms "
                f"after it; {reported(now['capture'])}")
    status, text = guest.call("changes", "/api/v1/video", "PATCH", {"width": 160, "height": 90})
    checks.expect("PATCH of the size", status in (200, 204), f"{status}: {text}")
    checks.until("takes effect", lambda: camera.capture()["width"] == 160 or Not(camera.capture()))
    count = len(viewer.frames())
    checks.until("and frames go on", lambda: viewer.pictures(count + 10))
    checks.same("in the same process", camera.process(), process)
    status, text = guest.call("changes", "/api/v1/video", "PATCH", {"bitrate": -5})
    checks.expect("a bitrate that cannot be is refused", 400 <= status < 500 and "WB-1004" in text, f"{status}: {text}")
    viewer.clean(checks, "the viewer opened every frame that was sent, none missing, through all that")
    camera.stop()


def raster(picture, width, height):
    """As much of a frame as a line can show: is it empty, shifted, half, or another?"""
    return " ".join(f"{picture[(2 * row + 1) * height // 8 * width + (2 * column + 1) * width // 16]:02x}"
                    for row in range(4) for column in range(8))


def snapshot(guest, checks, camera, picture):
    done = guest.run("curl --silent --fail --max-time 20 --output /share/files/snapshot.jpg --write-out '%{content_type}' "
                     f"--unix-socket /run/watchbox/camera/{camera.camera}.sock http://camera/api/v1/snapshot")
    checks.expect("GET /api/v1/snapshot gives a JPEG", done.ok and "image/jpeg" in done.out, done)
    if not done.ok:
        return
    try:
        shown = decoded(guest.file("snapshot.jpg"), *SMALL)
    except (ValueError, subprocess.TimeoutExpired) as error:
        return checks.expect("that decodes", False, error)
    # JPEG has full range, and ffmpeg converts it back.
    alike = likeness(shown[0], picture) if len(shown) == 1 else 0
    checks.expect("and shows the camera's frame", alike > 25,
                  f"{len(shown)} frames, {alike:.1f} dB; brightness in a raster of 8 by 4: "
                  f"{[raster(one, *SMALL) for one in shown[:1]]}, expected {raster(picture, *SMALL)}; {reported(camera.capture())}")
    checks.note(f"snapshot against vivid's own frame: {alike:.1f} dB")
