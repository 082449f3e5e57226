"""The power goes while the configuration is written, and while an update is: the box starts again, with the system that ran, and
knows all that it had said it knows."""
import random
import re
import time

from boxed.checks import Not

from . import updates
from .box import PATIENCE
from .machine import START

CUTS, IN_UPDATES = 20, 5
# From the boot loader to control and its store, and no further: what a cut can have hurt. The whole system starts after the last one.
SHORT = PATIENCE + " systemd.unit=basic.target " + " ".join(
    f"systemd.wants={name}.service" for name in ("systemd-networkd", "systemd-user-sessions", "ssh", "watchbox-control", "wb-update-gate"))
FORGET = "sudo rauc status mark-active booted; sudo rm -f /data/update.json; sync"
# Numbers only grow, whatever a cut takes.
EDITS = """nohup sh -c 'i=START; while :; do i=$((i+1)); watchboxctl camera edit front --name "Name $i" >/dev/null && echo $i >/var/tmp/last && sync -d /var/tmp/last; done' >/dev/null 2>&1 &
sleep 3; cat /var/tmp/last 2>/dev/null || true"""
# RAUC's service and its questions are there before.
WRITES = "pgrep -fx '[^ ]*rauc install .*' >/dev/null"
UPDATE = f"""sudo sh -c 'nohup watchboxctl update install {updates.BUNDLE} >/var/tmp/update.txt 2>&1 &'
for i in $(seq 600); do {WRITES} && exit 0; sleep 0.1; done; exit 1"""


def run(box, checks):
    machine = box.ready(checks)
    seed = random.SystemRandom().randrange(1 << 32)
    checks.note(f"seed {seed}")
    chance = random.Random(seed)
    before = updates.slots(box)["slots"]["running"]["name"]
    updates.bring(box)
    machine.kernel_later(SHORT)
    lost, waits, said, early = [], [], 0, 0
    in_updates = sorted(chance.sample(range(CUTS), IN_UPDATES))
    for cut in range(CUTS):
        if cut in in_updates:
            begun = machine.ssh(UPDATE, seconds=600)
            if begun.returncode:
                lost.append(f"cut {cut + 1}: no update began: {box.run('cat /var/tmp/update.txt').stdout}")
            # An install that has ended by then is one that the box would start.
            ended = machine.ssh(f"for i in $(seq {chance.randrange(1, 400)}); do {WRITES} || exit 1; sleep 0.1; done", seconds=300).returncode
            if ended:
                early += 1
                box.run(FORGET)
        else:
            said = max(said, int(machine.ssh(EDITS.replace("START", str(1000 * cut)), seconds=120).stdout or 0))
            time.sleep(chance.uniform(0, 6))
        machine.cut()
        begin = time.monotonic()
        machine.start()
        if reason := starts(machine):
            lost.append(f"cut {cut + 1}: it does not start: {reason}")
            break
        waits.append(time.monotonic() - begin)
        known = known_name(box)
        if isinstance(known, Not) or known < said:
            lost.append(f"cut {cut + 1}: it had said {said}, and knows {known}")
        said = 0 if isinstance(known, Not) else known
        if reason := is_kept(box, before):
            lost.append(f"cut {cut + 1}: {reason}")
    checks.expect(f"{CUTS} cuts, {IN_UPDATES} of them while an update is written: each time the same system starts, and knows what it had taken",
                  not lost, "\n".join(lost))
    checks.expect("most of the updates were cut", early < IN_UPDATES / 2, f"{early} of {IN_UPDATES} had ended")
    checks.note(f"{sum(waits) / max(1, len(waits)):.0f} s from switching on to the owner's login, of so little; the longest {max(waits, default=0):.0f} s")
    machine.kernel_later(PATIENCE)
    box.run("sudo systemctl reboot", 30)
    checks.until("the whole system starts", lambda: machine.is_up() and box.run("systemctl is-active multi-user.target").stdout.strip() == "active"
                 or Not(machine.said(2)), seconds=START, needed=True, pause=3)
    box.camera()
    checks.until("and publishes", box.publishes, seconds=600, needed=True, pause=2)
    done = box.run(f"sudo watchboxctl update install {updates.BUNDLE}", 3000)
    checks.expect("an update over what the cuts left is installed", "installed" in done.stdout, f"{done.stdout[-400:]} {done.stderr[-400:]}")
    # Whatever group comes next meets the system that it knows.
    checks.same("and not started", box.run(FORGET).returncode, 0)


def starts(machine):
    """None, or why it did not."""
    begin = time.monotonic()
    while time.monotonic() - begin < START:
        time.sleep(1)
        try:
            if machine.is_up():
                return None
        except OSError as error:
            return str(error)
    return machine.said(3)


def is_kept(box, system):
    begin = time.monotonic()
    while True:
        try:
            running = updates.slots(box)["slots"]["running"]
            if running["name"] != system:
                return f"{running['name']} runs"
            if running["isGood"]:
                return None
        except ValueError as error:
            running = error
        if time.monotonic() - begin > 600:
            return f"it is never kept: {running}"
        time.sleep(1)


def known_name(box):
    begin = time.monotonic()
    while True:
        try:
            name = box.json("watchboxctl camera list --json")["cameras"][0]["name"]
            number = re.search(r"(\d+)$", name)
            return int(number[1]) if number else 0
        except (ValueError, KeyError, IndexError) as error:
            if time.monotonic() - begin > 300:
                return Not(str(error))
            time.sleep(1)
