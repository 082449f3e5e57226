"""The power goes while the configuration is written, and while an update is: the box starts again, with the system that ran, and
knows all that it had said it knows. What happens between two cuts is done by the box itself and told on its serial line: the way in
over the network costs a start more time than all the rest."""
import random
import re
import time

from boxed.checks import Not

from . import updates
from .box import PATIENCE
from .machine import START

CUTS, IN_UPDATES = 20, 5
# Seconds, at most, after which an update is cut; half of them when one has ended before.
IN_UPDATE = 120
UNIT, SCRIPT = "/etc/systemd/system/test-cuts.service", "/data/test-cuts"
# From the boot loader to control and its store, and no further: what a cut can have hurt. The whole system starts after the last one.
SHORT = f"{PATIENCE} systemd.unit=basic.target systemd.wants=wb-update-gate.service systemd.wants=test-cuts.service"
# Numbers only grow, whatever a cut takes. What is to happen is the machine's serial number; an install is what writes, and RAUC's service
# and its questions are there before. One that ends before the cut is one that the box would start.
BOX = f"""#!/bin/sh
say() {{ echo "cuts: $*;" >/dev/console; }}
state() {{ watchboxctl update status --json | tr -d '\\n ' | sed -n 's/.*"running":{{\\([^}}]*\\)}}.*/\\1/p'; }}
writes() {{ pgrep -fx '[^ ]*rauc install .*' >/dev/null; }}
until number=$(watchboxctl camera list --json | sed -n 's/.*"name" *: *"Name \\([0-9][0-9]*\\)".*/\\1/p') && [ -n "$number" ]; do sleep 0.2; done
say "knows $number"
until state | grep -q '"isGood":true'; do sleep 0.2; done
say "keeps $(state | sed 's/.*"name":"\\([AB]\\)".*/\\1/')"
case $(cat /sys/class/dmi/id/product_serial) in
    update)
        watchboxctl update install {updates.BUNDLE} >/var/tmp/update.txt 2>&1 &
        install=$!
        until writes; do [ -d /proc/$install ] || {{ say "no update: $(tail -n 3 /var/tmp/update.txt | tr '\\n' ' ')"; exit; }}; sleep 0.1; done
        say writes
        while writes; do sleep 0.1; done
        say "has written"
        wait $install
        say "ends with $?"
        rauc status mark-active booted; rm -f /data/update.json; sync
        say "is as before"
        ;;
    edits)
        while :; do
            number=$((number + 1))
            if ! watchboxctl camera edit front --name "Name $number" >/dev/null; then say "no change: $number"; exit; fi
            say "said $number"
            [ -n "$writes" ] || say writes
            writes=1
        done
        ;;
esac
"""


