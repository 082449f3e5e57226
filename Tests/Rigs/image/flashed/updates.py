"""Updates: what is refused, what is kept, what is taken back."""
import os
import pathlib
import subprocess
import time

from boxed.checks import Not

from .machine import START

GATE = "/etc/systemd/system/wb-update-gate.service.d"


# Where both systems see it, and no reset has been.
BUNDLE = "/data/update.raucb"


def send(box, file, place):
    """Puts a bundle on the box, as its owner does."""
    with open(file, "rb") as content:
        return box.machine.ssh(f"sudo tee {place} >/dev/null && sync -f {place}", seconds=900, data=content.read())


def bring(box):
    """The image's own bundle, unless it is there. What runs is installed again: a version that only its label makes newer would show no more."""
    if box.run(f"test -e {BUNDLE}").returncode:
        send(box, box.bundle, BUNDLE)


def slots(box):
    return box.json("watchboxctl update status --json")


def running(box, name):
    def look():
        if not box.machine.is_up():
            return Not(box.machine.said(2))
        found = slots(box)["slots"]["running"]["name"]
        return found == name or Not(f"{found} runs")
    return look


def bundles(box):
    """What a box has to refuse before it reads any of the content, which is therefore small."""
    made = box.directory / "bundles"
    made.mkdir(exist_ok=True)
    compatible = box.image.stem

    def bundle(name, version, signing, brand=compatible):
        target = made / f"{name}.raucb"
        if target.exists():
            return target
        content = made / name
        content.mkdir()
        for image in ("system.img", "boot.img"):
            (content / image).write_bytes(os.urandom(1 << 20))
        (content / "manifest.raucm").write_text(
            f"[update]\ncompatible={brand}\nversion={version}\n\n[bundle]\nformat=verity\n\n[image.system]\nfilename=system.img\n\n[image.boot]\nfilename=boot.img\n")
        subprocess.run(["rauc", "bundle", f"--cert={signing / 'cert.pem'}", f"--key={signing / 'key.pem'}", content, target],
                       check=True, capture_output=True)
        return target
    return bundle


def run(box, checks):
    machine = box.ready(checks)
    box.camera()
    checks.until("the camera publishes", box.publishes, seconds=600, needed=True, pause=2)
    start = slots(box)["slots"]["running"]["name"]
    other = "B" if start == "A" else "A"
    scale(box, hold=60, limit=240)
    refused(box, checks, machine)
    good(box, checks, start, other)
    silent(box, checks, other, start)


def scale(box, hold, limit):
    """The gate's five and fifteen minutes, shorter; also in the copy that another system begins with."""
    box.run(f"sudo mkdir -p {GATE} && printf '[Service]\\nExecStart=\\nExecStart=/usr/bin/watchboxctl update gate --hold {hold} --limit {limit}\\n' | sudo tee {GATE}/test.conf")


def refused(box, checks, machine):
    strangers = box.directory / "strangers"
    if not strangers.exists():
        subprocess.run([pathlib.Path(__file__).parents[4] / "packaging/image/make-signing-keys", strangers], check=True)
    make = bundles(box)
    before = slots(box)["slots"]
    # Without it the other system would lose its own state when the box falls back to it.
    identities = "sudo sha256sum /data/slots/*/identity"
    owned = box.run(identities).stdout
    for name, file, why in (
            ("stranger", make("stranger", "9.0", strangers), "signature"),
            ("brand", make("brand", "9.0", box.images / "signing", brand="watchbox-other"), "other board"),
            ("older", make("older", "0.0.1", box.images / "signing"), "older")):
        send(box, file, f"/var/tmp/{name}.raucb")
        done = box.run(f"sudo watchboxctl update install /var/tmp/{name}.raucb", 600)
        checks.expect(f"refused, with a reason and a next step: {why}", done.returncode not in (0, 255) and "Next:" in done.stderr,
                      f"{done.returncode}: {done.stdout[-300:]} {done.stderr[-400:]}")
        file.unlink()
    box.run("head -c 1500000 /var/tmp/older.raucb >/var/tmp/cut.raucb; sudo rm /var/tmp/stranger.raucb /var/tmp/brand.raucb /var/tmp/older.raucb")
    done = box.run("sudo watchboxctl update install /var/tmp/cut.raucb; rm /var/tmp/cut.raucb", 300)
    checks.expect("refused: truncated", "Next:" in done.stderr, done.stderr[-400:])
    checks.same("and the systems are as they were", slots(box)["slots"], before)
    checks.same("each with its state", box.run(identities).stdout, owned)
    checks.expect("nothing is pending", "pending" not in slots(box), slots(box))


