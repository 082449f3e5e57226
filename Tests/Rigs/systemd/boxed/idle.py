"""What the daemons cost beside the work: memory and processor time with one camera that is passed through. For
`make bench`, with released programs; run by name, not with the other groups."""
import os
import pathlib
import subprocess
import time

from boxed.stage import connect, configure, start, unit

SECONDS = int(os.environ.get("IDLE_SECONDS", "60"))
FILM = "/srv/film.flv"
DAEMONS = ("watchbox-control.service", "watchbox-health.service", unit("front"))


def proportional(box, pid):
    """PSS in MB."""
    for line in pathlib.Path(f"/proc/{host_pid(box, pid)}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise ValueError("no Pss")


def host_pid(box, pid):
    """A process of the box by its number outside, where /proc shows everything."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            numbers = [line for line in (entry / "status").read_text().splitlines() if line.startswith("NSpid:")]
            same = os.readlink(entry / "ns/pid") == os.readlink(f"/proc/{box.pid}/ns/pid")
        except OSError:
            continue
        if same and numbers and numbers[0].split()[-1] == pid:
            return entry.name
    raise ValueError(f"no process {pid}")


def processor(box, pid):
    """User and system time in seconds."""
    fields = pathlib.Path(f"/proc/{host_pid(box, pid)}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(box, checks, _seed):
    film = box.path(FILM)
    film.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30", "-t", "10",
         "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "4M", "-g", "30", "-pix_fmt", "yuv420p", str(film)],
        check=True)
    configure(box)
    start(box, checks)
    connect(box, checks)
    done = box.ctl("camera", "add", "front", "--source", f"file:{FILM}")
    checks.expect("a film is passed through and published", done.ok, done, needed=True)
    time.sleep(10)
    pids = {name: box.property(name, "MainPID") for name in DAEMONS}
    before = {name: processor(box, pid) for name, pid in pids.items()}
    begin = time.monotonic()
    time.sleep(SECONDS)
    minutes = (time.monotonic() - begin) / 60
    memory = {name: proportional(box, pid) for name, pid in pids.items()}
    used = {name: (processor(box, pid) - before[name]) / minutes for name, pid in pids.items()}
    for name in DAEMONS:
        checks.note(f"{name}: {memory[name]:.1f} MB PSS, {used[name]:.2f} s of processor per minute")
    checks.note(f"all: {sum(memory.values()):.1f} MB PSS (bar: 80), {sum(used.values()):.2f} s per stream-minute (bar: 1.0)")
    checks.expect("memory of all daemons is at most 80 MB PSS", sum(memory.values()) <= 80, memory)
    checks.expect("processor time is at most 1.0 s per stream-minute", sum(used.values()) <= 1.0, used)
