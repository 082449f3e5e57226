"""Network cameras: a test before adding, login with SHA-256, a camera that goes away and moves, ONVIF, discovery, thumbnails."""
import base64
import json
import pathlib
import re
import subprocess
import threading

from boxed.checks import Not
from boxed.stage import configure, connect, live, moves, opens, restarted, start, unit, whole

RIGS = pathlib.Path(__file__).resolve().parent.parent.parent
MEDIA = RIGS.parent.parent / ".build/rigs/rtsp-media"
# Every character that a URL, a shell, a log or a JSON document could take for its own; UTF-8 as well.
PASSWORD = 'p@ss:/#% "ü&?\\\'+$(id)'
USER = "ad:min"


def run(box, checks, _seed):
    media(checks)
    configure(box)
    start(box, checks)
    connect(box, checks)
    box.write("/root/camera.password", PASSWORD + "\n", mode=0o600)
    rtsp = Rig(box, "rtsp/quirk-camera.py", "--user", USER, "--password", PASSWORD, MEDIA / "h264.h264")
    street = f"rtsp://127.0.0.1:{rtsp.port}/cam?auth=sha256"
    try:
        tested(box, checks, rtsp, street)
        pulled(box, checks, street)
        rtsp = away(box, checks, rtsp, street)
        onvif(box, checks, rtsp)
        pictures(box, checks)
        found(box, checks, rtsp)
        quiet(box, checks)
        whole(box, checks)
    finally:
        rtsp.end()


def media(checks):
    made = None
    if not (MEDIA / "second.h264").exists():
        made = subprocess.run([RIGS / "rtsp/make-media", MEDIA, "20"], capture_output=True, text=True)
    # Also of what a run of before has made: the gate misses a check that is not there.
    checks.expect("something to send", (MEDIA / "second.h264").exists() and not (made and made.returncode), made and made.stderr, needed=True)


