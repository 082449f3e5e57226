"""A camera that is recorded: what is on the disk is sealed, goes on without the relay, survives a kill, and comes out with a key."""
import calendar
import pathlib
import re
import subprocess
import tempfile
import time

from boxed.checks import Not
from boxed.documentation import examples
from boxed.stage import KAS_STATE, live, publishing_box, restarted, unit, whole

# Of its own, so that it can be made too small.
DISK = "/var/lib/private/watchbox-recordings"
TMPFS = (f"{DISK}:3G",)
DIRECTORY = "/var/lib/watchbox-recordings/front"
NAME = re.compile(r"\d{8}-\d{8}T\d{9}Z-(\d+)(-pinned)?\.tdf")


def run(box, checks, _seed):
    publishing_box(box, checks, cameras=("front",))
    checks.same("a camera that is not recorded says so", recording(box), None)
    not_recorded(box, checks)
    done = box.ctl("recording", "on", "front", "--gigabytes", "1", "--free-gigabytes", "0.1")
    checks.expect("recording on", done.ok, done, needed=True)
    checks.until("it is recorded", lambda: recorded(box, 20), needed=True)
    checks.until("and live as before", lambda: live(box, "front"))
    sealed(box, checks)
    killed(box, checks)
    without_relay(box, checks)
    opened(box, checks)
    full(box, checks)
    around_events(box, checks)
    checks.until("status: it is recorded", lambda: box.get("recording", "status", "front")["recordings"][0]["recording"]["state"]
                 == "recording" or Not(box.ctl("recording", "status", "front").out))
    before = checks.until("there are recordings again", lambda: finished(box), needed=True)
    # Each change starts its process again, and systemd counts.
    box.run("systemctl", "reset-failed", unit("front"))
    examples(box, checks, "docs/guide/recording.md")
    checks.same("what was deleted is gone", [name for name in finished(box) if name in before], [])
    whole(box, checks)


def not_recorded(box, checks):
    """What is there of it is in the API all the same."""
    checks.same("nothing is recorded of it", listed(box), [])
    name = time.strftime("00000001-%Y%m%dT%H%M%S000Z-60000.tdf", time.gmtime(time.time() - 3600))
    box.sh(f"touch {DIRECTORY}/{name}")
    checks.same("a recording of before is in the API", [file["file"] for file in listed(box)], [name])
    box.sh(f"rm {DIRECTORY}/{name}")


def listed(box):
    return box.ask("/api/v1/cameras/front/recordings?limit=400")["recordings"]


def recording(box):
    return box.camera("front")["statistics"].get("recording")


def recorded(box, more):
    """Frames come onto the disk while it is looked."""
    now = recording(box)
    if not now or now["state"] != "recording":
        return Not(f"{now}")
    return now if now["frames"] >= more else Not(f"{now['frames']} frames")


def files(box):
    return box.sh(f"ls {DIRECTORY}").out.split()


def finished(box):
    return [name for name in files(box) if NAME.fullmatch(name)]


def sealed(box, checks):
    owner = box.run("stat", "-L", "-c", "%u %a", DIRECTORY).out.split()
    checks.same("the directory is the camera's alone", owner, [box.property(unit("front"), "UID"), "700"])
    modes = set(box.sh(f"stat -c %a {DIRECTORY}/*").out.split())
    checks.same("and so is each file", modes, {"600"})
    # Boxes of MP4 and what an encoder writes about itself; its names are in each file that is not sealed.
    found = box.sh(f"grep -c -a -E 'mdat|moof|avcC|x264' {DIRECTORY}/* | grep -v ':0$'").out
    checks.same("nothing of a film is there in clear", found, "")


def killed(box, checks):
    """The file that was cut off is ended by the next start, and holds all but the last group of pictures and two seconds."""
    checks.until("a while is recorded", lambda: recorded(box, 500))
    before = box.invocation(unit("front"))
    frames = recording(box)["frames"]
    names = finished(box)
    box.kill(unit("front"))
    checks.until("killed, its process starts again", restarted(box, unit("front"), before))
    checks.until("and records", lambda: recorded(box, 20))
    new = [name for name in finished(box) if name not in names]
    checks.expect("the file that was cut off is a recording now", len(new) >= 1, files(box), needed=True)
    seconds = sum(int(NAME.fullmatch(name)[1]) for name in new) / 1000
    # Of 15 frames a second and their audio, 47 a second.
    checks.expect("without more than a group of pictures and two seconds", seconds >= frames / 62 - 4,
                  f"{seconds} s of {frames} frames")
    for name in finished(box):
        done = box.ctl("archive", "verify", f"{DIRECTORY}/{name}")
        checks.expect(f"{name}: each segment is as it was written", done.ok, done)


