"""A box that publishes: relay and key access server as units on loopback, cameras with a moving pattern."""
from boxed.box import Viewer
from boxed.checks import Not

CONFIGURATION = """\
version = 1
box = { name = "box-under-test" }
relay_server = { enabled = true, listen = "127.0.0.1:1935" }
kas_server = { enabled = true, listen = "127.0.0.1:9443" }
"""
PATTERN = ("--source", "test:", "--size", "320x180", "--rate", "15", "--bitrate", "300000", "--gop", "1")
KAS_STATE = "/var/lib/private/watchbox-kas"


def configure(box, text=CONFIGURATION):
    box.write("/etc/watchbox/watchbox.toml", text)


def start(box, checks):
    done = box.run("systemctl", "start", "watchbox.target")
    checks.expect("watchbox.target starts", done.ok, done, needed=True)
    for unit in ("watchbox-control", "watchbox-health", "watchbox-relay", "watchbox-kas"):
        checks.until(f"{unit} is up", lambda: box.active(unit), needed=True)


def token(box, checks, file, scope, subject):
    made = box.ctl("kas", "token", "--state", KAS_STATE, "--subject", subject, "--scope", scope, "--stream", "*")
    checks.expect(f"a token for the {subject}", made.ok, made, needed=True)
    box.write(file, made.out, mode=0o600)


def connect(box, checks):
    """Relay and KAS in the configuration, with tokens for the box and for a viewer."""
    token(box, checks, "/root/box.token", "kas.publish", "box")
    token(box, checks, "/root/viewer.token", "kas.rewrap", "viewer")
    done = box.ctl("kas", "set", "--url", "http://127.0.0.1:9443/kas", "--token-file", "/root/box.token")
    checks.expect("kas set", done.ok, done, needed=True)
    done = box.ctl("relay", "add", "main", "--url", "rtmp://127.0.0.1:1935/live")
    checks.expect("relay add", done.ok, done, needed=True)


def add(box, checks, camera, *options):
    done = box.ctl("camera", "add", camera, *PATTERN, *options)
    checks.expect(f"camera add {camera} ends when its first frame is at the relay", done.ok, done, needed=True)
    return done


def publishing_box(box, checks, cameras=("front", "back"), configuration=CONFIGURATION):
    configure(box, configuration)
    start(box, checks)
    connect(box, checks)
    for camera in cameras:
        add(box, checks, camera)


def unit(camera):
    return f"watchbox-camera@{camera}.service"


def live(box, camera):
    stream = box.stream(camera)
    return stream if stream["state"] == "live" else Not(f"{camera} is {stream['state']}: {stream.get('reason')}")


def lost(statistics):
    """Video and audio frames that were there and never sent. What a busy machine did not get to make (late) is not among them."""
    video, audio = statistics["video"], statistics["audio"]
    return video["dropped"] - (video.get("late") or 0) + audio["dropped"]


def moves(box, camera):
    """Frames are encrypted and sent while it is checked: never true of old figures, nor of a process that is about to go."""
    first = None

    def look():
        nonlocal first
        now = box.camera(camera)["statistics"]["video"]["sealed"]
        # Fewer than before: another process.
        first = now if first is None else min(first, now)
        return now if now > first else Not(f"{camera}: {now} frames, as before")
    return look


def restarted(box, name, before):
    def look():
        state, now = box.properties(name, "ActiveState", "InvocationID")
        return True if state == "active" and now != before else Not(f"{name}: {state}, invocation {now}")
    return look


def opens(box, checks, camera, pictures=20, what=None):
    """A viewer comes, opens that many frames and goes; none was missing, none was wrong."""
    viewer = Viewer(box, camera)
    checks.until(what or f"a viewer opens {pictures} frames of {camera}", lambda: viewer.pictures(pictures))
    clean(checks, viewer, f"{camera}: every frame opened, none missing, none twice, none forged")


def clean(checks, viewer, what):
    try:
        figures = viewer.finish()
    except (OSError, ValueError) as error:
        return checks.expect(what, False, error)
    wrong = {key: figures[key] for key in
             ("gaps", "authenticationFailed", "noKey", "replayed", "malformed", "unreadable", "reconnects")
             if figures[key]}
    return checks.expect(what, not wrong and figures["video"]["units"] > 0, f"{wrong} of {figures}")


def whole(box, checks):
    """No reboot was asked for, nothing failed, the ladder did nothing large."""
    checks.same("the box did not reboot", box.ended(), "")
    failed = box.run("systemctl", "list-units", "--failed", "--plain", "--no-legend", "watchbox*").out.strip()
    checks.same("no unit has failed", failed, "")
    steps = {step["level"]: step["used"] for step in box.health()["ladder"]["steps"]}
    checks.same("no step of the ladder beyond L1", [level for level, used in steps.items() if used and level != "L1"], [])
