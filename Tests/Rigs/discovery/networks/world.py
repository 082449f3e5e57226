"""Namespaces with a box between networks, and the programs in them.

    box   10.77.0.1/24 east  <-->  wire 10.77.0.2…9/24   east
          10.78.0.1/24 west  <-->  wire 10.78.0.2…9/24   west   10.79.0.1/24 beyond  <-->  wire 10.79.0.2/24  far
"""
import json
import os
import pathlib
import subprocess
import time

from boxed.checks import poll

here = pathlib.Path(__file__).resolve().parent.parent


class Unable(Exception):
    """This machine cannot do it."""


class Program:
    """Something that runs in a namespace, and what it prints."""

    def __init__(self, command, output):
        self.output = output
        with open(output, "wb") as out, open(f"{output}.err", "wb") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    @property
    def text(self):
        return self.output.read_text(errors="replace")

    @property
    def complaints(self):
        return pathlib.Path(f"{self.output}.err").read_text(errors="replace")

    @property
    def lines(self):
        """Whole lines that are JSON objects."""
        whole = self.text.rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self):
        """Politely, so that a camera says Bye."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class World:
    def __init__(self, directory, program, project):
        self.directory = directory
        self.program = program
        self.project = project
        self.prefix = f"wb-net-{os.getpid()}-"
        self.spaces = []
        self.programs = []
        library = project / ".venv/bin/python-wsdiscovery"
        self.library = library if os.access(library, os.X_OK) else None

    def ip(self, *words, space=None):
        command = ["ip"] + (["-n", self.prefix + space] if space else []) + [str(word) for word in words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")

    @property
    def environment(self):
        return dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

    def add_space(self, name):
        self.ip("netns", "add", self.prefix + name)
        self.spaces.append(name)
        self.ip("link", "set", "lo", "up", space=name)

    def connect(self, near, near_link, near_address, far, far_link, far_addresses):
        self.ip("link", "add", near_link, "netns", self.prefix + near, "type", "veth",
                "peer", "name", far_link, "netns", self.prefix + far)
        for space, link, addresses in ((near, near_link, [near_address]), (far, far_link, far_addresses)):
            for address in addresses:
                self.ip("addr", "add", f"{address}/24", "dev", link, space=space)
            self.ip("link", "set", link, "up", space=space)

    def make(self):
        self.directory.mkdir(parents=True)
        self.remove_left_over()
        try:
            self.add_space("box")
            self.add_space("east")
            self.connect("box", "east", "10.77.0.1", "east", "wire", [f"10.77.0.{n}" for n in range(2, 10)])
        except OSError as error:
            raise Unable(f"network namespaces cannot be made here: {error}") from None
        for name in ("west", "far"):
            self.add_space(name)
        self.connect("box", "west", "10.78.0.1", "west", "wire", [f"10.78.0.{n}" for n in range(2, 10)])
        self.connect("west", "beyond", "10.79.0.1", "far", "wire", ["10.79.0.2"])
        for space, router in (("east", "10.77.0.1"), ("west", "10.78.0.1"), ("far", "10.79.0.1")):
            self.ip("route", "add", "default", "via", router, space=space)
        # The trap: a Probe that chooses no interface leaves by the first one, and never reaches the second.
        self.ip("route", "add", "239.0.0.0/8", "dev", "east", space="box")
        self.ip("route", "add", "10.79.0.0/24", "via", "10.78.0.2", space="box")
        self.run("west", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def remove_left_over(self):
        """Of runs that were killed."""
        listed = subprocess.run(["ip", "netns", "list"], env=self.environment, capture_output=True, text=True).stdout
        for name in (line.split()[0] for line in listed.splitlines() if line.startswith("wb-net-")):
            owner = name.split("-")[2]
            if owner.isdigit() and not pathlib.Path("/proc", owner).exists():
                subprocess.run(["ip", "netns", "del", name], env=self.environment, capture_output=True)

    def inside(self, space, command):
        # Killed with this program.
        return ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", self.prefix + space, *map(str, command)]

    def run(self, space, *command, limit=120):
        return subprocess.run(self.inside(space, command), env=self.environment, capture_output=True, text=True, timeout=limit)

    def start(self, space, *command):
        output = self.directory / f"{len(self.programs)}.out"
        program = Program(self.inside(space, command), output)
        self.programs.append(program)
        return program

    def device(self, space, address, *options, interface="wire"):
        """device.py, when it is ready."""
        return self.ready(self.start(
            space, "python3", here / "device.py", "--address", address, "--interface", interface, *options))

    def ready(self, program):
        ready, _ = poll(lambda: "READY" in program.text or program.process.poll() is not None, 60)
        if not ready or program.process.poll() is not None:
            raise OSError(f"{program.process.args}: {program.complaints}")
        return program

    def check(self, *words):
        """DiscoveryCheck in the box's namespace."""
        return self.start("box", self.program, *words)

    def search(self, *words, limit=150):
        """A whole search: its devices, its progress and its last line."""
        # A device that is asked may be slow, as this machine may be busy.
        program = self.check("search", "--answer-timeout", "10", *words)
        try:
            program.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise OSError(f"search {' '.join(words)} does not end: {program.text[-500:]}") from None
        lines = program.lines
        ends = [line for line in lines if line["event"] in ("done", "error")]
        if not ends:
            raise OSError(f"search {' '.join(words)} ended with {program.process.returncode}: {program.complaints}")
        return Found([line["device"] for line in lines if line["event"] == "device"],
                     [line for line in lines if line["event"] == "progress"], ends[-1])

    def link_local(self, space, link):
        """The IPv6 address within the link, once it is checked for duplicates."""
        def look():
            shown = self.run(space, "ip", "-j", "-6", "addr", "show", "dev", link, "scope", "link").stdout
            found = [info for entry in json.loads(shown) for info in entry.get("addr_info", [])]
            return next((info["local"] for info in found if not info.get("tentative")), None)
        return poll(look, 30)[0] or None

    def end(self):
        for program in reversed(self.programs):
            program.signal(9)
        for program in self.programs:
            program.process.wait()
        self.programs = []
        for name in reversed(self.spaces):
            for _ in range(20):
                done = subprocess.run(["ip", "netns", "del", self.prefix + name], env=self.environment, capture_output=True)
                if done.returncode == 0:
                    break
                time.sleep(0.1)
        self.spaces = []


class Found:
    def __init__(self, devices, progress, last):
        self.devices = devices
        self.progress = progress
        self.last = last

    def at(self, address):
        return [device for device in self.devices if device["address"] == address]

    def __str__(self):
        return "\n".join(json.dumps(entry) for entry in [*self.devices, self.last])
