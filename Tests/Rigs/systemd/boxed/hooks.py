"""Someone outside is notified of what happens: a web server of Python's own, in the network of the box."""
import json
import threading

from boxed.checks import Not
from boxed.stage import restarted

PORT = 8099
UNIT = "watchbox-hooks.service"
PLACES = "/var/lib/watchbox-hooks/places.json"
# Of a hook that names none.
TOPICS = {"camera", "health", "relay", "kas", "system"}
LISTENER = r"""
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sys.stdout.write(self.rfile.read(int(self.headers["Content-Length"])).decode() + "\n")
        sys.stdout.flush()
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class Listener:
    def __init__(self, box):
        self.messages = []
        self.process = box.on_loopback(LISTENER, str(PORT))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.messages.append(json.loads(line))

    def ids(self, after):
        return [message["id"] for message in list(self.messages) if message["id"] > after]

    def close(self):
        self.process.kill()
        self.process.wait()


def add(box, checks):
    """A hook, from its first message on; and the number of the last event before it was there."""
    checks.same("without a hook their unit does not run", box.property(UNIT, "ActiveState"), "inactive")
    listener = Listener(box)
    done = box.ctl("hook", "add", "home", "--url", f"http://127.0.0.1:{PORT}/watchbox")
    checks.expect("hook add", done.ok, done)
    checks.until("its unit is up", lambda: box.active(UNIT), needed=True)
    checks.until("hook test: it arrives", lambda: _ok(box.ctl("hook", "test", "home")))
    # The receiver has answered; its line may still be on the way here.
    checks.until("and says what it is", lambda: [
        message for message in listener.messages if message["topic"] == "test" and message["box"] == "box-under-test"]
        or Not(listener.messages))
    return listener, box.newest()


def reported(box, checks, listener, last):
    """Of a relay that went and came back; and whatever happened, once, though the process was killed meanwhile."""
    checks.until("the hook reported the relay, with its code", lambda: [
        message for message in listener.messages
        if message.get("object") == "distant" and message.get("code") == "WB-5001"] or Not(listener.messages[-5:]))
    # A kill between an answer and the note of it sends that event again, as the guide says: not what is tried here.
    checks.until("what it was sent is recorded on the disk", lambda: _noted(box, listener, last))
    before = box.invocation(UNIT)
    box.kill(UNIT)
    done = box.ctl("camera", "edit", "back", "--name", "Renamed while no hook ran")
    checks.expect("a camera has another name while the hooks are down", done.ok, done)
    checks.until("hooks, killed, started again by systemd", restarted(box, UNIT, before))
    checks.until("the hook reported the camera", lambda: [
        message for message in listener.messages if "while no hook ran" in message["text"]]
        or Not(listener.messages[-5:]))
    checks.until("every event arrived", lambda: _all(box, listener, last))
    ids = listener.ids(last)
    checks.same("each once, and in their order", ids, sorted(set(ids)))
    shown = box.get("hook", "list")["hooks"]
    checks.expect("hook list says that it is well", [hook["name"] for hook in shown] == ["home"] and not shown[0][
        "state"]["isFailing"], shown)
    listener.close()
    done = box.ctl("hook", "test", "home", "--json")
    checks.expect("hook test without a receiver ends with 7, and says why", done.status == 7 and done.document[
        "code"] == "WB-5201" and done.document["hint"], done)
    done = box.ctl("hook", "remove", "home", "--yes")
    checks.expect("hook remove", done.ok, done)
    checks.until("and its unit stops", lambda: box.property(UNIT, "ActiveState") == "inactive")


def _ok(done):
    return done.ok or Not(done)


def _noted(box, listener, last):
    everything = _all(box, listener, last)
    settled = json.loads(box.path(PLACES).read_text())["hooks"]["home"]["settled"]
    newest = max(listener.ids(last), default=0)
    return everything and (settled >= newest or Not(f"{settled} is recorded of {newest}"))


def _all(box, listener, last):
    expected = {event["id"] for event in box.events(last) if event["topic"] in TOPICS and event.get("object") != UNIT}
    missing = expected - set(listener.ids(last))
    return True if expected and not missing else Not(f"{len(missing)} of {len(expected)} are missing: {sorted(missing)}")
