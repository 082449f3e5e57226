"""What dies comes back by itself, alone; what hangs is ended; what is somebody else's fault is left alone."""
import time

from boxed import hooks
from boxed.checks import Not, poll
from boxed.stage import add, live, lost, moves, opens, publishing_box, restarted, unit, whole

FAR_RELAY = ("systemd-run", "--unit=far-relay", "--quiet", "/usr/bin/watchboxd", "relay", "--listen", "127.0.0.1:1936")


def run(box, checks, _seed):
    publishing_box(box, checks)
    done = box.run(*FAR_RELAY)
    checks.expect("a relay that is not this box's", done.ok, done, needed=True)
    done = box.ctl("relay", "add", "far", "--url", "rtmp://127.0.0.1:1936/live")
    checks.expect("relay add far", done.ok, done, needed=True)
    add(box, checks, "distant", "--relay", "far")
    for killed in (unit("front"), "watchbox-control.service", "watchbox-health.service", "watchbox-relay.service",
                   "watchbox-kas.service"):
        kill(box, checks, killed)
    opens(box, checks, "front", what="a viewer opens front after all that")
    listener, last = hooks.add(box, checks)
    outage(box, checks)
    hooks.reported(box, checks, listener, last)
    stall(box, checks)
    whole(box, checks)
    # The ladder may take its steps for this one.
    unreadable(box, checks)


def kill(box, checks, killed):
    before = box.invocation(killed)
    back = box.invocation(unit("back"))
    sealed = box.camera("back")["statistics"]
    last = box.newest()
    begin = time.monotonic()
    box.kill(killed)
    if killed == unit("front"):
        reported, _ = poll(lambda: box.stream("front") if box.stream("front")["state"] != "live" else Not("live"), 10, 0.02)
        checks.expect("status says that front is not live", reported, reported)
        # It may be back by now: then it says so.
        status = box.ctl("status", "--json")
        streams = {camera["id"]: camera["stream"]["state"] for camera in status.document["cameras"]}
        checks.expect("and ends with 3 for as long as it is away", status.status == 3 or (
            status.status == 0 and streams["front"] == "live"), status)
    checks.until(f"{killed}: killed, started again by systemd", restarted(box, killed, before), needed=True)
    for camera in ("front", "back", "distant"):
        checks.until(f"{camera} is live", lambda: live(box, camera))
        checks.until(f"{camera} sends", moves(box, camera))
    checks.note(f"{killed}: all is live {time.monotonic() - begin:.1f} s after the kill")
    if killed == "watchbox-relay.service":
        return
    checks.same("camera back has not noticed: the same process", box.invocation(unit("back")), back)
    now = box.camera("back")["statistics"]
    checks.expect("the same connection, nothing dropped, counters go up",
                  now["connections"] == sealed["connections"] and now["video"]["sealed"] > sealed["video"]["sealed"]
                  and lost(now) == lost(sealed), f"{sealed} → {now}")
    if killed == unit("front"):
        checks.until("the events report it", lambda: _reported(box, last, "front", "started it again"))
        checks.until("health counts it", lambda: [
            step for step in box.health()["ladder"]["steps"] if step["level"] == "L1" and step["used"] >= 1])
    if killed == "watchbox-health.service":
        checks.until("health answers", lambda: box.check("publish", "front")["state"] == "ok")


def outage(box, checks):
    """A relay that is away, longer than health's timeout: the cameras wait, and nothing is restarted."""
    distant, front = box.invocation(unit("distant")), box.invocation(unit("front"))
    connections = box.camera("front")["statistics"]["connections"]
    lines = len(box.journal("-u", unit("distant")).splitlines())
    last = box.newest()
    box.run("systemctl", "stop", "far-relay")
    begin = time.monotonic()
    stream = checks.until("the relay is away, and the stream says that it waits", lambda: _state(
        box, "distant", "waiting"))
    checks.expect("with a reason and a code", stream and stream.get("reason") and stream.get("code"), stream)
    status = box.ctl("status")
    checks.expect("status ends with 3", status.status == 3 and "distant" in status.out, status)
    checks.until("health calls the stream failed", lambda: _is(box.check("publish", "distant"), "fail"))
    check = box.check("publish", "distant")
    checks.expect("with the relay's code", check.get("code") == "WB-5001", check)
    checks.until("health: the relay does not answer", lambda: _is(box.check("relay", "far"), "fail", "warn"))
    # Longer than the ladder's first step would wait, were it the box's own fault.
    while time.monotonic() - begin < 45:
        time.sleep(0.5)
    doctor = box.ctl("doctor", "--json")
    failed = {finding["check"] for finding in doctor.document["findings"] if finding["state"] == "fail"}
    checks.expect("doctor names it", failed & {"relay", "relays", "cameras"}, doctor.out[-1500:])
    checks.same("health did not restart the camera", box.invocation(unit("distant")), distant)
    events = box.get("health", "events")["events"]
    checks.same("and took no step", [event for event in events if event.get("object") == "distant"], [])
    checks.same("no reboot was asked for", box.property("reboot.target", "ActiveState"), "inactive")
    checks.until("the events report the relay", lambda: (lambda events: [
        event for event in events if event.get("object") == "distant" and event.get("code") == "WB-5001"] or Not(events))(
            box.events(last)))
    reported = [event for event in box.events(last) if event.get("object") == "distant" and event["topic"] == "camera"]
    checks.expect("not every attempt is an event: only the beginning, and a sum after a minute", len(reported) <= 3, reported)
    reported = box.journal("-u", unit("distant")).splitlines()[lines:]
    checks.expect("nor lines in the journal", len(reported) <= 5, reported)
    checks.same("the other cameras have not noticed", (box.invocation(unit("front")), box.camera("front")[
        "statistics"]["connections"]), (front, connections))
    box.run(*FAR_RELAY)
    begin = time.monotonic()
    checks.until("the relay is back, and the stream is live", lambda: live(box, "distant"))
    checks.until("distant sends", moves(box, "distant"))
    checks.promise("it is live after the relay's return", time.monotonic() - begin, 5)
    checks.same("the same process all the time", box.invocation(unit("distant")), distant)
    checks.until("health calls it ok", lambda: _is(box.check("publish", "distant"), "ok"))