def run(box, checks):
    machine = box.ready(checks)
    seed = random.SystemRandom().randrange(1 << 32)
    checks.note(f"seed {seed}")
    chance = random.Random(seed)
    system = updates.slots(box)["slots"]["running"]["name"]
    updates.bring(box)
    prepare(box)
    lost, waits, said, early, unseen, longest = [], [], 0, 0, 0, IN_UPDATE
    in_updates = set(chance.sample(range(CUTS), IN_UPDATES))
    for cut in range(CUTS + 1):
        # What comes before the first one is a start as any other; what comes after the last one is only looked at.
        machine.cut()
        begin = time.monotonic()
        machine.start(serial="none" if cut == CUTS else "update" if cut in in_updates else "edits")
        try:
            known = int(tells(machine, "knows")[0])
            waits.append(time.monotonic() - begin)
            if known < said:
                lost.append(f"after cut {cut}: it had said {said}, and knows {known}")
            said = max(said, known)
            if (kept := tells(machine, "keeps")[0]) != system:
                lost.append(f"after cut {cut}: {kept} runs")
            if cut == CUTS:
                break
            tells(machine, "writes")
            time.sleep(chance.uniform(0, longest if cut in in_updates else 6))
            if told(machine, "has written"):
                if (ended := tells(machine, "ends with")[0]) != "0":
                    lost.append(f"before cut {cut + 1}: the update ended with {ended}")
                tells(machine, "is as before")
            # The last word counts: what was taken a moment ago is what a cut endangers most.
            machine.cut()
            said = max([said, *map(int, told(machine, "said"))])
            is_chosen = not machine.boot_state()["ORDER"].startswith(system)
            if told(machine, "has written") or is_chosen:
                early, longest = early + 1, longest / 2
            if is_chosen:
                # Whole, and chosen for the next start by right, a moment before the box could tell. Here the one that ran goes on.
                unseen += 1
                machine.environment(ORDER=" ".join(sorted("AB", key=lambda name: name != system)))
        except TimeoutError as error:
            lost.append(f"after cut {cut}: {error}")
            break
    checks.expect(f"{CUTS} cuts, {IN_UPDATES - early} of them while an update is written: each time the same system starts, and knows what it had taken",
                  not lost, "\n".join(lost))
    checks.expect("no system is chosen long before it is whole", unseen < 2, f"{unseen} of {IN_UPDATES} updates were chosen before they had ended")
    checks.expect("most of the updates were cut", early < IN_UPDATES / 2, f"{early} of {IN_UPDATES} had ended")
    checks.note(f"{sum(waits) / max(1, len(waits)):.0f} s from switching on to control's answer, of so little; the longest {max(waits, default=0):.0f} s; "
                f"{said} changes were taken")
    whole(box, checks)


def prepare(box):
    """From the next start on it does as BOX says; as an update does, the other system begins with a copy of that."""
    done = box.machine.ssh(
        f"sudo tee {SCRIPT} >/dev/null && sudo chmod +x {SCRIPT} && printf '[Unit]\\nAfter=watchbox-control.service\\n[Service]\\nExecStart={SCRIPT}\\n' "
        f"| sudo tee {UNIT} && watchboxctl camera edit front --name 'Name 0' && sync", data=BOX, seconds=120)
    if done.returncode:
        raise OSError(f"the box could not be told what to do: {done.stderr}")
    box.machine.kernel_later(SHORT)


def whole(box, checks):
    """After all that, with the way in of always."""
    machine = box.machine
    machine.cut()
    # By its owner's card reader: nobody is let in.
    machine.kernel(PATIENCE)
    machine.start()
    checks.until("the whole system starts", lambda: machine.is_up() and box.run("systemctl is-active multi-user.target").stdout.strip() == "active"
                 or Not(machine.said(2)), seconds=START, needed=True, pause=3)
    box.camera()
    checks.until("and publishes", box.publishes, seconds=600, needed=True, pause=2)
    checks.same("a change is taken", box.run("watchboxctl camera edit front --name 'Front door'").returncode, 0)
    done = box.run(f"sudo watchboxctl update install {updates.BUNDLE}", 3000)
    checks.expect("an update over what the cuts left is installed", "installed" in done.stdout, f"{done.stdout[-400:]} {done.stderr[-400:]}")
    # Whatever group comes next meets the system that it knows.
    checks.same("and not started", box.run(f"sudo rauc status mark-active booted; sudo rm -f /data/update.json {UNIT} {SCRIPT}; sync").returncode, 0)


def told(machine, what):
    """What it has told of that on its serial line, each time; a line that is not whole yet does not count."""
    return re.findall(rf"cuts: {what} ?([^;\r\n]*);", machine.said(lines=None))


def tells(machine, what):
    """Waits for it."""
    begin = time.monotonic()
    while time.monotonic() - begin < START:
        if found := told(machine, what):
            return found
        if failed := told(machine, "no (?:update|change):"):
            raise TimeoutError(f"it could not be written to: {failed[0]}")
        if not machine.runs:
            raise TimeoutError(f"the machine has ended: {machine.said()}")
        time.sleep(0.2)
    raise TimeoutError(f"nothing of \"{what}\": {machine.said(3)}")
