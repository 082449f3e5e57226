"""The guest machine: QEMU, and a directory that both sides share."""
import json
import os
import pathlib
import shutil
import subprocess
import time

MACHINES = {
    # program, machine, CPU, console, cards' bus
    "x86_64": ("qemu-system-x86_64", "q35", "max", "ttyS0"),
    "aarch64": ("qemu-system-aarch64", "virt,gic-version=3", "cortex-a72", "ttyAMA0"),
}
BOOT = 240
"""Seconds; a boot takes ten on an idle machine, and a minute on a busy one."""
HOST = "10.0.2.2"
"""This machine's loopback, as the guest sees it."""


def missing():
    """Why there can be no guest here; nothing when there can."""
    machine = os.uname().machine
    if machine not in MACHINES:
        return f"no guest for {machine} (x86_64 and aarch64 have one)"
    program = MACHINES[machine][0]
    if not shutil.which(program):
        return f"{program} is missing (Debian package qemu-system-{'x86' if machine == 'x86_64' else 'arm'})"
    return None


class Result:
    """How a script in the guest ended; both its outputs are one."""

    def __init__(self, status, out, seconds):
        self.status, self.out, self.seconds = status, out, seconds
        self.ok = status == 0

    @property
    def document(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise ValueError(f"this is not a document ({error}): {self}") from None

    @property
    def lines(self):
        """The JSON lines among the others."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def __str__(self):
        return f"status {self.status} after {self.seconds:.1f} s\n{self.out.strip()[-3000:]}"


class Guest:
    def __init__(self, image, directory):
        self.image = pathlib.Path(image)
        self.directory = pathlib.Path(directory)
        self.share = self.directory / "share"
        self.console = self.directory / "console.txt"
        self.number = 0
        self.process = None
        for name in ("commands", "results", "files"):
            (self.share / name).mkdir(parents=True)

    def start(self, disk):
        """Boots, with one more disk."""
        program, machine, cpu, console = MACHINES[os.uname().machine]
        begin = time.monotonic()
        kernel = (f"console={console} root=/dev/vda rw panic=-1 quiet loglevel=4 systemd.show_status=error net.ifnames=0 "
                  "systemd.firstboot=off mitigations=off nokaslr random.trust_cpu=on")
        command = [
            # Ends with this program, however that ends. Never KVM: it may be there and not work, and figures should be alike.
            "setpriv", "--pdeathsig", "KILL", program, "-M", machine, "-cpu", cpu,
            "-accel", "tcg,thread=multi,tb-size=512", "-smp", "2", "-m", "1536",
            "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot",
            "-kernel", self.image / "vmlinuz", "-initrd", self.image / "initrd.gz", "-append", kernel,
            # What the guest writes goes to a file without a name.
            "-drive", f"if=none,id=root,file={self.image / 'root.img'},format=raw,snapshot=on,cache=unsafe",
            "-device", "virtio-blk-pci,drive=root",
            "-drive", f"if=none,id=layer,file={disk},format=raw,readonly=on", "-device", "virtio-blk-pci,drive=layer",
            "-fsdev", f"local,id=share,path={self.share},security_model=none",
            "-device", "virtio-9p-pci,fsdev=share,mount_tag=share",
            "-netdev", "user,id=network", "-device", "virtio-net-pci,netdev=network,romfile=",
            "-object", "rng-random,id=random,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=random",
            "-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        with open(self.directory / "qemu.txt", "wb") as words:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=words, stderr=words)
        self.run("true", limit=BOOT)
        return time.monotonic() - begin

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def words(self):
        """What the machine said last, for a failure."""
        said = [file.read_text(errors="replace").strip()[-1000:] for file in (self.directory / "qemu.txt", self.console)
                if file.exists()]
        return "\n".join(word for word in said if word) or "(it said nothing)"

    def run(self, script, limit=30):
        """Runs a script of bash as root, for so many seconds at the most; status 124 when they were not enough."""
        self.number += 1
        file = self.share / "commands" / f"{self.number}.new"
        file.write_text(f"# {limit}\n{script}\n")
        file.rename(file.with_suffix(""))
        begin = time.monotonic()
        answer = self.share / "results" / str(self.number)
        while not answer.exists():
            if self.process.poll() is not None:
                raise OSError(f"the guest has ended (status {self.process.returncode}): {self.words()}")
            # It ends the script itself; this is for a guest that does nothing any more.
            if time.monotonic() - begin > limit + 60:
                raise OSError(f"the guest does not answer any more: {self.words()}")
            time.sleep(0.02)
        out = answer.with_suffix(".out").read_text(errors="replace")
        return Result(int(answer.read_text()), out, time.monotonic() - begin)

    def file(self, name):
        """On this side; /share/files/NAME in the guest."""
        return self.share / "files" / name

    # ---- modules and devices ----

    def parameter(self, name, value):
        """A fault of the encoder, switched on or off."""
        return self.run(f"echo {value} >/sys/module/wb_h264sim/parameters/{name}").ok

    # ---- units ----

    def properties(self, unit, *names):
        out = self.run(f"systemctl show {unit} " + " ".join(f"--property={name}" for name in names)).out
        found = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        return [found.get(name, "") for name in names]

    def property(self, unit, name):
        return self.properties(unit, name)[0]

    def journal(self, unit, lines=200):
        return self.run(f"journalctl --no-pager --output=short-monotonic --lines={lines} --unit={unit}").out

    def call(self, camera, path, method="GET", body=None):
        """One request to a camera's own socket: status and text."""
        options = f"-X {method}" + (f" -H 'Content-Type: application/json' -d '{json.dumps(body)}'" if body else "")
        done = self.run(f"curl --silent --max-time 20 --write-out '\\n%{{http_code}}' {options} "
                        f"--unix-socket /run/watchbox/camera/{camera}.sock http://camera{path}")
        text, _, status = done.out.rpartition("\n")
        return int(status) if status.strip().isdigit() else 0, text

    def camera(self, camera):
        """What a camera's process says; ValueError while there is none that answers."""
        status, text = self.call(camera, "/api/v1/status")
        if status != 200:
            raise ValueError(f"the camera's process answers {status}: {text[-300:]}")
        return json.loads(text)["statistics"]
