"""A camera as the box runs it: watchbox-camera@ID.service in the guest, with what control would give it."""
import json
import time

from boxed.checks import Not
from devices.guest import HOST

MEMORY = "/run/watchbox-camera"


class Camera:
    def __init__(self, guest, host, camera, checks, keeps_log=False, **device):
        """keeps_log: of each frame, what was sealed and when: see `sealed`."""
        self.log = f"{MEMORY}/{camera}/frames" if keeps_log else None
        self.guest, self.host, self.camera, self.checks = guest, host, camera, checks
        self.unit = f"watchbox-camera@{camera}.service"
        self.device = {
            "path": "/dev/video0", "width": 320, "height": 180, "frameRate": 10, "bitrate": 500_000, "gopSeconds": 1,
            "encoderMemoryFile": f"{MEMORY}/{camera}/encoder.json", **device}

    def settings(self):
        return {
            **({"frameLog": self.log} if self.log else {}), "id": self.camera, "source": {"device": self.device},
            "relay": {"url": f"rtmp://{HOST}:{self.host.relay_port}/live/{self.camera}"},
            "kas": {"url": f"http://127.0.0.1:{self.host.kas_port}/kas", "tokenFile": "credential:kas-token"}}

    def prepare(self):
        """What tmpfiles and control make before they start it."""
        self.guest.file("camera.json").write_text(json.dumps(self.settings()))
        self.guest.file("kas-token").write_text(self.host.publish_token + "\n")
        # The key access server is on this machine, and without TLS only loopback is allowed.
        forward = f"kas-{self.host.kas_port}"
        done = self.guest.run(f"""
install -D -m 0600 /share/files/camera.json /run/watchbox/service/camera-{self.camera}.json
mkdir -p -m 0700 /var/lib/watchbox/credstore/camera-{self.camera} \\
    /run/watchbox/secret/{{,box-,sealed-box-}}camera-{self.camera}
install -m 0600 /share/files/kas-token /run/watchbox/secret/box-camera-{self.camera}/kas-token
systemctl is-active --quiet {forward}.socket || systemd-run --quiet --unit={forward} \\
    --socket-property=ListenStream=127.0.0.1:{self.host.kas_port} /usr/lib/systemd/systemd-socket-proxyd \\
    {HOST}:{self.host.kas_port}""")
        self.checks.expect(f"settings and secrets of {self.camera}", done.ok, done, needed=True)

    def start(self):
        """Until it is ready: it publishes, or it has said what it waits for."""
        self.prepare()
        done = self.guest.run(f"systemctl start {self.unit}", limit=90)
        self.checks.expect(f"{self.unit} starts", done.ok, f"{done}\n{self.words()}", needed=True)

    def start_as_asked(self, what):
        """Its figures when it publishes. A machine that has much else to do misses the probe's deadline, which is for hardware, or is
        found too slow for size and rate: then once more, for ten minutes at most."""
        begin = time.monotonic()
        while True:
            self.start()
            state = self.checks.until(what, self.publishing, needed=True)
            capture = state["capture"]
            is_slow = capture.get("limit") or "did not answer within" in capture["encoderReason"]
            if not is_slow or time.monotonic() - begin > 600:
                return state
            self.checks.note(f"once more: {capture.get('limit') or capture['encoderReason']}")
            self.stop()
            self.forget()

    def stop(self):
        done = self.guest.run(f"systemctl stop {self.unit}; systemctl reset-failed {self.unit} 2>/dev/null; true", limit=60)
        return done.seconds

    def forget(self):
        """What it knew of encoders."""
        self.guest.run(f"rm -f {MEMORY}/{self.camera}/encoder.json /run/private/watchbox-camera/{self.camera}/encoder.json")

    def sealed(self):
        """Lines of the log, of video."""
        self.guest.run(f"cp /run/private/{MEMORY.removeprefix('/run/')}/{self.camera}/frames /share/files/frames")
        lines = self.guest.file("frames").read_text().split("\n")[:-1]
        return [line for line in map(json.loads, lines) if line["track"] == "video"]

    def status(self):
        return self.guest.camera(self.camera)

    def capture(self):
        return self.status()["capture"]

    def process(self):
        return self.guest.property(self.unit, "MainPID")

    def waits(self, code):
        """Its camera's figures when it waits for that."""
        def look():
            capture = self.capture()
            return capture if (capture["state"], capture.get("code")) == ("waiting", code) else Not(capture)
        return look

    def publishing(self):
        """True when frames go out while it is checked."""
        before = self.status()
        after = self.status()
        moves = after["video"]["sealed"] > before["video"]["sealed"]
        return after if after["state"] == "publishing" and moves else Not(
            f"{after['state']}, {after['video']['sealed']} frames: {after.get('reason')}; "
            f"camera {after.get('capture', {}).get('state')}: {after.get('capture', {}).get('reason')}")

    def words(self):
        return self.guest.journal(self.unit, lines=25)


def plug(guest, is_in):
    """Vivid comes or goes, with its node."""
    verb = "bind" if is_in else "unbind"
    return guest.run(f"echo vivid.0 >/sys/bus/platform/drivers/vivid/{verb}; udevadm settle")


def reported(capture):
    """The figures that say how it goes."""
    names = ("captured", "superseded", "thinned", "lost", "damaged", "interruptions", "encoderErrors", "encoderDrops",
             "encoderHangs", "encoderOpenings", "copiesPerFrame")
    figures = ", ".join(f"{name} {capture[name]}" for name in names)
    for name in ("latencyNanoseconds", "ownLatencyNanoseconds"):
        if capture.get(name) is not None:
            figures += f", {name.replace('Nanoseconds', '')} {capture[name] / 1e6:.1f} ms"
    way = (f"{capture['pixelFormat']} {capture['captureWidth']}x{capture['captureHeight']} → {capture['width']}x"
           f"{capture['height']} {capture['encoder']}")
    return f"{way}: {figures}" + (f"; limit: {capture['limit']}" if capture.get("limit") else "")
