"""The whole way: vivid, encoder, NanoTDF, this machine's relay, a viewer on this machine."""
from devices.capture import still
from devices.tool import decoded, difference
from devices.unit import Camera, reported


# What libx264 holds in a guest without KVM on a busy machine, most of the time; a larger one would be made smaller, as it should be.
SMALL = (320, 180)


def run(guest, host, checks):
    software(guest, host, checks)
    hardware(guest, host, checks)


def expected(guest, size):
    """A frame of the pattern that does not move, as v4l2-ctl gets it."""
    width, height = size
    form = f"width={width},height={height},pixelformat=YU12,bytesperline={width}"
    done = guest.run(f"v4l2-ctl -d /dev/video0 --set-fmt-video={form} --set-parm=10 "
                     "--stream-mmap=4 --stream-count=1 --stream-to=/share/files/expected")
    picture = guest.file("expected").read_bytes()
    if not done.ok or len(picture) != width * height * 3 // 2:
        raise ValueError(f"no frame to compare with: {done}")
    return picture


def likeness(one, other):
    """Decibels."""
    from math import log10
    error = sum((a - b) ** 2 for a, b in zip(one, other)) / len(other)
    return 99 if error == 0 else 10 * log10(255 ** 2 / error)


def watch(host, checks, camera, count, what):
    """A viewer opens so many frames; the file that it wrote."""
    film = host.directory / f"{camera.camera}.mp4"
    viewer = host.viewer(camera.camera, "--output", film)
    checks.until(what, lambda: viewer.pictures(count), needed=True)
    whole = viewer.clean(checks, "each was authentic, none missing, none twice")
    return film if whole else None, viewer.frames()


def software(guest, host, checks):
    still(guest)
    picture = expected(guest, SMALL)
    camera = Camera(guest, host, "soft", checks, width=SMALL[0], height=SMALL[1], frameRate=15, encoder="libx264")
    capture = camera.start_as_asked("vivid at 320x180 through libx264 is published")["capture"]
    checks.same("as status says", (capture["state"], capture["encoder"], capture["isHardwareEncoder"], capture["width"],
                                   capture["height"]), ("streaming", "libx264", False, *SMALL))
    checks.expect("with the camera that it is", capture["card"] == "vivid" and capture["device"] == "/dev/video0", capture)
    film, frames = watch(host, checks, camera, 60, "a viewer on the other machine opens 60 frames")
    if film:
        shown = decoded(film, *SMALL)
        checks.expect("ffmpeg decodes what it wrote", len(shown) >= 60, len(shown))
        alike = min(likeness(shown[at], picture) for at in (0, len(shown) // 2, len(shown) - 1))
        checks.expect("and sees the camera's frame", alike > 25, f"{alike:.1f} dB")
        checks.note(f"decoded frame against vivid's own: {alike:.1f} dB")
    seconds = (frames[-1]["dts"] - frames[0]["dts"]) / 1000
    checks.note(f"{(len(frames) - 1) / seconds:.1f} frames/s of 15; {reported(camera.capture())}")
    checks.note(f"reason: {capture['encoderReason']}")
    words = guest.property(camera.unit, "StatusText")
    checks.expect("STATUS= says what it does", "fps" in words, words)
    checks.note(f"systemctl status: {words}; stopped in {camera.stop():.1f} s")


def hardware(guest, host, checks):
    """The guest's encoder loses nothing: what the viewer sees is the camera's frame, to the bit."""
    still(guest)
    picture = expected(guest, (640, 480))
    camera = Camera(guest, host, "hard", checks, width=640, height=480, frameRate=10, pixelFormat="yu12", gopSeconds=2)
    capture = camera.start_as_asked("an automatic choice of the encoder, and it is published")["capture"]
    checks.same("with the hardware encoder", (capture["encoder"], capture["isHardwareEncoder"]), ("h264_v4l2m2m", True))
    checks.note(f"reason: {capture['encoderReason']}")
    checks.same("and without a copy of our own between camera and encoder", capture["copiesPerFrame"], 0)
    film, _ = watch(host, checks, camera, 30, "a viewer on the other machine opens 30 frames")
    if film:
        shown = decoded(film, 640, 480)
        wrong = difference(shown, [picture] * len(shown))
        checks.expect(f"{len(shown)} decoded frames are the camera's, to the bit", shown and not wrong, wrong)
    checks.note(reported(camera.capture()))
    camera.stop()