def without_relay(box, checks):
    # It hangs first, which is noticed later than it begins.
    begun = time.time()
    box.kill("watchbox-relay", "STOP")
    checks.until("without a relay it is not live", lambda: box.stream("front")["state"] != "live"
                 or Not("live"))
    box.run("systemctl", "stop", "watchbox-relay")
    frames = recording(box)["frames"]
    checks.until("but recorded", lambda: time.time() > begun + 4 and recorded(box, frames + 100) or Not("four seconds without a relay"))
    before = box.invocation(unit("front"))
    box.run("systemctl", "restart", unit("front"))
    checks.until("a start without a relay", restarted(box, unit("front"), before))
    checks.until("records as well", lambda: recorded(box, 50))
    box.run("systemctl", "start", "watchbox-relay")
    checks.until("the relay is there again, and it is live", lambda: live(box, "front"))
    ended = time.time()

    def marked():
        found = box.get("archive", "list", "front")["cameras"][0]["notLive"]
        # Up to the start; known to have been read is what was there some seconds before. Behind the start it may be too short for a mark.
        times = [(seconds(part["from"]), seconds(part["to"])) for part in found]
        within = [end for begin, end in times if begun - 4 < begin < begun + 2 and end < ended + 2]
        return found if within else Not(f"{found}, from {begun} to {ended}")

    checks.until("what nobody saw live is marked as such", marked)


def seconds(time_text):
    whole, fraction = time_text.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + int(fraction) / 1000


def opened(box, checks):
    done = box.ctl("archive", "list", "front", "--json")
    checks.expect("archive list", done.ok and done.document["cameras"][0]["spans"], done, needed=True)
    def same():
        page, files = listed(box), box.get("archive", "list", "front", "--files")["cameras"][0]["recordings"]
        return page if page and page == files else Not(f"{page}, {files}")
    checks.until("the API has the same list", same)
    everything = box.ctl("archive", "list", "--json")
    checks.expect("archive list without a name has it as well",
                  everything.ok and "front" in [camera["camera"] for camera in everything.document["cameras"]], everything)
    for subject, stream, status in (("alice", "front", 0), ("bob", "yard", 6)):
        made = box.ctl("kas", "token", "--state", KAS_STATE, "--subject", subject, "--scope", "kas.rewrap", "--stream", stream)
        box.write(f"/root/{subject}.token", made.out, mode=0o600)
        done = box.ctl(
            "archive", "export", "front", "--from=-1h", "--to=now", "--output", f"/root/{subject}.mp4",
            "--kas", "http://127.0.0.1:9443/kas", "--kas-token-file", f"/root/{subject}.token")
        checks.expect(f"{subject}, who may see {stream}: archive export ends with {status}", done.status == status, done)
    left = [path.name for path in pathlib.Path(box.path("/root")).glob("*.mp4*") if path.name != "alice.mp4"]
    checks.expect("what was refused has left nothing", not [name for name in left if name.startswith("bob.")], left)
    thumbnails(box, checks)
    growing(box, checks)
    recoverable(box, checks)
    shown = subprocess.run(
        ["ffmpeg", "-v", "error", "-xerror", "-i", box.path("/root/alice.mp4"), "-f", "framemd5", "-map", "0:v", "-"],
        capture_output=True, text=True)
    pictures = [line for line in shown.stdout.splitlines() if line and not line.startswith("#")]
    checks.expect("ffmpeg decodes what came out, without a complaint",
                  shown.returncode == 0 and not shown.stderr and len(pictures) > 100,
                  f"{len(pictures)} frames, {shown.stderr[-1000:]}")


