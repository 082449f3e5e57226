"""What the daemons cost beside the work: memory and processor time with one camera that is passed through, first a film, then a
network camera. For `make bench`, with released programs; run by name, not with the other groups."""
import os
import pathlib
import subprocess
import time

from boxed.network import Rig
from boxed.stage import configure, connect, moves, start, unit

SECONDS = int(os.environ.get("IDLE_SECONDS", "60"))
FILM = "/srv/film.flv"
DAEMONS = ("watchbox-control.service", "watchbox-health.service")


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


def measured(box, checks, camera):
    """PSS in MB, and seconds of processor in a minute, of control, health and the camera."""
    names = (*DAEMONS, unit(camera))
    # The start, and what the daemons do about it, is over.
    time.sleep(15)
    pids = {name: box.property(name, "MainPID") for name in names}
    before = {name: processor(box, pid) for name, pid in pids.items()}
    begin = time.monotonic()
    time.sleep(SECONDS)
    minutes = (time.monotonic() - begin) / 60
    memory = {name: proportional(box, pid) for name, pid in pids.items()}
    used = {name: (processor(box, pid) - before[name]) / minutes for name, pid in pids.items()}
    for name in names:
        checks.note(f"{name}: {memory[name]:.1f} MB PSS, {used[name]:.2f} s of processor per minute")
    return memory, used


def run(box, checks, _seed):
    film = box.path(FILM)
    film.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30", "-f", "lavfi", "-i",
         "sine=r=48000", "-t", str(2 * SECONDS + 60), "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "4M", "-maxrate", "4M",
         "-bufsize", "4M", "-g", "30", "-pix_fmt", "yuv420p", "-c:a", "aac", str(film)], check=True)
    configure(box)
    start(box, checks)
    connect(box, checks)
    # Alone, each of them: two cameras share what they map.
    done = box.ctl("camera", "add", "front", "--source", f"file:{FILM}")
    checks.expect("a film is passed through and published", done.ok, done, needed=True)
    memory, used = measured(box, checks, "front")
    total, seconds = sum(memory.values()), sum(used.values())
    checks.expect(f"control, health and a film: {total:.1f} MB PSS (bar ≤ 80)", total <= 80, memory)
    checks.expect(f"control, health and a film: {seconds:.2f} s of processor per minute of stream (bar ≤ 1.0)", seconds <= 1.0, used)
    done = box.ctl("camera", "rm", "front", "--yes")
    checks.expect("the film is removed", done.ok, done, needed=True)
    # Plays once for each client, in real time.
    movie = film.with_suffix(".mp4")
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", str(film), "-c", "copy", str(movie)], check=True)
    street = Rig(box, "rtsp/gst-rtsp-server.py", "--h264", movie, "--h265", movie, python="/usr/bin/python3")
    try:
        done = box.ctl("camera", "add", "street", "--source", f"rtsp://127.0.0.1:{street.port}/h264")
        checks.expect("a network camera is pulled and published", done.ok, done, needed=True)
        memory, used = measured(box, checks, "street")
        checks.until("and its frames still come", moves(box, "street"))
    finally:
        street.end()
    total, seconds = sum(memory.values()), sum(used.values())
    checks.expect(f"control, health and a network camera: {total:.1f} MB PSS (bar ≤ 45)", total <= 45, memory)
    checks.note(f"control, health and a network camera: {seconds:.2f} s of processor per minute of stream")
