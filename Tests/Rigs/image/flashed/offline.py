"""What a box meets where nobody is: no network, a clock that says 1970, a card that is full."""
from boxed.checks import Not

from . import updates
from .machine import START


def run(box, checks):
    machine = box.ready(checks)
    generation = box.json("watchboxctl status --json")["generation"]
    checks.expect("it shuts down", box.shut_down())
    # QEMU's own network goes on: the way in. What is outside of it is away.
    machine.start(date="1970-01-01T00:00:00", online=False)
    checks.until("without a network, in 1970, it starts", machine.is_up, seconds=START, needed=True, pause=2)
    year = int(box.run("date +%Y").stdout)
    checks.expect("time does not go back behind what the box knows", year >= 2026, year)
    status = checks.until("control answers with the configuration of before", lambda: box.json("watchboxctl status --json"), seconds=300)
    checks.same("the same generation", status["generation"], generation)
    box.camera()
    checks.until("the camera runs, and says what it waits for",
                 lambda: (lambda s: s["state"] == "waiting" and bool(s.get("reason")) or Not(s))(
                     box.json("watchboxctl stream show front --json")), seconds=300, pause=2)
    checks.until("the system counts as good all the same",
                 lambda: box.json("watchboxctl update status --json")["slots"]["running"]["isGood"], seconds=600, pause=3)
    machine.cut()
    machine.start()
    checks.until("with the network", machine.is_up, seconds=START, needed=True, pause=2)
    box.camera()
    checks.until("it publishes by itself", box.publishes, seconds=600, pause=2)
    full(box, checks)


def full(box, checks):
    updates.bring(box)
    # That it does is written to the card.
    checks.until("the system counts as good", lambda: updates.slots(box)["slots"]["running"]["isGood"], seconds=600, needed=True, pause=3)
    free = int(box.run("df --output=avail -B1 /data | tail -n 1").stdout)
    done = box.run(f"sudo fallocate -l {free} /data/filler; sudo dd if=/dev/zero of=/data/filler2 bs=4k 2>/dev/null; df --output=avail -B1 /data | tail -n 1", 300)
    checks.expect("the card is full", int(done.stdout.split()[-1]) < 1 << 20, done.stdout)
    viewer = box.host.viewer("front")
    checks.until("the camera publishes all the same", lambda: viewer.pictures(20), seconds=300)
    checks.expect("a change is refused, with a reason",
                  (lambda d: d.returncode != 0 and "Next:" in d.stderr)(box.run("watchboxctl camera edit front --name 'Front door, left'")))
    viewer.clean(checks, "and loses no frame")
    # Not for the bundle, which is there, but for the copy of its state with which the other system begins.
    before = updates.slots(box)
    done = box.run(f"sudo watchboxctl update install {updates.BUNDLE}", 600)
    checks.expect("an update is refused, with the room that it needs", done.returncode == 1 and "MB on /data" in done.stderr, f"{done.stdout} {done.stderr}")
    checks.same("and the systems are as they were", updates.slots(box), before)
    box.run("sudo rm -f /data/filler /data/filler2")
    checks.same("with room again, it is taken", box.run("watchboxctl camera edit front --name 'Front door, left'").returncode, 0)
