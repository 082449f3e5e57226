"""The power goes while the configuration is written: the box starts again, and knows all that it had said it knows."""
import random
import re
import time

from boxed.checks import Not

from . import updates
from .machine import START

CUTS = 20


def run(box, checks, cuts=CUTS):
    machine = box.ready(checks)
    seed = random.SystemRandom().randrange(1 << 32)
    checks.note(f"seed {seed}")
    chance = random.Random(seed)
    # Each start counts against the system until it is kept: so it is, before the next cut.
    box.run("sudo mkdir -p /etc/systemd/system/wb-update-gate.service.d")
    lost = []
    for cut in range(cuts):
        done = machine.ssh(
            "nohup sh -c 'i=0; while :; do i=$((i+1)); watchboxctl camera edit front --name \"Name $i\" >/dev/null && echo $i >/var/tmp/last && sync -d /var/tmp/last; done' "
            ">/dev/null 2>&1 & sleep 3; cat /var/tmp/last", seconds=120)
        said = int(done.stdout or 0)
        time.sleep(chance.uniform(0, 6))
        machine.cut()
        machine.start()
        up, waited = False, time.monotonic()
        while not up and time.monotonic() - waited < START:
            time.sleep(2)
            up = machine.is_up()
        if not up:
            lost.append(f"cut {cut + 1}: it does not start: {machine.said(3)}")
            break
        known = known_name(box)
        if known < said:
            lost.append(f"cut {cut + 1}: it had said {said}, and knows {known}")
        begin = time.monotonic()
        while not updates.slots(box)["slots"]["running"]["isGood"]:
            if time.monotonic() - begin > 600:
                lost.append(f"cut {cut + 1}: it is never kept")
                break
            time.sleep(2)
    checks.expect(f"{cuts} cuts while the configuration is written: each time it starts, and knows what it had taken", not lost, "\n".join(lost))
    checks.same("the same system all the time", updates.slots(box)["slots"]["running"]["name"], "A")


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
