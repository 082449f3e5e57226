"""What reboots an image: health that ends by itself again and again, though something does not stop."""
import time

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
    while not box.ended() and time.monotonic() - begin < 120:
        box.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "watchbox-health")
        time.sleep(0.2)
    checks.same("health that ended by itself again and again reboots the image", box.ended(), "reboot")
    checks.note(f"{time.monotonic() - begin:.0f} s after the first end, of which 5 s for what does not stop")