class Rig:
    """A camera that is not ours, in the box's network; by its pid alone it is ended."""

    def __init__(self, box, program, *arguments, address=None, python="python3"):
        command = ["nsenter", "--net", "--target", str(box.pid), "--", python, RIGS / program, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if not words or words[0] != "READY":
            raise OSError(f"{program} does not start: {words}")
        self.port = int(words[1])
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    def end(self):
        self.process.terminate()
        self.process.wait(30)


def tested(box, checks, rtsp, street):
    login = ("--user", USER, "--password-file", "/root/camera.password")
    done = box.ctl("camera", "test", street, *login, "--json")
    report = done.document if done.out.startswith("{") else {}
    steps = {line["step"]: line["outcome"] for line in report.get("lines", [])}
    checks.expect("camera test: reachable, SHA-256 login, described, first key frame", done.ok and report["isUsable"] and steps == {
        "reach": "ok", "clock": "skipped", "login": "ok", "describe": "ok", "key-frame": "ok"}, done)
    checks.same("and says how it logged in", report.get("authentication"), "Digest SHA-256")
    for what, url, options, code in (
            ("nothing there", "rtsp://127.0.0.1:9/x", (), "WB-2101"), ("no login", street, (), "WB-2104"),
            ("no such stream", street + "&status=404", login, "WB-2108"),
            ("busy", street + "&status=453", login, "WB-2109"),
            ("a web server", f"rtsp://127.0.0.1:{rtsp.port}/cam?greeting=http", (), "WB-2103"),
            ("an unsupported codec", f"rtsp://127.0.0.1:{rtsp.port}/cam?mpeg4=1", (), "WB-2111"),
            ("only Basic", f"rtsp://127.0.0.1:{rtsp.port}/cam?auth=basic", login, "WB-2105")):
        done = box.ctl("camera", "test", url, *options, "--json")
        codes = [line.get("code") for line in done.document.get("lines", [])] if done.out.startswith("{") else []
        checks.expect(f"camera test, {what}: {code}", done.status != 0 and code in codes, done)
    done = box.ctl("camera", "test", f"rtsp://{USER}:{PASSWORD}@127.0.0.1/")
    checks.expect("a password in the address is refused, and not repeated", done.status != 0 and PASSWORD not in done.out + done.err,
                  done)


def pulled(box, checks, street):
    done = box.ctl("camera", "add", "street", "--source", street, "--user", USER, "--password-file", "/root/camera.password")
    checks.expect("camera add tests, adds, and ends with the first frame at the relay", done.ok, done, needed=True)
    checks.note(f"from camera add to live: {done.seconds:.2f} s")
    opens(box, checks, "street", 40)
    network = box.camera("street")["statistics"]["capture"]["network"]
    checks.expect("its process says how it is reached", network["authentication"] == "Digest SHA-256"
                  and network["transport"] == "tcp" and network["state"] == "live", network)
    checks.note(f"PLAY to the first key frame: {network['playToKeyFrameMilliseconds']:.1f} ms")
    process = box.property(unit("street"), "MainPID")
    loaded = box.sh(f"grep -c -E 'libav|libswscale' /proc/{process}/maps").out.strip()
    checks.same("no libav is in its process: nothing is decoded or encoded", loaded, "0")
    checks.note("memory of its process: " + box.sh(f"grep VmHWM /proc/{process}/status").out.strip())
    status = box.ctl("camera", "snapshot", "street", "--output", "/root/street.jpg")
    checks.expect("camera snapshot", status.ok and box.path("/root/street.jpg").read_bytes()[:3] == b"\xff\xd8\xff", status)
    loaded = box.sh(f"grep -c -E 'libav|libswscale' /proc/{process}/maps").out.strip()
    checks.same("which another process decoded", loaded, "0")
    checks.until("a thumbnail comes by itself", lambda: _thumbnail(box, "street"))


def away(box, checks, rtsp, street):
    before = box.invocation(unit("street"))
    rtsp.end()
    checks.until("the camera is gone: the stream waits, and says for what", lambda: _waits(box, "street", "WB-2101"))
    port = rtsp.port
    rtsp = Rig(box, "rtsp/quirk-camera.py", "--port", port, "--user", USER, "--password", PASSWORD, MEDIA / "h264.h264")
    checks.until("it is back, and live", lambda: live(box, "street"))
    checks.until("with new frames", moves(box, "street"))
    checks.same("in the same process", box.invocation(unit("street")), before)
    done = box.ctl("camera", "edit", "street", "--source", f"rtsp://127.0.0.1:{port}/cam?auth=sha256&freeze=3&times=1")
    checks.expect("now one that freezes after 3 s", done.ok, done)
    checks.until("it streams", lambda: live(box, "street"))
    checks.until("the freeze is found, and it is connected again", lambda: _stalled(box, "street"))
    checks.until("live again", lambda: live(box, "street"))
    checks.until("with new frames", moves(box, "street"))
    return rtsp


def onvif(box, checks, rtsp):
    device = ("--user", USER, "--password", PASSWORD, "--skew", "3600", "--auth", "wsse", "--rtsp",
              f"rtsp://127.0.0.1:{rtsp.port}/cam?auth=md5")
    camera = Rig(box, "onvif/onvif-camera.py", "--port", "0", *device)
    address = f"127.0.0.1:{camera.port}"
    login = ("--user", USER, "--password-file", "/root/camera.password")
    try:
        done = box.ctl("camera", "probe", address, *login, "--json")
        checks.expect("camera probe: make, model and profiles, though its clock is an hour off", done.ok and "Profile_1" in done.out,
                      done)
        done = box.ctl("camera", "add", "gate", "--source", f"onvif://{address}", *login)
        checks.expect("camera add onvif://…", done.ok, done, needed=True)
        opens(box, checks, "gate")
        done = box.ctl("camera", "profiles", "gate", "--json")
        checks.expect("camera profiles", done.ok and "Profile_2" in done.out, done)
        shown = box.get("camera", "show", "gate")
        checks.expect("manufacturer and model are in the store", shown.get("manufacturer") and shown.get("model"), shown)
        done = box.ctl("camera", "ptz", "gate", "--pan", "0.5", "--seconds", "1")
        checks.expect("camera ptz", done.ok, done)
        checks.until("the camera was moved", lambda: _asked(camera, "ContinuousMove"))
        checks.until("and asked for a key frame", lambda: _asked(camera, "SetSynchronizationPoint"))
        checks.until("its motion is an event of the box", lambda: any(
            "motion" in event.get("text", "") and event.get("object") == "gate" for event in box.events()) or Not(
                [event.get("text") for event in box.events()][-5:]))
        port = camera.port
        camera.end()
        checks.until("without the ONVIF service the stream goes on", moves(box, "gate"))
        camera = Rig(box, "onvif/onvif-camera.py", "--port", str(port), *device)
    finally:
        camera.end()


def pictures(box, checks):
    """A camera that sends JPEG images over HTTP, as an ESP32-CAM does, behind a login."""
    shots = MEDIA / "jpeg"
    made = None
    if not list(shots.glob("*.jpg")):
        shots.mkdir(parents=True, exist_ok=True)
        made = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10", "-frames:v", "10",
                               "-pix_fmt", "yuvj420p", shots / "%02d.jpg"], capture_output=True, text=True)
    checks.expect("JPEG images to send", list(shots.glob("*.jpg")) and not (made and made.returncode), made and made.stderr, needed=True)
    camera = Rig(box, "rtsp/http-camera.py", "--user", USER, "--password", PASSWORD, shots)
    address = f"http://127.0.0.1:{camera.port}"
    login = ("--user", USER, "--password-file", "/root/camera.password")
    try:
        for what, path, code in (("a web page", "/page", "WB-2103"), ("no such path", "/x?status=404", "WB-2108"),
                                 ("only Basic", "/stream?auth=basic", "WB-2105")):
            done = box.ctl("camera", "test", address + path, *login, "--json")
            codes = [line.get("code") for line in done.document.get("lines", [])] if done.out.startswith("{") else []
            checks.expect(f"camera test, HTTP, {what}: {code}", done.status != 0 and code in codes, done)
        done = box.ctl("camera", "add", "shed", "--source", f"http://{USER}:{PASSWORD}@127.0.0.1/")
        checks.expect("a password in the address is refused, and not repeated", done.status != 0 and PASSWORD not in done.out + done.err,
                      done)
        done = box.ctl("camera", "add", "shed", "--source", f"{address}/stream?auth=sha256", *login)
        checks.expect("camera add http://… tests, adds, and ends with the first frame at the relay", done.ok, done, needed=True)
        checks.note(f"from camera add to live: {done.seconds:.2f} s")
        opens(box, checks, "shed")
        capture = box.camera("shed")["statistics"]["capture"]
        checks.expect("its process says what comes, and how it is logged in", capture["network"]["authentication"] == "Digest SHA-256"
                      and capture["network"]["videoCodec"] == "mjpeg" and "264" in capture["encoder"], capture)
        before = box.invocation(unit("shed"))
        done = box.ctl("camera", "edit", "shed", "--source", f"{address}/capture?auth=md5qop", "--snapshot-rate", "4")
        checks.expect("now one image at a time", done.ok, done)
        checks.until("its unit is a new one", restarted(box, unit("shed"), before))
        checks.until("it is live", lambda: live(box, "shed"))
        checks.until("with new frames", moves(box, "shed"))
        done = box.ctl("camera", "rm", "shed", "--yes")
        checks.expect("and it is taken away", done.ok, done)
    finally:
        camera.end()