def stall(box, checks):
    """A frame path that hangs as a driver does: only the watchdog can know."""
    name = unit("hangs")
    box.drop_in(name, "50-watchdog", "[Service]\nWatchdogSec=3s\n")
    box.write("/etc/watchbox/conf.d/10-hangs.toml", 'camera.hangs = { source = "test:", size = "320x180", rate = 15, '
              "bitrate = 300000, stall_after = 4.0 }\n")
    done = box.ctl("config", "apply")
    checks.expect("a camera that will hang", done.ok, done)
    checks.until("it is live", lambda: live(box, "hangs"), needed=True)
    before = box.invocation(name)
    result, _ = poll(lambda: _watchdog(box, name), 60, 0.02)
    aborted = time.monotonic()
    checks.expect("it hangs, and the watchdog ends it", result, box.journal("-u", name, "-n", "12"), needed=True)
    checks.until("systemd starts it again", restarted(box, name, before), pause=0.02)
    checks.until("and it sends again", lambda: box.camera("hangs")["statistics"]["video"]["sealed"] > 0, pause=0.02)
    checks.promise("it sends after the watchdog", time.monotonic() - aborted, 5)
    checks.until("the events say why", lambda: [
        event for event in box.events() if event.get("object") == "hangs" and event.get("code") == "WB-2004"])
    box.remove("/etc/watchbox/conf.d/10-hangs.toml")
    done = box.ctl("config", "apply")
    checks.expect("config apply without it", done.ok, done)
    checks.until("its unit is stopped", lambda: box.property(name, "ActiveState") in ("inactive", "failed"))
    checks.until("and nothing of it is left failed", lambda: box.property(name, "ActiveState") == "inactive")


def unreadable(box, checks):
    """A file that the camera's user may not read: status says so, also after systemd has given up."""
    name = unit("film")
    box.write("/root/film.mp4", "nobody else may look at it\n", mode=0o600)
    box.write("/etc/watchbox/conf.d/10-film.toml", 'camera.film = { source = "file:/root/film.mp4" }\n')
    done = box.ctl("config", "apply")
    checks.expect("a camera with a file that its user may not read", done.ok, done)
    reported = checks.until("its stream says which file, and why not", lambda: _reports(box, "film", "starting", "failed"))
    checks.note(reported)
    checks.until("systemd gives up on it", lambda: box.property(name, "ActiveState") == "failed", needed=True)
    failed = checks.until("the stream has failed, with the reason", lambda: _reports(box, "film", "failed"))
    checks.expect("with the code, and what to do", failed and failed.get("code") == "WB-2005" and failed.get("hint"), failed)
    shown = box.ctl("camera", "show", "film")
    checks.expect("camera show reports it", "WB-2005" in shown.out and "/root/film.mp4" in shown.out and "Next" in shown.out, shown)
    status = box.ctl("status", "--json")
    checks.expect("status ends with 3", status.status == 3, status)
    checks.until("the events report it", lambda: (lambda events: [
        event for event in events if event.get("object") == "film" and "/root/film.mp4" in event["text"]] or Not(events[-5:]))(
            box.events()))
    before = box.invocation("watchbox-control.service")
    box.run("systemctl", "restart", "watchbox-control.service")
    checks.until("control, started again", restarted(box, "watchbox-control.service", before))
    checks.until("still knows why", lambda: _reports(box, "film", "failed"))
    box.remove("/etc/watchbox/conf.d/10-film.toml")
    done = box.ctl("config", "apply")
    checks.expect("config apply without it", done.ok, done)
    checks.until("and nothing of it is left failed", lambda: box.property(name, "ActiveState") == "inactive")


def _reports(box, camera, *states):
    stream = box.stream(camera)
    reason = stream.get("reason") or ""
    return stream if stream["state"] in states and "/root/film.mp4" in reason and "status" not in reason else Not(stream)


def _watchdog(box, name):
    result, restarts, sub = box.properties(name, "Result", "NRestarts", "SubState")
    return result == "watchdog" or "Watchdog timeout" in box.journal("-u", name) or Not(f"{result} {restarts} {sub}")


def _reported(box, after, thing, text):
    events = [event for event in box.events(after) if event.get("object") == thing]
    return [event for event in events if text in event["text"]] or Not(events)


def _state(box, camera, state):
    stream = box.stream(camera)
    return stream if stream["state"] == state else Not(stream["state"])


def _is(check, *states):
    return check if check["state"] in states else Not(check)
