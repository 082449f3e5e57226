"""A board: QEMU with the image on its disk or card. Without KVM: it may be there and not work."""
import json
import mmap
import os
import pathlib
import shutil
import socket
import subprocess
import time

# How long a start may take. For what hangs, not for what is slow.
START = 900


class EFI:
    """A machine with EFI firmware, which is in the Debian packages named."""

    words, arms_watchdog, has_clock = "", True, True

    def __init__(self, image, program, arguments, code, variables, packages):
        self.image, self.program, self.arguments, self.firmware, self.packages = image, program, arguments, (code, variables), packages

    def missing(self):
        return not all(os.path.exists(file) for file in self.firmware)

    def prepare(self, machine):
        shutil.copy(self.firmware[1], machine.directory / "firmware.fd")

    def devices(self, machine):
        return ["-smp", "2", "-m", "1024", "-nodefaults", "-no-user-config",
                "-drive", f"if=pflash,format=raw,readonly=on,file={self.firmware[0]}",
                "-drive", f"if=pflash,format=raw,file={machine.directory / 'firmware.fd'}",
                "-drive", f"if=none,id=disk,file={machine.disk},format=raw,cache=writeback,discard=unmap",
                "-device", "virtio-blk-pci,drive=disk,bootindex=1",
                "-device", "virtio-net-pci,netdev=network,romfile=",
                "-device", "i6300esb", "-action", "watchdog=reset",
                "-object", "rng-random,id=random,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=random",
                "-serial", "chardev:console"]


class RaspberryPi:
    """A Raspberry Pi 3 as far as QEMU has one: its processor, SD card, USB and serial line. Its firmware, closed source, is not run:
    QEMU starts U-Boot with the device tree, both from the card, as it would. Its watchdog resets the board as soon as it is armed."""
    image, program, arguments, packages = "watchbox-arm64.img", "qemu-system-aarch64", ["-M", "raspi3b"], "qemu-system-arm"
    words, arms_watchdog, has_clock = "module_blacklist=bcm2835_wdt", False, False

    def missing(self):
        return False

    def prepare(self, machine):
        for name in ("u-boot.bin", "bcm2837-rpi-3-b.dtb"):
            content = machine.get(name)
            if content is None:
                raise OSError(f"the card's first partition has no {name}")
            (machine.directory / name).write_bytes(content)

    def devices(self, machine):
        return ["-kernel", machine.directory / "u-boot.bin", "-dtb", machine.directory / "bcm2837-rpi-3-b.dtb",
                "-drive", f"if=sd,file={machine.disk},format=raw,cache=writeback",
                "-device", "usb-net,netdev=network", "-serial", "null", "-serial", "chardev:console"]


BOARDS = {
    "amd64": EFI("watchbox-amd64.img", "qemu-system-x86_64", ["-M", "q35", "-cpu", "max"],
                 "/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd", "qemu-system-x86 ovmf"),
    "arm64": EFI("watchbox-arm64.img", "qemu-system-aarch64", ["-M", "virt", "-cpu", "cortex-a72"],
                 "/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.fd", "qemu-system-arm qemu-efi-aarch64"),
    "pi3": RaspberryPi(),
}


def missing(board):
    """Why there can be no such machine here, or None."""
    board = BOARDS[board]
    if not shutil.which(board.program) or board.missing():
        return f"QEMU or its firmware is missing (Debian packages {board.packages})"
    if not shutil.which("ssh"):
        return "the Debian package openssh-client is missing"
    return None


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Machine:
    def __init__(self, board, image, directory, gigabytes=4):
        """The image is only read: what the machine writes goes to a disk of its own, larger than the image, as a card is."""
        self.board = BOARDS[board]
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True)
        self.disk = self.directory / "disk.img"
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", image, self.disk], check=True)
        os.truncate(self.disk, gigabytes << 30)
        self.board.prepare(self)
        self.key = self.directory / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "owner@laptop", "-f", self.key], check=True)
        self.port = free_port()
        self.process = None
        self.starts = 0

    @property
    def console(self):
        """What the last start said on the serial line."""
        return self.directory / f"console-{self.starts}.txt"

    def start(self, *, date=None, online=True, stick=None, serial=None):
        """Switches it on; `date`: what its clock says (it has no battery: 1970-01-01), `stick`: an image of a USB stick; `serial`: its
        serial number, as its firmware tells."""
        self.starts += 1
        restrict = "" if online else ",restrict=on"
        command = [
            "setpriv", "--pdeathsig", "KILL", self.board.program, *self.board.arguments,
            "-accel", "tcg,thread=multi,tb-size=512", "-display", "none", "-monitor", "none",
            "-netdev", f"user,id=network,hostfwd=tcp:127.0.0.1:{self.port}-:22{restrict}",
            "-chardev", f"file,id=console,path={self.console}", *self.board.devices(self)]
        if date:
            command += ["-rtc", f"base={date}"]
        if serial:
            command += ["-smbios", f"type=1,serial={serial}"]
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
        """The last lines of its serial line; None: all."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return "\n".join(line.strip() for line in text.splitlines()[-lines if lines else None:]) or "(nothing on its serial line)"

    # ---- the card, while the machine is off ----

    def put(self, name, content):
        """Writes a file to the card's first partition, as its owner does with a card reader."""
        file = self.directory / "put"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._mtools("mcopy", "-o", file, f"::{name}")

    def kernel(self, words):
        """More words for the kernel, at each start from now on, as grub.cfg says."""
        self.environment(EXTRA=words)

    def environment(self, **variables):
        """Sets what the boot loader reads."""
        file = self.directory / "grubenv"
        file.write_bytes(self._environment())
        subprocess.run(["grub-editenv", file, "set", *(f"{name}={value}" for name, value in variables.items())], check=True)
        self.put("grub/grubenv", file.read_bytes())

    def kernel_later(self, words):
        """The same while it runs: for the next starts."""
        done = self.ssh(f"sudo /usr/lib/watchbox-image/bin/grub-editenv /boot/watchbox/grub/grubenv set 'EXTRA={words}' && sync", seconds=120)
        if done.returncode:
            raise OSError(f"the words for the kernel were not written: {done.stderr}")

    def boot_state(self):
        """What the boot loader counts."""
        text = self._environment().decode(errors="replace")
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))

    def _environment(self):
        """As grub.cfg reads it: the new one, where the power went while the old one was replaced."""
        whole = self.get("grub/grubenv") or b""
        return whole if b"ORDER=" in whole else self.get("grub/grubenv.new") or whole

    def get(self, name):
        """A file of the first partition; None: there is none."""
        done = subprocess.run(["mtype", "-i", f"{self.disk}@@1M", f"::{name}"], capture_output=True)
        return done.stdout if done.returncode == 0 else None

    def wipe(self, partition):
        """Zeros where its file system begins."""
        with open(self.disk, "r+b") as file:
            file.seek(self._place(partition)[0])
            file.write(bytes(1 << 20))

    def copy(self, partition, other):
        with open(self.disk, "r+b") as file:
            start, size = self._place(partition)
            file.seek(start)
            content = file.read(size)
            file.seek(self._place(other)[0])
            file.write(content)

    def _place(self, partition):
        """Where it begins, and its size, in bytes."""
        table = json.loads(subprocess.run(["sfdisk", "--json", self.disk], check=True, capture_output=True).stdout)["partitiontable"]
        entry = next(one for one in table["partitions"] if one.get("name") == partition)
        return entry["start"] * table.get("sectorsize", 512), entry["size"] * table.get("sectorsize", 512)

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