def good(box, checks, start, other):
    """While it publishes, without a lost frame; kept after its cameras have published for a while."""
    bring(box)
    viewer = box.host.viewer("front")
    checks.until("somebody watches", lambda: viewer.pictures(10), seconds=300, needed=True)
    done = box.run(f"sudo watchboxctl update install {BUNDLE}", 3000)
    checks.expect("the update is installed", done.returncode == 0 and "installed" in done.stdout, f"{done.stdout[-400:]} {done.stderr[-400:]}", needed=True)
    viewer.clean(checks, "and costs no frame meanwhile")
    box.run("watchboxctl camera edit front --name 'Before the update'")
    checks.expect("it is pending, with the cameras of now", slots(box).get("pending", {}).get("cameras") == ["front"], slots(box))
    box.run("sudo systemctl reboot", 30)
    began = time.monotonic()
    checks.until(f"system {other} runs", running(box, other), seconds=2 * START, needed=True, pause=5)
    checks.same("with the box's name and configuration", (box.run("hostname").stdout.strip(), box.json("watchboxctl camera list --json")["cameras"][0]["id"]), ("porch", "front"))
    checks.expect("it is not kept before its camera publishes",
                  slots(box).get("pending") is not None and not slots(box)["slots"]["running"]["isGood"], slots(box))
    box.camera()
    # Without a look at the boot partition, which is mounted while somebody looks: as on a box where nobody is.
    checks.until("once it does for a while, it is", lambda: box.run("test -e /data/update.json").returncode == 1, seconds=600, pause=3)
    checks.expect("and counts as good", slots(box)["slots"]["running"]["isGood"], slots(box))
    checks.same("what was changed before is there", box.json("watchboxctl camera list --json")["cameras"][0]["name"], "Before the update")
    checks.note(f"{time.monotonic() - began:.0f} s from the reboot to a system that is kept")


def silent(box, checks, start, other):
    """A system that starts, and whose camera does not publish: nobody puts it in."""
    checks.until("the camera publishes before", box.publishes, seconds=300, needed=True)
    bring(box)
    # Nothing will come to be waited for.
    scale(box, hold=30, limit=60)
    done = box.run(f"sudo watchboxctl update install {BUNDLE} --reboot", 3000)
    # The connection ends with the system.
    checks.expect("an update whose camera will not publish is installed", "reboots into it" in done.stdout, f"{done.stdout[-400:]} {done.stderr[-400:]}", needed=True)
    checks.until(f"after three starts in vain, {start} runs again", taken_back(box, start, other), seconds=6 * START, pause=5)
    box.camera()
    checks.until("and publishes", box.publishes, seconds=600, pause=2)
    done = box.run("sudo watchboxctl update rollback")
    checks.expect("the other one is not to be chosen by hand: it does not start", done.returncode == 9, done.stderr)


def taken_back(box, start, other):
    tried = set()

    def look():
        if not box.machine.is_up():
            return Not(f"{box.machine.said(2)}; seen so far: {sorted(tried)}")
        tried.add(slots(box)["slots"]["running"]["name"])
        return (other in tried and slots(box)["slots"]["running"]["name"] == start) or Not(f"seen: {sorted(tried)}")
    return look
