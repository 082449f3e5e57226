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


def run(box, checks):
    machine = box.ready(checks)
    key = box.run("sudo cat /var/lib/systemd/credential.secret | base64 -w0").stdout
    name = box.run("cat /etc/machine-id").stdout
    checks.expect("it shuts down", box.shut_down())
    # Somebody else's file: an adopted box does not listen to a stick.
    machine.start(stick=stick(box, {"watchbox.toml": 'name = "Stolen"\n'}))
    checks.until("a stick is put in", machine.is_up, seconds=START, needed=True, pause=2)
    checks.until("and not obeyed", lambda: "adopted already" in box.run("journalctl -b -u wb-adopt --no-pager").stdout
                 or Not(box.run("journalctl -b -u wb-adopt --no-pager | tail -n 5").stdout), seconds=300, pause=3)
    checks.same("the name is as it was", box.run("hostname").stdout.strip(), "porch")
    checks.expect("it shuts down", box.shut_down())
    machine.start(stick=stick(box, {"factory-reset": ""}))
    checks.until("one with factory-reset is: nobody gets in any more",
                 lambda: "factory reset" in machine.console.read_text(errors="replace") or Not(machine.said(3)), seconds=2 * START, pause=3)
    checks.until("it starts again", lambda: machine.console.read_text(errors="replace").count("login:") >= 1
                 and machine.ssh("true", seconds=20).returncode == 255, seconds=START, pause=5)
    machine.cut()
    box.adopted = False
    machine.put("WATCHBOX/watchbox.toml", box.adoption())
    machine.start()
    checks.until("adopted anew", machine.is_up, seconds=START, needed=True, pause=2)
    box.adopted = True
    checks.expect("it is another box", name and box.run("cat /etc/machine-id").stdout != name)
    fresh = box.run("sudo cat /var/lib/systemd/credential.secret | base64 -w0").stdout
    checks.expect("with another key", key and fresh and fresh != key)
    if key:
        checks.same("the old one is nowhere on the card", machine.count(base64.b64decode(key)[:64]), 0)
