"""One flashed box, through all groups: its machine, and its owner."""
import json
import shutil
import time

from boxed.checks import Not

from .machine import BOARDS, START, Machine

# An emulated board on a busy machine may not hear its watchdog in 14 s; that it is armed is checked all the same.
PATIENCE = "systemd.watchdog_sec=180s"


class Box:
    def __init__(self, board, images, directory, host):
        self.board, self.images, self.directory, self.host = board, images, directory, host
        self.machine = None
        self.adopted = False

    @property
    def image(self):
        return self.images / BOARDS[self.board].image

    @property
    def bundle(self):
        return self.image.with_suffix(".raucb")

    def flash(self):
        """A new card."""
        if self.machine:
            self.machine.cut()
        # Of the card before, which another group may have spoiled.
        shutil.rmtree(self.directory, ignore_errors=True)
        self.machine = Machine(self.board, self.image, self.directory)
        self.machine.kernel(f"{PATIENCE} {self.machine.board.words}".strip())
        return self.machine

    def adoption(self):
        """What its owner writes; a relay and a KAS on this machine, as QEMU's network shows it."""
        return f"""\ufeffname = "Porch"\r
admin_keys = ["{self.machine.key.with_suffix('.pub').read_text().strip()}"]\r
\r
[relay.main]\r
url = "rtmp://10.0.2.2:{self.host.relay_port}/live"\r
\r
[kas]\r
url = "https://10.0.2.2:{self.host.kas_port}/kas"\r
ca = '''\r
{self.host.authority.read_text()}'''\r
token = "{self.host.publish_token}"\r
\r
[camera.front]\r
name = "Front door"\r
source = "v4l2:/dev/video0"\r
size = "320x180"\r
rate = 10\r
"""

    def ready(self, checks):
        """Adopted and up, whatever ran before."""
        if not self.machine:
            self.flash()
        if not self.machine.runs:
            if not self.adopted:
                self.machine.put("WATCHBOX/watchbox.toml", self.adoption())
            self.machine.start()
        checks.until("the owner logs in", self.machine.is_up, seconds=START, needed=True, pause=2)
        self.adopted = True
        return self.machine

    def run(self, script, seconds=120):
        return self.machine.ssh(script, seconds=seconds)

    def json(self, command, seconds=120):
        done = self.run(command, seconds)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise ValueError(f"{command}: status {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}") from None

    def publishes(self, camera="front"):
        state = self.json(f"watchboxctl stream show {camera} --json")
        return state["state"] == "live" or Not(f"{state['state']}: {state.get('reason')}")

    def camera(self):
        """A camera is put in: vivid."""
        return self.run("sudo modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0")

    def shut_down(self, seconds=300):
        self.run("sudo systemctl poweroff", 30)
        begin = time.monotonic()
        while self.machine.runs and time.monotonic() - begin < seconds:
            time.sleep(1)
        ended = not self.machine.runs
        self.machine.cut()
        return ended
