"""A board: QEMU with EFI firmware and the image on its disk. Without KVM: it may be there and not work."""
import mmap
import os
import pathlib
import shutil
import socket
import subprocess
import time

# How long a start may take. For what hangs, not for what is slow.
START = 900
MACHINES = {
    "amd64": dict(
        program="qemu-system-x86_64", arguments=["-M", "q35", "-cpu", "max"],
        firmware=[("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd")],
        packages="qemu-system-x86 ovmf"),
    "arm64": dict(
        program="qemu-system-aarch64", arguments=["-M", "virt", "-cpu", "cortex-a72"],
        firmware=[("/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.fd")],
        packages="qemu-system-arm qemu-efi-aarch64"),
}


def missing(architecture):
    """Why there can be no such machine here, or None."""
    machine = MACHINES[architecture]
    if not shutil.which(machine["program"]) or not all(os.path.exists(file) for file in machine["firmware"][0]):
        return f"QEMU or its firmware is missing (Debian packages {machine['packages']})"
    if not shutil.which("ssh"):
        return "the Debian package openssh-client is missing"
    return None


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Machine:
    def __init__(self, architecture, image, directory, gigabytes=4):
        """The image is only read: what the machine writes goes to a disk of its own, larger than the image, as a card is."""
        self.kind = MACHINES[architecture]
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True)
        self.disk = self.directory / "disk.img"
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", image, self.disk], check=True)
        os.truncate(self.disk, gigabytes << 30)
        shutil.copy(self.kind["firmware"][0][1], self.directory / "firmware.fd")
        self.key = self.directory / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "owner@laptop", "-f", self.key], check=True)
        self.port = free_port()
        self.process = None
        self.starts = 0

    @property
    def console(self):
        """What the last start said on the serial line."""
        return self.directory / f"console-{self.starts}.txt"

    def start(self, *, date=None, online=True, stick=None, reboots=True):
        """Switches it on; `date`: what its clock says (it has no battery: 1970-01-01), `stick`: an image of a USB stick."""
        self.starts += 1
        restrict = "" if online else ",restrict=on"
        command = [
            "setpriv", "--pdeathsig", "KILL", self.kind["program"], *self.kind["arguments"],
            "-accel", "tcg,thread=multi,tb-size=512", "-smp", "2", "-m", "1024",
            "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
            "-drive", f"if=pflash,format=raw,readonly=on,file={self.kind['firmware'][0][0]}",
            "-drive", f"if=pflash,format=raw,file={self.directory / 'firmware.fd'}",
            "-drive", f"if=none,id=disk,file={self.disk},format=raw,cache=writeback,discard=unmap",
            "-device", "virtio-blk-pci,drive=disk,bootindex=1",
            "-netdev", f"user,id=network,hostfwd=tcp:127.0.0.1:{self.port}-:22{restrict}",
            "-device", "virtio-net-pci,netdev=network,romfile=",
            "-device", "i6300esb", "-action", "watchdog=reset",
            "-object", "rng-random,id=random,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=random",
            "-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        if date:
            command += ["-rtc", f"base={date}"]
        if not reboots:
            command += ["-no-reboot"]
        if stick:
            command += ["-device", "qemu-xhci", "-drive", f"if=none,id=stick,file={stick},format=raw",
                        "-device", "usb-storage,drive=stick,removable=on"]
        with open(self.directory / "qemu.txt", "wb") as words:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=words, stderr=words)
        self.begin = time.monotonic()

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def cut(self):
        """The power goes."""
        if self.runs:
            self.process.kill()
            self.process.wait()

    def ssh(self, script, *, seconds=60, data=None, user="admin"):
        """Runs a script as the owner. Status 255: nobody answers."""
        command = [
            "ssh", "-q", "-i", self.key, "-p", str(self.port), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no",
            "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectTimeout=10", "-o", "IdentitiesOnly=yes", f"{user}@127.0.0.1", script]
        try:
            return subprocess.run([str(word) for word in command], input=data, capture_output=True, text=data is None or isinstance(data, str),
                                  timeout=seconds, stdin=None if data is not None else subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            return subprocess.CompletedProcess(command, 255, str(error.stdout or ""), f"no answer within {seconds} s")

    def is_up(self):
        if not self.runs:
            raise OSError(f"the machine has ended: {self.said()}")
        return self.ssh("true", seconds=20).returncode == 0

    def said(self, lines=12):
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return "\n".join(line.strip() for line in text.splitlines()[-lines:]) or "(nothing on its serial line)"

    # ---- the card, while the machine is off ----

    def put(self, name, content):
        """Writes a file to the card's first partition, as its owner does with a card reader."""
        file = self.directory / "put"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._mtools("mcopy", "-o", file, f"::{name}")

    def kernel(self, words):
        """More words for the kernel, at each start from now on, as grub.cfg says."""
        file = self.directory / "grubenv"
        file.write_bytes(self.get("grub/grubenv"))
        subprocess.run(["grub-editenv", file, "set", f"EXTRA={words}"], check=True)
        self.put("grub/grubenv", file.read_bytes())

    def kernel_later(self, words):
        """The same while it runs: for the next starts."""
        done = self.ssh(f"sudo /usr/lib/watchbox-image/bin/grub-editenv /boot/watchbox/grub/grubenv set 'EXTRA={words}' && sync", seconds=120)
        if done.returncode:
            raise OSError(f"the words for the kernel were not written: {done.stderr}")

    def boot_state(self):
        """What the boot loader counts."""
        text = self.get("grub/grubenv").decode(errors="replace")
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))

    def get(self, name):
        """A file of the first partition; None: there is none."""
        done = subprocess.run(["mtype", "-i", f"{self.disk}@@1M", f"::{name}"], capture_output=True)
        return done.stdout if done.returncode == 0 else None

    def count(self, secret):
        """How often something stands anywhere on the card."""
        with open(self.disk, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found, place = 0, content.find(secret)
            while place >= 0:
                found, place = found + 1, content.find(secret, place + 1)
            return found

    def _mtools(self, program, *arguments):
        option = arguments[:1] if str(arguments[0]).startswith("-") else ()
        subprocess.run([program, *option, "-i", f"{self.disk}@@1M", *arguments[len(option):]], check=True, capture_output=True)