def thumbnails(box, checks):
    """A page with a picture of each recording, for its owner alone; nobody without a key gets any of it."""
    before = finished(box)

    def page(subject):
        return box.ctl(
            "archive", "thumbnails", "front", "--from=-1h", "--to=now", "--output", f"/root/{subject}.page", "--json",
            "--kas", "http://127.0.0.1:9443/kas", "--kas-token-file", f"/root/{subject}.token")

    done = page("alice")
    checks.expect("archive thumbnails: a picture of each recording", done.ok and not done.document["skipped"]
                  and len(done.document["pictures"]) >= len(before), done)
    modes = [box.run("stat", "-c", "%U %a", f"/root/alice.page{name}").out.strip() for name in ("", "/index.html")]
    checks.same("the page is its owner's alone", modes, ["root 700", "root 600"])
    text = pathlib.Path(box.path("/root/alice.page/index.html")).read_text()
    checks.same("it shows them", text.count('src="data:image/jpeg;base64,/9j/'), len(done.document["pictures"]))
    refused = page("bob")
    checks.expect("bob, who may not see front: no page", refused.status == 6
                  and not pathlib.Path(box.path("/root/bob.page")).exists(), refused)
    checks.same("beside the recordings is nothing new",
                [name for name in files(box) if not NAME.fullmatch(name) and not name.endswith((".part", ".journal", "live-gaps.json"))], [])


def growing(box, checks):
    """The minute that is being recorded comes out before it is over, and the recorder does not notice."""
    key = ("--kas", "http://127.0.0.1:9443/kas", "--kas-token-file", "/root/alice.token")

    def exported():
        done = box.ctl("archive", "export", "front", "--from=-8s", "--to=now", "--output", "/root/growing.mp4", "--force", "--json", *key)
        # A group of pictures is a second here; which begins where somebody looks, nothing may be of yet.
        return done if done.ok and done.document["recordsNow"] and done.document["seconds"] >= 3 else Not(done)

    def verified():
        parts = [name for name in files(box) if name.endswith(".part")]
        done = parts and box.ctl("archive", "verify", f"{DIRECTORY}/{parts[-1]}", *key)
        return done if done and done.ok and "it grows" in done.out else Not(done or files(box))

    process, dropped = box.invocation(unit("front")), recording(box)["droppedFrames"]
    checks.until("what is being recorded is in the film up to the last seconds", exported)
    checks.until("and verifies by its own name", verified)
    checks.until("the recorder goes on", lambda: recorded(box, recording(box)["frames"] + 20))
    checks.same("without a frame lost", (box.invocation(unit("front")), recording(box)["droppedFrames"]), (process, dropped))


def recoverable(box, checks):
    """A key that no KAS has opens what is recorded from now on, and the private half never comes into the box."""
    with tempfile.TemporaryDirectory() as directory:
        private = pathlib.Path(directory, "recovery.pem")
        subprocess.run(["openssl", "genrsa", "-out", private, "2048"], check=True, capture_output=True)
        public = subprocess.run(["openssl", "pkey", "-in", private, "-pubout"], check=True, capture_output=True).stdout
        box.write("/root/private.pem", private.read_text(), mode=0o600)
        box.write("/root/public.pem", public.decode(), mode=0o644)
    refused = box.ctl("recording", "on", "front", "--recovery-key", "/root/private.pem")
    checks.expect("a private key is refused", refused.status == 2 and "holds a private key" in refused.err, refused)
    checks.same("and nothing was changed", recording(box).get("recoveryKey"), None)
    # Whoever does not use watchboxctl is refused as well.
    text = pathlib.Path(box.path("/root/private.pem")).read_text()
    refused = box.ctl("config", "set", "--", "camera.front.record_recovery_key", text)
    checks.expect("also by the box, which repeats nothing of it",
                  not refused.ok and text.split("\n")[1] not in refused.out + refused.err, refused)
    said = box.journal()
    checks.same("nothing of it is in the journal", [line for line in text.split("\n")[1:-2] if line in said], [])
    # Each change starts its process again, and systemd counts.
    box.run("systemctl", "reset-failed", unit("front"))
    begun = time.time()
    done = box.ctl("recording", "on", "front", "--recovery-key", "/root/public.pem")
    checks.expect("recording on --recovery-key", done.ok and "opens with the recovery key sha256//" in done.out, done)
    key = checks.until("the recorder names the key", lambda: recording(box) and recording(box).get("recoveryKey"), needed=True)
    checks.expect("as the command did", key in done.out, (key, done.out))
    report = box.ctl("doctor", "--json")
    checks.expect("doctor says who can open it", "with a recovery key as well" in report.out, report)

    def exported():
        seconds = int(time.time() - begun)
        done = box.ctl("archive", "export", "front", f"--from=-{min(seconds, 8)}s", "--to=now", "--output", "/root/private.mp4",
                       "--force", "--json", "--key", "/root/private.pem")
        return done if done.ok and done.document["seconds"] >= 3 else Not(done)

    checks.until("the private half alone opens what is recorded since", exported)
    done = box.ctl("recording", "on", "front", "--recovery-key", "none")
    checks.expect("and is taken back", done.ok, done)
    checks.until("which the recorder says", lambda: recording(box) and recording(box).get("recoveryKey") is None)


