"""The first start: adoption by a file on the card, what the system is, and the whole way from vivid to a viewer here."""
import re
import time

from boxed.checks import Not

from .machine import START


def run(box, checks):
    machine = box.flash()
    box.adopted = False
    checks.same("the flashed card shows an example", machine.get("WATCHBOX/watchbox.toml.example") is not None, True)
    machine.put("WATCHBOX/watchbox.toml", box.adoption())
    machine.start()
    began = time.monotonic()
    checks.until("switched on, it is adopted, and its owner logs in", machine.is_up, seconds=START, needed=True, pause=2)
    box.adopted = True
    adopted(box, checks)
    if not machine.board.has_clock:
        # What a network's time server does, and this network has none: certificates are not valid yet in the year of the image.
        checks.same("its clock is set", box.run(f"sudo date -s @{time.time():.0f}").returncode, 0)
    system(box, checks)
    publishing(box, checks, began)
    if machine.board.has_clock:
        power_goes(box, checks)


def adopted(box, checks):
    machine = box.machine
    checks.same("the host name is the box's name", box.run("hostname").stdout.strip(), "porch")
    checks.until("the file is gone, a result is there",
                 lambda: box.run("sudo ls /boot/watchbox/WATCHBOX").stdout.split() == ["watchbox-result.txt", "watchbox.toml.example"]
                 or Not(box.run("sudo ls /boot/watchbox/WATCHBOX; journalctl -b -u wb-adopt --no-pager | tail -n 8").stdout))
    result = box.run("sudo cat /boot/watchbox/WATCHBOX/watchbox-result.txt").stdout
    secret = box.host.publish_token
    checks.expect("the result says so, and no secret", "porch" in result.lower() and secret not in result, result)
    journal = box.run("sudo journalctl -b --no-pager").stdout
    checks.expect("nor does the journal", len(journal) > 1000 and secret not in journal, len(journal))
    holds = machine.count(secret.encode())
    checks.note(f"copies of the token in plain text on the whole card: {holds}")
    checks.same("nobody logs in without that key", machine.ssh("true", user="root").returncode, 255)
    checks.same("no account has a password",
                box.run("sudo awk -F: '$2 !~ /^[!*]/ { print $1 }' /etc/shadow").stdout.split(), [])


def system(box, checks):
    checks.until("no unit has failed",
                 lambda: box.run("systemctl is-system-running --wait").stdout.strip() == "running"
                 or Not(box.run("systemctl --failed --no-legend --plain; sudo journalctl -b -p err --no-pager | tail -n 6").stdout), seconds=600, pause=5)
    mounts = box.run("findmnt -rno TARGET,FSTYPE,OPTIONS / && findmnt -rno TARGET,FSTYPE,OPTIONS /data /var /etc").stdout
    checks.expect("the root is erofs, and read-only", mounts.startswith("/ erofs ro"), mounts)
    checks.same("nobody can write to it", box.run("sudo touch /usr/x 2>&1; sudo touch /x 2>&1; ls /x /usr/x 2>/dev/null").stdout.count("Read-only"), 2)
    checks.same("each block of it is checked, and none is wrong", box.run("sudo dmsetup status system").stdout.split()[2:4], ["verity", "V"])
    size = int(box.run("df --output=size -B1M /data | tail -n 1").stdout)
    checks.expect("/data has grown to the end of the card", size > 2000, f"{size} MB")
    watchdog = box.run("cat /sys/class/watchdog/watchdog0/state /sys/class/watchdog/watchdog0/identity; systemctl show -P RuntimeWatchdogUSec").stdout
    if box.machine.board.arms_watchdog:
        checks.expect("the watchdog is armed", watchdog.startswith("active"), watchdog)
    checks.expect("PSI is there, and control groups count memory",
                  box.run("cat /proc/pressure/memory && grep -q memory /sys/fs/cgroup/cgroup.controllers").returncode == 0)
    slots = box.json("watchboxctl update status --json")
    checks.same("system A runs, and B is empty", (slots["slots"]["running"]["name"], slots["slots"]["other"]["isGood"]), ("A", False))
    checks.until("this start counts as good", lambda: box.json("watchboxctl update status --json")["slots"]["running"]["isGood"]
                 or Not(box.run("journalctl -b -u wb-update-gate --no-pager | tail -n 4").stdout), seconds=600, pause=3)
    times = box.run("systemd-analyze time").stdout.splitlines()
    checks.note(times[0] if times else "systemd-analyze says nothing")


def publishing(box, checks, began):
    checks.same("a camera is put in", box.camera().returncode, 0)
    checks.until("it publishes", box.publishes, seconds=600, needed=True, pause=2)
    viewer = box.host.viewer("front")
    checks.until("a viewer on the other machine opens 30 frames", lambda: viewer.pictures(30), seconds=600, needed=True)
    viewer.clean(checks, "each was authentic, none missing, none twice")
    figures = box.run("awk '/MemAvailable/ { print $2 }' /proc/meminfo; awk -v disk=\"$(cat /run/watchbox-disk)\" '$3 == disk { print $10 }' /proc/diskstats; cat /proc/uptime").stdout.split()
    checks.note(f"{int(figures[0]) // 1024} MB of 1024 are free; {int(figures[1]) * 512 / 1e6:.1f} MB written in the first {float(figures[2]):.0f} s; "
                f"{time.monotonic() - began:.0f} s from switching on to here")


RECORDINGS = "/var/lib/private/watchbox-recordings/front"
# Of the head of each film as libavformat writes it, which is on the card as well.
FILM = b"VideoHandler"


def recording(box):
    return box.json("watchboxctl recording status front --json")["recordings"][0].get("recording") or {"state": "?", "frames": 0}


def recorded(box, frames):
    now = recording(box)
    return now if now["state"] == "recording" and now["frames"] >= frames else Not(f"{now}")


def power_goes(box, checks):
    """While it records: what is on the card is ended by the next start, without a frame in clear."""
    machine, before = box.machine, box.machine.count(FILM)
    checks.same("its camera is to be recorded", box.run("watchboxctl recording on front").returncode, 0)
    # Ten frames a second, and a recording ends after a minute: one has its end, the next one grows.
    checks.until("it is recorded for more than a minute", lambda: recorded(box, 700), seconds=600, needed=True, pause=2)
    frames = recording(box)["frames"]
    machine.cut()
    checks.same("there is no film in clear on its card", machine.count(FILM), before)
    machine.start()
    checks.until("its power goes and comes back: it is up", machine.is_up, seconds=START, needed=True, pause=2)
    checks.until("what was being recorded has its end", lambda: (lambda left: not left or Not(left))(
        [name for name in listed(box) if not name.endswith((".tdf", "live-gaps.json"))]), seconds=600, needed=True, pause=2)
    names = [name for name in listed(box) if name.endswith(".tdf")]
    seconds = sum(int(re.search(r"Z-(\d+)", name)[1]) for name in names) / 1000
    # Flushed each two seconds; a group of pictures has another two, and a frame is one of the last before the look.
    checks.expect("without more than a group of pictures and two seconds", seconds >= frames / 10 - 5, f"{seconds} s of {frames} frames: {names}")
    for name in names:
        done = box.run(f"sudo watchboxctl archive verify {RECORDINGS}/{name}")
        checks.expect(f"recording {names.index(name) + 1}: each segment is as it was written", done.returncode == 0, done.stdout + done.stderr)


def listed(box):
    return box.run(f"sudo ls {RECORDINGS}").stdout.split()
