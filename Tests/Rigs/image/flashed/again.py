"""Switched off and on with its camera plugged in, as after a power cut; then what a box that only publishes writes to its card."""
from boxed.checks import Not

from .machine import START


def run(box, checks):
    box.ready(checks)
    checks.same("a camera is put in", box.camera().returncode, 0)
    checks.until("it publishes", box.publishes, seconds=600, needed=True, pause=2)
    to_first_frame(box, checks)
    writes(box, checks)


VIVID = "/etc/modules-load.d/vivid.conf /etc/modprobe.d/vivid.conf"
LAST = """
systemctl show -P ActiveEnterTimestampMonotonic multi-user.target systemd-user-sessions.service watchbox-camera@front.service | grep .
journalctl -b -u watchbox-camera@front -o short-monotonic --no-pager | sed -n 's/^\\[ *\\([0-9.]*\\)\\].*: publishing.*/\\1/p' | head -n 1
"""


def to_first_frame(box, checks):
    """A start with the camera plugged in, as after a power cut: the first frame is on its way by twice what the system takes to start."""
    try:
        first_frame(box, checks)
    finally:
        # Whoever comes next puts the camera in when it wants to.
        box.run(f"sudo rm -f {VIVID}; sync")


def first_frame(box, checks):
    box.run("echo vivid | sudo tee /etc/modules-load.d/vivid.conf; "
            "echo options vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0 | sudo tee /etc/modprobe.d/vivid.conf; sync")
    box.machine.cut()
    box.machine.start()
    checks.until("switched off and on, it is up", box.machine.is_up, seconds=START, needed=True, pause=2)
    checks.until("it publishes by itself", box.publishes, seconds=600, needed=True, pause=2)
    checks.until("the whole system has started", lambda: box.run("systemctl is-active multi-user.target").stdout.strip() == "active"
                 or Not(box.run("systemctl list-jobs --no-pager").stdout), seconds=600, needed=True, pause=2)
    words = checks.until("its journal says when", lambda: (lambda found: found if len(found) == 4 else Not(found))(box.run(LAST).stdout.split()),
                         seconds=60, needed=True, pause=2)
    all_of_it, login = int(words[0]) / 1e6, int(words[1]) / 1e6
    # The camera's unit is up with its first sealed frame, or when it waits for key or relay; then the stream begins with the frame at hand.
    frame = max(int(words[2]) / 1e6, float(words[3]))
    # multi-user.target itself waits for control and for the gate: a box that is late by itself would move the bar.
    checks.expect("the first frame is on its way before twice the time to a login", frame <= 2 * login, f"{frame:.1f} s, {login:.1f} s")
    checks.note(f"from the kernel's start {frame:.1f} s to the first frame, {login:.1f} s to a login, {all_of_it:.1f} s to multi-user.target")


# Of a day, at most. The promise is 20; what five minutes say of a day has a wide margin.
MEGABYTES = 60
# Seconds: when what follows a start has ended; how long is looked. The last of it comes after fifteen minutes, when health says that no time server
# was heard: there is none in this machine's network.
QUIET, LOOK = 960, 300
# Who wrote how much (/proc/PID/io), the journal's own thread too; then which files are newer.
SCRIPT = f"""
by() {{ sudo sh -c 'cd /proc; for p in [0-9]*; do w=$(sed -n "s/^write_bytes: //p" $p/io 2>/dev/null); [ "${{w:-0}}" = 0 ] || echo "$p $(tr "\\0" " " <$p/cmdline | cut -d " " -f 2) $(cat $p/comm) $w"; done' | sort; }}
written() {{ awk -v disk="$(cat /run/watchbox-disk)" '$3 == disk {{ print $10 }}' /proc/diskstats; }}
until awk '{{ exit $1 < {QUIET} }}' /proc/uptime; do sleep 5; done
# Health saves its ladder ten minutes after its first save, and then not for as long as it has run by then.
for i in $(seq 120); do
    [ "$(sudo stat -c %Y /var/lib/watchbox-health/ladder.json)" -lt $(($(date +%s) - $(cut -d. -f1 /proc/uptime) + 600)) ] || break
    sleep 5
done
sudo sync; by >/tmp/by; touch /tmp/looked; before=$(written)
sleep {LOOK}
sudo sync; after=$(written); by >/tmp/by2
echo "$((after - before))"
awk 'NR == FNR {{ had[$1] = $NF; next }} $NF != had[$1] {{ print $2, $(NF - 1), $NF - had[$1] }}' /tmp/by /tmp/by2
sudo find /data -xdev -type f -newer /tmp/looked -printf '%P\\n'
# What was news to them: each costs a commit of two databases.
sudo journalctl -b --since "-{LOOK + 20}s" -u watchbox-control -u watchbox-health -o cat --no-pager | tail -n 20 | cut -c 1-200
"""


def writes(box, checks):
    """What a box that only publishes writes to its card."""
    done = box.run(SCRIPT, QUIET + LOOK + 600).stdout.splitlines()
    day = int(done[0]) * 512 / 1e6 * 86_400 / LOOK
    checks.note(f"{day:.1f} MB a day, of five quiet minutes: {', '.join(done[1:]) or 'nothing'}")
    checks.expect(f"while it publishes, it writes at most {MEGABYTES} MB a day to the card", day <= MEGABYTES, "\n".join(done))