def found(box, checks, rtsp):
    before = len(rtsp.lines)
    # Its time is for what does not answer, which here is nothing; a busy camera may need more than one.
    def looked():
        done = box.ctl("discover", "--scan", "127.0.0.1/32", "--ports", str(rtsp.port), "--timeout", "5", "--json")
        return done if done.ok and f":{rtsp.port}" in done.out and '"added"' in done.out else Not(done)
    checks.until("discover --scan finds the camera, and knows that it was added", looked)
    # Each connection is reported when it ends; the scan's are those that name no stream, and none of them may go further.
    def asked():
        reported = [json.loads(line) for line in rtsp.lines[before:] if line.startswith("{")]
        return [connection["methods"] for connection in reported if connection.get("methods") and not connection["quirks"]]
    checks.until("a scan asks OPTIONS and nothing else", lambda: (asked() and all(
        methods == ["OPTIONS"] for methods in asked())) or Not(asked()))
    done = box.ctl("discover", "--scan", "10.0.0.0/8")
    checks.expect("a network that is too large is refused", done.status != 0 and "WB-2121" in done.out + done.err, done)


def quiet(box, checks):
    """The password is nowhere but in the credential store's own files."""
    forms = {PASSWORD, json.dumps(PASSWORD)[1:-1], json.dumps(PASSWORD, ensure_ascii=False)[1:-1], quote(PASSWORD),
             # As Basic sends it.
             base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode().rstrip("=")}
    text = {"journal": box.journal(), "status": box.ctl("status", "--json").out, "cameras": box.ctl("camera", "list", "--json").out,
            "health": json.dumps(box.health()), "events": json.dumps(box.events()), "doctor": box.ctl("doctor", "--json").out,
            "processes": box.sh("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'").out,
            "export": box.ctl("config", "export").out, "street": json.dumps(box.camera("street")),
            "settings": box.sh("cat /run/watchbox/service/*").out}
    for where, what in text.items():
        checks.expect(f"no password in: {where}", what and not any(form in what for form in forms),
                      [re.sub(r"\s+", " ", what[max(what.find(form) - 80, 0):][:60]) for form in forms if form in what])
    files = box.sh("grep -rlaF -f /root/camera.password /var/lib /run /tmp /var/tmp /etc 2>/dev/null").out.split()
    given = ("/run/credentials/", "/run/watchbox/secret/")
    checks.expect("the search finds it where the units are given it", [f for f in files if f.startswith(given)], files)
    checks.same("and in no other file", [f for f in files if not f.startswith(given)], [])


def quote(text):
    import urllib.parse
    return urllib.parse.quote(text, safe="")


def _thumbnail(box, camera):
    status, picture = _bytes(box, f"/api/v1/cameras/{camera}/thumbnail")
    return status == 200 and picture[:3] == b"\xff\xd8\xff" or Not(f"status {status}")


def _bytes(box, path):
    from boxed.box import API, _Connection
    connection = _Connection(str(box.path(API)), 15)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _waits(box, camera, code):
    stream = box.stream(camera)
    return stream["state"] == "waiting" and stream.get("code") == code or Not(
        f"{stream['state']} {stream.get('code')}: {stream.get('reason')}")


def _stalled(box, camera):
    network = box.camera(camera)["statistics"]["capture"]["network"]
    return network["stalls"] >= 1 and network["connections"] >= 2 or Not(network)


def _asked(rig, operation):
    return any(f'"{operation}"' in line for line in list(rig.lines)) or Not([line[:80] for line in rig.lines[-5:]])
