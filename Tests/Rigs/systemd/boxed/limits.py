"""A clock that was never set, starts by hand beyond every limit, and a camera that systemd has given up on."""
import time

from boxed.checks import Not
from boxed.stage import live, moves, opens, publishing_box, unit, whole

UNSET = ("watchbox-control.service", "watchbox-health.service", "watchbox-camera@.service", "watchbox-relay.service")


def run(box, checks, _seed):
    if box.has_clock():
        unset_clock(box, checks)
    else:
        checks.note("no clock.so, because this machine has no C compiler: the unset clock is not tried")
        publishing_box(box, checks)
    synchronised(box, checks)
    by_hand(box, checks)
    given_up(box, checks)
    whole(box, checks)


def synchronised(box, checks):
    """The sandbox refuses adjtimex to health; systemd-timedated says it."""
    expected = box.run("timedatectl", "show", "--property=NTPSynchronized", "--value").out.strip()
    checks.expect("timedatectl says whether the clock follows a time server", expected in ("yes", "no"), expected)
    check = checks.until("health knows it as well, inside its sandbox", lambda: _not_state(box, "clock", "unknown"), 90)
    says = "systemd-timedated" if expected == "yes" else "no time server was heard"
    checks.expect("and says the same", check and says in check["evidence"], (expected, check))


def by_hand(box, checks):
    """A technician who restarts everything, again and again."""
    starts = 0
    for _ in range(10):
        done = box.run("systemctl", "restart", "watchbox.target")
        starts += done.ok
        for name in ("watchbox-control", "watchbox-health"):
            if not checks.until(f"{name} runs after restart {starts} of the target", lambda: box.active(name), 60):
                return
    checks.same("ten restarts of the target by hand are done", starts, 10)
    # These have eight starts in ten minutes; what systemd gave up on, health starts again two minutes later.
    for name in (unit("front"), unit("back"), "watchbox-relay.service", "watchbox-kas.service"):
        checks.until(f"{name} runs", lambda: box.active(name), 300)
    for camera in ("front", "back"):
        checks.until(f"{camera} is live", lambda: live(box, camera), 120)
    checks.same("and no reboot was asked for", box.property("reboot.target", "ActiveState"), "inactive")


def unset_clock(box, checks):
    """The key access server has the true time: it stands for one far away."""
    box.clock(UNSET, "1970-01-01 00:01:00")
    publishing_box(box, checks)
    year = time.gmtime(box.ask("/api/v1/status")["time"]).tm_year
    checks.same("control believes it is 1970", year, 1970)
    for camera in ("front", "back"):
        checks.until(f"{camera} sends", moves(box, camera))
    check = checks.until("health says that the clock is not set", lambda: _state(box, "clock", "warn", "fail"))
    checks.expect("with its code", check and check.get("code") == "WB-4101", check)
    names = {camera: box.invocation(unit(camera)) for camera in ("front", "back")}
    before = {camera: box.camera(camera)["statistics"] for camera in names}
    box.clock(UNSET, None)
    checks.until("the clock is set by 56 years: health reports it", lambda: [
        event for event in box.get("health", "history")["events"] if event.get("code") == "WB-4103"])
    checks.until("and calls it set", lambda: box.check("clock").get("code") != "WB-4101")
    for camera, name in names.items():
        checks.until(f"{camera} goes on", moves(box, camera))
        checks.same(f"{camera} is the same process", box.invocation(unit(camera)), name)
        checks.same(f"{camera} has the same connection", box.camera(camera)["statistics"]["connections"],
                    before[camera]["connections"])
    # Until now the key access server knew nothing of their headers: for it they had expired in 1970.
    opens(box, checks, "front", what="a viewer opens 20 frames of front")
    checks.until("all headers are registered", lambda: all(
        key["headersUnregistered"] == 0 for key in box.get("key", "list")["keys"]) or Not("not yet"))
    checks.same("no service was restarted", [box.property(name, "NRestarts") for name in (
        "watchbox-control", "watchbox-health", "watchbox-relay", "watchbox-kas")], ["0"] * 4)
    checks.same("no reboot was asked for", box.property("reboot.target", "ActiveState"), "inactive")


def given_up(box, checks):
    name = unit("front")
    box.drop_in(name, "50-starts", "[Unit]\nStartLimitBurst=3\n")
    back = box.invocation(unit("back"))
    begin = time.monotonic()
    while box.property(name, "ActiveState") != "failed" and time.monotonic() - begin < 60:
        box.kill(name)
        time.sleep(0.2)
    failed = time.monotonic()
    checks.expect("a camera that ends too often is given up by systemd", box.property(name, "ActiveState") == "failed",
                  box.property(name, "ActiveState"))
    checks.until("status names it", lambda: (lambda status: status.status == 3 and "front" in status.out or Not(status))(
        box.ctl("status")))
    doctor = box.ctl("doctor", "--json")
    checks.expect("doctor names it", any(finding["state"] == "fail" and "front" in finding["evidence"]
                                         for finding in doctor.document["findings"]), doctor.out[-1500:])
    checks.until("health brings it back", lambda: box.active(name), 240, pause=0.5)
    checks.until("it is live", lambda: live(box, "front"))
    checks.note(f"live {time.monotonic() - failed:.0f} s after systemd gave up")
    events = box.get("health", "events")["events"]
    checks.expect("health reports that it did, and why", [
        event for event in events if event.get("object") == "front" and event.get("level") == "L1"
        and "given up" in event["text"]], events)
    checks.same("the other camera has not noticed", box.invocation(unit("back")), back)


def _not_state(box, check, *states):
    found = box.check(check)
    return Not(found) if found["state"] in states else found


def _state(box, check, *states):
    found = box.check(check)
    return found if found["state"] in states else Not(found)