def around_events(box, checks):
    """Nothing is written until somebody marks it; then what was before the mark is there as well, and it ends by itself."""
    done = box.ctl("recording", "on", "front", "--events", "--before", "5", "--after", "2")
    checks.expect("recording on --events", done.ok, done, needed=True)
    checks.until("it waits for an event", lambda: (recording(box) or {}).get("state") == "waitingForEvent" or Not(recording(box)))
    before = files(box)
    time.sleep(8)
    checks.same("without an event nothing is written", files(box), before)
    checks.same("and nothing counts as lost", recording(box)["droppedFrames"], 0)
    checks.until("health takes it as well", lambda: box.check("recording", "front").get("state") == "ok"
                 or Not(box.check("recording", "front")))
    marked = time.time()
    done = box.ctl("recording", "mark", "front")
    checks.expect("recording mark", done.ok, done, needed=True)
    new = checks.until("it ends by itself, and waits again", lambda: [name for name in finished(box) if name not in before]
                       if recording(box)["state"] == "waitingForEvent" and finished(box) != before else Not(recording(box)),
                       needed=True)
    checks.same("one file", len(new), 1)
    begin = calendar.timegm(time.strptime(new[0][9:24], "%Y%m%dT%H%M%S"))
    # A group of pictures is a second here.
    checks.expect("which begins five seconds before the mark", 3 <= marked - begin <= 8, f"{new[0]}, marked at {marked}")
    checks.expect("and has time before it and after it", 6 <= int(NAME.fullmatch(new[0])[1]) / 1000 <= 12, new[0])
    status = box.ctl("recording", "status", "front")
    checks.expect("status says for what", "waits for an event" in status.out and "a mark" in status.out, status)
    for wrong in (["--for", "0"], ["--for", "3601"]):
        checks.expect(f"recording mark {wrong[1]} is refused", not box.ctl("recording", "mark", "front", *wrong).ok, wrong)
    done = box.ctl("recording", "on", "front")
    checks.expect("recording on: all the time again", done.ok, done, needed=True)


def full(box, checks):
    """Something else fills the disk: recordings go, the camera publishes, and it is said."""
    before, process = finished(box), box.invocation(unit("front"))
    done = box.sh(f"mount -o remount,size=$(( $(df -k --output=used {DISK} | tail -1) + 256 ))k {DISK}")
    checks.expect("the disk has hardly any room", done.ok, done, needed=True)
    checks.until("a full disk: the oldest recordings go", lambda: before[0] not in finished(box) or Not(files(box)))
    checks.until("health says that nothing is recorded", lambda: box.check("recording", "front").get("code") == "WB-3009"
                 or Not(box.check("recording", "front")))
    states = {(time.sleep(0.5), recording(box)["state"])[1] for _ in range(30)}
    checks.same("and it stays so while there is no room", states, {"failing"})
    checks.until("and it is live", lambda: live(box, "front"))
    status = box.ctl("recording", "status", "front")
    checks.expect("recording status says why", "WB-3009" in status.out and "free on the disk" in status.out, status)
    box.run("mount", "-o", "remount,size=3G", DISK)
    checks.same("its process is the same", box.invocation(unit("front")), process)
    checks.until("with room again, it is recorded", lambda: recorded(box, recording(box)["frames"] + 20))
