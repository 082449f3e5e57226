"""A data disk that is full, and one that cannot be written: publishing goes on, changes are refused, and it is reported."""
from boxed.checks import Not
from boxed.stage import live, moves, opens, publishing_box, restarted, unit, whole

TMPFS = ("/var/lib/watchbox:16M", "/var/lib/watchbox-health:8M")
REFUSALS = ("WB-3002", "WB-3003", "WB-3006")


def run(box, checks, _seed):
    publishing_box(box, checks)
    full(box, checks)
    read_only(box, checks)
    whole(box, checks)


def full(box, checks):
    watched = _cameras(box)
    for disk in ("/var/lib/watchbox", "/var/lib/watchbox-health"):
        box.sh(f"cat /dev/zero >{disk}/.full 2>/dev/null; sync -f {disk}")
    generation = box.ask("/api/v1/status")["generation"]
    refused(box, checks, "the disk is full", "WB-3002")
    _unmoved(box, checks, watched, "full disk")
    checks.until("health says it", lambda: _code(box.check("disk"), "WB-3002"))
    status = box.ctl("status")
    checks.expect("status: degraded, and why", status.status == 3 and "disk" in status.out, status)
    doctor = box.ctl("doctor", "--json")
    checks.expect("doctor: it fails", any(finding["state"] == "fail" and finding.get("code") in REFUSALS
                                          for finding in doctor.document["findings"]), doctor.out[-1500:])
    before = box.invocation("watchbox-control")
    box.kill("watchbox-control")
    checks.until("control starts on a full disk", restarted(box, "watchbox-control", before))
    checks.until("and knows the cameras", lambda: live(box, "front") and live(box, "back"))
    before = box.invocation("watchbox-health")
    box.kill("watchbox-health")
    checks.until("health starts on a full disk", restarted(box, "watchbox-health", before))
    checks.until("and says it", lambda: _code(box.check("disk"), "WB-3002"))
    before = box.invocation(unit("back"))
    box.kill(unit("back"))
    checks.until("a camera starts on a full disk", restarted(box, unit("back"), before))
    checks.until("and is live", lambda: live(box, "back"))
    for disk in ("/var/lib/watchbox", "/var/lib/watchbox-health"):
        box.remove(f"{disk}/.full")
    accepted(box, checks, "there is room again", "After a full disk")
    checks.expect("nothing of the refused change was kept", box.ask("/api/v1/status")["generation"] == generation + 1,
                  f"generation {generation} → {box.ask('/api/v1/status')['generation']}")
    checks.until("health: the disk is ok", lambda: box.check("disk")["state"] == "ok" or Not(box.check("disk")))


def read_only(box, checks):
    """A file system cannot be made read-only while a file is open for writing, except by an error of its disk; so control
    is away for that moment."""
    watched = _cameras(box)
    control = box.invocation("watchbox-control")
    done = box.sh("systemctl stop watchbox-control.socket watchbox-control.service && "
                  "mount -o remount,ro /var/lib/watchbox; s=$?; systemctl start watchbox-control.socket; exit $s")
    checks.expect("the data disk is read-only now", done.ok, done)
    box.run("systemctl", "start", "watchbox-control.service")
    checks.until("control starts with it", restarted(box, "watchbox-control", control))
    checks.until("and knows the cameras", lambda: live(box, "front") and live(box, "back"))
    refused(box, checks, "the disk is read-only", "WB-3003")
    _unmoved(box, checks, watched, "read-only disk")
    checks.until("health says it", lambda: _code(box.check("storage-read-only"), "WB-3003"))
    status = box.ctl("status")
    checks.expect("status: degraded, and why", status.status == 3 and (
        "read-only" in status.out or "WB-300" in status.out), status)
    before = box.invocation(unit("back"))
    box.kill(unit("back"))
    checks.until("a camera starts with it", restarted(box, unit("back"), before))
    checks.until("and is live", lambda: live(box, "back"))
    opens(box, checks, "back")
    done = box.run("mount", "-o", "remount,rw", "/var/lib/watchbox")
    checks.expect("the disk takes writes again", done.ok, done)
    checks.until("health: it is ok", lambda: box.check("storage-read-only")["state"] == "ok"
                 or Not(box.check("storage-read-only")))
    accepted(box, checks, "it can be written again", "After a read-only disk")


def refused(box, checks, why, code):
    done = box.ctl("camera", "edit", "front", "--name", "Not to be")
    checks.expect(f"{why}: a change is refused, with a code", not done.ok and any(
        known in done.err + done.out for known in REFUSALS), done)
    checks.expect(f"namely {code}", code in done.err + done.out, done)
    done = box.ctl("camera", "add", "side", "--source", "test:", "--no-wait")
    checks.expect(f"{why}: a new camera is refused", not done.ok, done)
    checks.expect("and there is none of that name", "side" not in box.ctl("camera", "list", "--json").out, "there is")
    checks.same("its name is the old one", box.get("camera", "show", "front")["name"] == "Not to be", False)


def accepted(box, checks, why, name):
    checks.until(f"{why}: a change is taken", lambda: (lambda done: done.ok or Not(done))(
        box.ctl("camera", "edit", "front", "--name", name)))
    checks.same("and there", box.get("camera", "show", "front")["name"], name)


def _cameras(box):
    return {camera: (box.invocation(unit(camera)), box.camera(camera)["statistics"]["connections"])
            for camera in ("front", "back")}


def _unmoved(box, checks, watched, what):
    for camera in watched:
        checks.until(f"{what}: {camera} goes on", moves(box, camera))
    checks.same(f"{what}: the same processes, the same connections", _cameras(box), watched)


def _code(check, code):
    return check if check.get("code") == code and check["state"] == "fail" else Not(check)
