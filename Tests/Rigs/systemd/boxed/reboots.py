"""What reboots an image: health that ends by itself again and again, though something does not stop."""
import time

from boxed.checks import Not
from boxed.stage import configure, start

# The box is gone after it.
ENDS = True
STUBBORN = """\
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sleep infinity
TimeoutStopSec=infinity
"""


def run(box, checks, _seed):
    configure(box)
    start(box, checks)
    box.write("/run/systemd/system/stubborn.service", STUBBORN)
    # The image's two minutes are too long for a test.
    box.drop_in("reboot.target", "95-soon", "[Unit]\nJobTimeoutSec=5s\n")
    done = box.run("systemctl", "start", "stubborn.service")
    checks.expect("a unit that will not stop", done.ok, done, needed=True)
    # So is the half hour that the box must have run.
    box.drop_in("watchbox-given-up.timer", "50-soon", "[Timer]\nOnBootSec=\nOnBootSec=1s\n")
    begin = time.monotonic()
    # RestartSec=2s, and no time to grow.
    box.drop_in("watchbox-health.service", "50-soon", "[Service]\nRestartSec=100ms\n")
    # Not once the box goes down: a shutdown stops all processes, nsenter stops with its child, and PID 1 would wait for somebody to
    # collect it. The mark is there five seconds before that, because of what does not stop.
    mark = box.path("/var/lib/watchbox-health/given-up")
    while not mark.exists() and not box.ended() and time.monotonic() - begin < 150:
        box.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "watchbox-health")
        time.sleep(0.2)
    checks.until("health that ended by itself again and again reboots the image", lambda: box.ended() == "reboot" or Not(box.ended()))
    checks.note(f"{time.monotonic() - begin:.0f} s after the first end, of which 5 s for what does not stop")
