"""A stick with WATCHBOX/factory-reset on it: the box is as it was flashed, and what it had sealed is gone."""
import base64
import subprocess

from boxed.checks import Not

from .machine import START


def stick(box, files):
    """A FAT stick with a folder WATCHBOX."""
    image = box.directory / "stick.img"
    image.unlink(missing_ok=True)
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.vfat", "-n", "STICK", image], check=True, capture_output=True)
    subprocess.run(["mmd", "-i", image, "::WATCHBOX"], check=True)
    for name, content in files.items():
        (box.directory / "content").write_text(content)
        subprocess.run(["mcopy", "-i", image, box.directory / "content", f"::WATCHBOX/{name}"], check=True)
    return image


# What seals the box's secrets: systemd's from 256 on, the box's own before.
KEY = "sudo sh -c 'cat /var/lib/systemd/credential.secret 2>/dev/null || cat /var/lib/watchbox/device.key' | base64 -w0"


def run(box, checks):
    machine = box.ready(checks)
    key = checks.until("its secrets are sealed", lambda: box.run(KEY).stdout, seconds=60, needed=True)
    name = box.run("cat /etc/machine-id").stdout
    checks.expect("it shuts down", box.shut_down())
    # Somebody else's file: an adopted box does not listen to a stick.
    machine.start(stick=stick(box, {"watchbox.toml": '\nname = "Stolen"\n'}))
    checks.until("a stick is put in", machine.is_up, seconds=START, needed=True, pause=2)
    checks.until("and not obeyed", lambda: "adopted already" in box.run("journalctl -b -u wb-adopt --no-pager").stdout
                 or Not(box.run("journalctl -b -u wb-adopt --no-pager | tail -n 5").stdout), seconds=300, pause=3)
    checks.same("the name is as it was", box.run("hostname").stdout.strip(), "porch")
    checks.expect("it shuts down", box.shut_down())
    machine.start(stick=stick(box, {"factory-reset": ""}))

    def after():
        """What the console says from the reset on."""
        return machine.console.read_text(errors="replace").partition("watchbox: factory reset")[2]
    checks.until("one with factory-reset is", lambda: bool(after()) or Not(machine.said(3)), seconds=2 * START, needed=True, pause=3)
    checks.until("it starts again", lambda: "login:" in after() or Not(machine.said(3)), seconds=START, needed=True, pause=3)
    checks.same("nobody gets in any more", machine.ssh("true", seconds=20).returncode, 255)
    machine.cut()
    checks.same("what sealed its secrets is nowhere on the card", machine.count(base64.b64decode(key)[:64]), 0)
    box.adopted = False
    machine.put("WATCHBOX/watchbox.toml", box.adoption())
    machine.start()
    checks.until("adopted anew", machine.is_up, seconds=START, needed=True, pause=2)
    box.adopted = True
    checks.same("and what it keeps is on its card", box.run("findmnt -no FSTYPE /data; ls /data/factory-reset /run/watchbox-data-lost 2>/dev/null").stdout.split(), ["ext4"])
    checks.expect("it is another box", name and box.run("cat /etc/machine-id").stdout not in ("", name))
    fresh = checks.until("its secrets are sealed again", lambda: box.run(KEY).stdout, seconds=300)
    checks.expect("with another key", fresh and fresh != key)
