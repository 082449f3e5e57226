"""The box from outside: its programs, its sockets, its units. systemd-box --outside has started it."""
import calendar
import http.client
import json
import os
import pathlib
import shlex
import socket
import struct
import subprocess
import time

API = "/run/watchbox/api.sock"
HEALTH = "/run/watchbox/health.sock"


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("box", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Result:
    """How a program ended."""

    def __init__(self, done, seconds):
        self.status, self.out, self.err, self.seconds = done.returncode, done.stdout, done.stderr, seconds

    @property
    def document(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise ValueError(f"this is not a document ({error}): {self}") from None

    @property
    def ok(self):
        return self.status == 0

    def __str__(self):
        return f"status {self.status}\n{self.out.strip()[-1500:]}\n{self.err.strip()[-1500:]}"


class Box:
    def __init__(self):
        self.enter = os.environ["BOX"]
        self.pid = int(os.environ["BOX_PID"])
        self.root = pathlib.Path(os.environ["BOX_ROOT"])
        self._ended = pathlib.Path(os.environ["BOX_ENDED"])

    # ---- programs ----

    def run(self, *command, user=None, input=None, timeout=90):
        if user:
            script = 'exec setpriv --reuid="$0" --regid="$(id -g "$0")" --init-groups -- "$@"'
            command = ("sh", "-c", script, user, *command)
        begin = time.monotonic()
        done = subprocess.run(
            [self.enter, *command], input=input, text=True, capture_output=True, timeout=timeout,
            stdin=None if input is not None else subprocess.DEVNULL)
        return Result(done, time.monotonic() - begin)

    def sh(self, script, **options):
        return self.run("sh", "-c", script, **options)

    def ctl(self, *arguments, **options):
        return self.run("watchboxctl", *arguments, **options)

    def get(self, *arguments):
        """A command's document; exit status 3 (degraded) has one as well."""
        done = self.ctl(*arguments, "--json")
        if done.status not in (0, 3):
            raise ValueError(f"watchboxctl {' '.join(arguments)}: {done}")
        return done.document

    def ended(self):
        """How the box ended, if it did so by itself: reboot, poweroff."""
        return self._ended.read_text().strip() if self._ended.exists() else ""

    # ---- files ----

    def path(self, path):
        return self.root / path.lstrip("/")

    def write(self, path, text, mode=0o644):
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def remove(self, path):
        self.path(path).unlink(missing_ok=True)

    # ---- sockets ----

    def call(self, method, path, body=None, socket_path=API, timeout=15, headers=None):
        """Status and document of one request, as root."""
        connection = _Connection(str(self.path(socket_path)), timeout)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if "json" in (answer.getheader("Content-Type") or "") else text
        except http.client.HTTPException as error:
            raise OSError(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def ask(self, path, **options):
        status, document = self.call("GET", path, **options)
        if status != 200:
            raise ValueError(f"{path}: {status} {document}")
        return document

    def stream(self, camera):
        return self.ask(f"/api/v1/streams/{camera}")

    def health(self):
        return self.ask("/api/v1/health", socket_path=HEALTH)

    def check(self, name, thing=None):
        """One check of the health daemon; ValueError while there is none."""
        for check in self.health()["checks"]:
            if check["check"] == name and check.get("object") == thing:
                return check
        raise ValueError(f"no check {name} of {thing}")

    def camera_document(self, camera):
        """What control says of it."""
        return self.ask(f"/api/v1/cameras/{camera}")

    def camera(self, camera):
        """What a camera's own process says."""
        return self.ask("/api/v1/status", socket_path=f"/run/watchbox/camera/{camera}.sock")

    def events(self, after=0):
        """What the box has published so far: the ring, as a watcher gets it that comes back; never an empty list. OSError while it does
        not answer. Its end is a silence, which a busy machine can make: what must be there is waited for."""
        connection = _Connection(str(self.path(API)), 60)
        events, is_heard = [], False
        try:
            connection.request("GET", "/api/v1/events", headers={"Last-Event-ID": str(after)})
            stream = connection.sock
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError(f"/api/v1/events: {answer.status} {answer.read(500)}")
            while True:
                line = answer.readline().decode()
                if not line:
                    break
                if line.startswith("data:"):
                    events.append(json.loads(line[5:]))
                # A comment comes at once. Every box has published something since it started; behind an event there may be nothing.
                if events or after:
                    is_heard = True
                    stream.settimeout(2)
        except (TimeoutError, http.client.HTTPException) as error:
            if not is_heard:
                raise OSError(f"/api/v1/events: {type(error).__name__}: {error}") from error
        finally:
            connection.close()
        if not is_heard:
            raise OSError("/api/v1/events ended before any event")
        return events

    def newest(self):
        """The number of the last event: what happens from now on has a higher one."""
        return self.ask("/api/v1/events/latest", timeout=90)["id"]

    # ---- units ----

    def properties(self, unit, *names):
        out = self.run("systemctl", "show", unit, *(f"--property={name}" for name in names)).out
        found = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        return [found.get(name, "") for name in names]

    def property(self, unit, name):
        return self.properties(unit, name)[0]

    def active(self, unit):
        state = self.property(unit, "ActiveState")
        return True if state == "active" else _not(f"{unit} is {state}")

    def invocation(self, unit):
        return self.property(unit, "InvocationID")

    def kill(self, unit, signal="KILL"):
        return self.run("systemctl", "kill", "--kill-whom=main", f"--signal={signal}", unit)

    def drop_in(self, unit, name, text):
        self.write(f"/run/systemd/system/{unit}.d/{name}.conf", text)
        self.run("systemctl", "daemon-reload")

    def no_drop_in(self, unit, name):
        self.remove(f"/run/systemd/system/{unit}.d/{name}.conf")
        self.run("systemctl", "daemon-reload")

    def journal(self, *options):
        return self.run("journalctl", "--no-pager", "--output=cat", "--all", *options).out

    def clock(self, units, when):
        """What the units take for the time: "1970-01-01 00:01:00" or None for the true one; a running one sees its clock
        step. clock.c does it, because this machine has one wall clock for every box."""
        offset = 0 if when is None else calendar.timegm(time.strptime(when, "%Y-%m-%d %H:%M:%S")) - int(time.time())
        for unit in units:
            file = self.path(f"/run/clock/{unit}")
            file.parent.mkdir(exist_ok=True)
            # In place and in one piece: processes have it mapped.
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
            os.pwrite(descriptor, struct.pack("q", offset * 1_000_000_000), 0)
            os.close(descriptor)
            if not self.path(f"/run/systemd/system/{unit}.d/50-clock.conf").exists():
                self.drop_in(unit, "50-clock", "[Service]\nEnvironment=LD_PRELOAD=/usr/lib/watchbox-test/clock.so "
                             f"WATCHBOX_CLOCK=/run/clock/{unit}\n")

    def has_clock(self):
        return self.path("/usr/lib/watchbox-test/clock.so").exists()

    # ---- the network in the box ----

    def on_loopback(self, script, *arguments):
        """Runs Python in the box's network; its tree has no Python."""
        return subprocess.Popen(
            ["nsenter", "--net", "--target", str(self.pid), "--", "python3", "-c", script, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Viewer:
    """`watchboxctl play` as a unit of its own, so that it can be ended when a test is done and not earlier."""
    count = 0

    def __init__(self, box, stream, token="/root/viewer.token", app="rtmp://127.0.0.1:1935/live"):
        Viewer.count += 1
        self.box, self.unit, self.log = box, f"viewer-{Viewer.count}", f"/root/viewer-{Viewer.count}"
        play = f"watchboxctl play {app}/{stream} --kas-token-file {token} --json --frame-log {self.log}.frames"
        self.started = box.run(
            "systemd-run", f"--unit={self.unit}", "--quiet", "--service-type=exec", "--property=TimeoutStopSec=20",
            "sh", "-c", f"exec {play} >{self.log}.out 2>{self.log}.err")

    def frames(self):
        """Opened so far; each is as the camera sealed it, or it would not have opened."""
        file = self.box.path(self.log + ".frames")
        # The last line may be in the making.
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(line) for line in lines]

    def pictures(self, count):
        found = sum(frame["track"] == "video" for frame in self.frames())
        return found if found >= count else _not(f"{found} frames of {count}: {self.words()}")

    def words(self):
        out = self.box.path(self.log + ".out"), self.box.path(self.log + ".err")
        return " / ".join(file.read_text().strip()[-300:] for file in out if file.exists())

    def finish(self):
        """Its statistics."""
        self.box.kill(self.unit, "INT")
        for _ in range(300):
            if self.box.property(self.unit, "ActiveState") not in ("active", "deactivating"):
                break
            time.sleep(0.1)
        for line in reversed(self.box.path(self.log + ".out").read_text().splitlines()):
            document = json.loads(line)
            if document.get("event") == "final":
                return document["statistics"]
        raise ValueError(f"the viewer gave no statistics: {self.words()}")


def _not(text):
    from boxed.checks import Not
    return Not(text)


def quoted(*words):
    return " ".join(shlex.quote(word) for word in words)
