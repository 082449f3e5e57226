"""Two namespaces with an emulated link between them, and the programs in them. Everything goes with the `with` block."""
import json, os, pathlib, signal, subprocess, time

HERE = pathlib.Path(__file__).resolve().parent
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


class Unable(Exception):
    """This machine cannot do it, and why."""


def shortfall():
    """Why no link can be made here; None: one can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    try:
        subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, env=dict(os.environ, PATH=PATH))
    except (OSError, subprocess.CalledProcessError) as error:
        return f"ip netns: {error}"
    return None


def controls():
    """TCP's congestion controls that this kernel has."""
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as file:
        return file.read().split()


class Link:
    """`options`: of the emulator, by name. `control`: the congestion control of what is sent from near to far."""

    def __init__(self, number, control="cubic", **options):
        self.near, self.far = (f"wb-uplink-{os.getpid()}-{number}{end}" for end in "nf")
        self.near_address, self.far_address = f"10.81.{number}.1", f"10.81.{number}.2"
        self.control, self.options, self.programs, self.spaces = control, options, [], []
        self.environment = dict(os.environ, PATH=PATH)

    def __enter__(self):
        try:
            for space in (self.near, self.far):
                subprocess.run(["ip", "netns", "add", space], check=True, env=self.environment)
                self.spaces.append(space)
                subprocess.run(["ip", "-n", space, "link", "set", "lo", "up"], check=True, env=self.environment)
            words = [f"--{name}={value}" for name, value in self.options.items()]
            self.emulator = subprocess.Popen(
                [HERE / "emulator", self.near, self.far, self.near_address, self.far_address, *words], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, text=True, env=self.environment)
            if self.emulator.stdout.readline().strip() != "ready":
                raise Unable("the emulator of the link did not begin")
            # By its route: where /proc/sys is read-only as well, and over what a program asks for.
            subprocess.run(["ip", "-n", self.near, "route", "replace", self.far_address, "dev", f"wn{self.emulator.pid % 10_000_000}",
                            "src", self.near_address, "congctl", "lock", self.control], check=True, env=self.environment)
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, end, command, **options):
        """In the namespace `end`, near or far."""
        space = {"near": self.near, "far": self.far}[end]
        process = subprocess.Popen(["ip", "netns", "exec", space, *map(str, command)], env=self.environment,
                                   **{"stdin": subprocess.DEVNULL, **options})
        self.programs.append(process)
        return process

    def begin(self):
        """The seconds of trace and outages begin now; CLOCK_MONOTONIC."""
        self.emulator.send_signal(signal.SIGUSR1)
        return time.monotonic()

    def end(self):
        """Ends its programs; what the emulator says of the packets."""
        for process in reversed(self.programs):
            stop(process)
        self.programs.clear()
        self.emulator.terminate()
        said = self.emulator.stdout.read()
        if not said.startswith("{"):
            raise Unable("the emulator of the link broke off")
        return json.loads(said)

    def __exit__(self, *_):
        for process in reversed([*([self.emulator] if hasattr(self, "emulator") else []), *self.programs]):
            stop(process)
        for space in self.spaces:
            subprocess.run(["ip", "netns", "delete", space], check=False, env=self.environment)
        self.spaces.clear()


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
