"""Fifty kills of whatever comes: afterwards everything is as it was."""
import random
import time

from boxed.checks import Not
from boxed.stage import live, moves, opens, publishing_box, unit, whole

UNITS = (unit("front"), unit("back"), "watchbox-control.service", "watchbox-health.service", "watchbox-relay.service",
         "watchbox-kas.service")


def run(box, checks, seed):
    # Fifty in a minute are more than the limits allow in ten: those have a check of their own (limits.py).
    box.drop_in("watchbox-.service", "50-starts", "[Unit]\nStartLimitBurst=200\n")
    publishing_box(box, checks)
    history = box.get("config", "history")["generations"]
    configuration = box.ctl("config", "export").out
    choose = random.Random(seed)
    checks.note(f"seed {seed}")
    done, begin, killed = 0, time.monotonic(), {name: 0 for name in UNITS}
    # As long as it takes: what hangs is ended with the group. A choice that is not up does not count.
    while done < 50:
        name = choose.choice(UNITS)
        if box.property(name, "MainPID") not in ("", "0") and box.kill(name).ok:
            done += 1
            killed[name] += 1
        time.sleep(choose.uniform(0, 0.8))
    checks.expect(f"50 kills in {time.monotonic() - begin:.0f} s: {sorted(killed.values())}", done == 50, done)
    for name in UNITS:
        checks.until(f"{name} is up", lambda: box.active(name))
    for camera in ("front", "back"):
        checks.until(f"{camera} is live", lambda: live(box, camera))
        checks.until(f"{camera} sends", moves(box, camera))
    opens(box, checks, "front")
    opens(box, checks, "back")
    checks.until("health: both publish", lambda: all(
        box.check("publish", camera)["state"] == "ok" for camera in ("front", "back")) or Not("not yet"))
    checks.until("status: all is well", lambda: (lambda status: status.ok or Not(status))(box.ctl("status")))

    # What runs for a moment does not count, such as the unit that looks why another was started so often.
    def alone():
        mains = sorted(box.property(name, "MainPID") for name in UNITS)
        found = sorted(box.sh("find /sys/fs/cgroup/watchbox.slice -name cgroup.procs -exec cat {} +").out.split())
        return found == mains or Not(f"is {found}, expected {mains}")
    checks.until("no process is left over", alone)
    now = box.get("config", "history")["generations"]
    checks.same("config history is as before", [(g["number"], g["cause"]) for g in now],
                [(g["number"], g["cause"]) for g in history])
    checks.same("and so is the configuration", box.ctl("config", "export").out, configuration)
    def rests():
        found = box.sh("find /var/lib/watchbox /var/lib/watchbox-health /run/watchbox -name '*.new'").out.split()
        return found == [] or Not(found)
    checks.until("no half-written file is left", rests)
    done = box.ctl("camera", "edit", "front", "--name", "After fifty kills")
    checks.expect("a change is possible", done.ok, done)
    whole(box, checks)
