"""Files that are wrong, changes that nobody confirms, and what each change may restart."""
from boxed.checks import Not
from boxed.stage import live, moves, publishing_box, restarted, unit, whole

EXTRA = "/etc/watchbox/conf.d/20-extra.toml"


def run(box, checks, _seed):
    publishing_box(box, checks)
    least(box, checks)
    invalid(box, checks)
    unconfirmed(box, checks)
    removed(box, checks)
    whole(box, checks)


def least(box, checks):
    names = _invocations(box)
    done = box.ctl("camera", "edit", "back", "--name", "Back yard, left")
    checks.expect("camera back has another name", done.ok, done)
    checks.same("that restarted nothing", _invocations(box), names)
    plan = box.ctl("camera", "edit", "back", "--bitrate", "200000", "--dry-run", "--json")
    checks.expect("a dry run says what a camera takes over while it publishes", plan.ok and [
        change["action"] for change in plan.document["changes"]] == ["change-camera"], plan)
    done = box.ctl("camera", "edit", "back", "--bitrate", "200000")
    checks.expect("camera back has another bit rate", done.ok, done)
    checks.until("and control has told it", lambda: box.sh("! ls /run/watchbox/service/*.restart").ok)
    checks.same("that restarted nothing either", _invocations(box), names)
    plan = box.ctl("camera", "edit", "back", "--size", "256x144", "--dry-run", "--json")
    checks.expect("a dry run says what a change restarts", plan.ok and [
        change["action"] for change in plan.document["changes"]] == ["restart-camera"], plan)
    checks.same("and restarts nothing", _invocations(box), names)
    before = box.camera("front")["statistics"]["connections"]
    done = box.ctl("camera", "edit", "back", "--size", "256x144")
    checks.expect("camera back has another size", done.ok, done)
    checks.until("it starts anew", restarted(box, unit("back"), names["back"]))
    checks.until("and is live", lambda: live(box, "back"))
    checks.same("front is the same process, with the same connection",
                (box.invocation(unit("front")), box.camera("front")["statistics"]["connections"]), (names["front"], before))


def invalid(box, checks):
    """A file with a mistake: said, with its place, and what ran goes on; also after a start with it."""
    names = _invocations(box)
    generation = box.ask("/api/v1/status")["generation"]
    box.write(EXTRA, 'camera.side = { source = "test:", bitrat = 300000 }\n')
    done = box.ctl("config", "validate")
    checks.expect("config validate ends with 8, names file, line and nearest key", done.status == 8 and all(
        word in done.out + done.err for word in ("20-extra.toml", ":1", "bitrate")), done)
    done = box.ctl("config", "apply")
    checks.expect("config apply ends with 8", done.status == 8, done)
    done = box.run("systemctl", "reload", "watchbox-control.service")
    checks.expect("systemctl reload", done.ok, done)
    checks.until("status warns: the last good generation runs", lambda: _problem(box, "WB-1005"))
    control = box.invocation("watchbox-control")
    box.kill("watchbox-control")
    checks.until("control starts with an invalid file", restarted(box, "watchbox-control", control))
    checks.until("and warns", lambda: _problem(box, "WB-1005"))
    checks.same("the generation is the same", box.ask("/api/v1/status")["generation"], generation)
    checks.same("no camera has noticed", _invocations(box), names)
    done = box.ctl("camera", "edit", "back", "--name", "Still editable")
    checks.expect("cameras can be changed meanwhile", done.ok, done)

    # As at boot: everything ends, everything starts, and the file is still wrong.
    box.run("systemctl", "stop", "watchbox.target")
    done = box.run("systemctl", "start", "watchbox.target")
    checks.expect("the box starts with an invalid file", done.ok, done)
    for camera in ("front", "back"):
        checks.until(f"{camera} is live, out of the last good generation", lambda: live(box, camera))
    checks.until("with a warning", lambda: _problem(box, "WB-1005"))
    status = box.ctl("status")
    checks.expect("status ends with 3 and names the command", status.status == 3 and "config validate" in status.out, status)
    box.write(EXTRA, 'camera.side = { source = "test:", bitrate = 300000, size = "320x180", rate = 15 }\n')
    done = box.run("systemctl", "reload", "watchbox-control.service")
    checks.expect("corrected, and reloaded", done.ok, done)
    checks.until("the new camera is live", lambda: live(box, "side"))
    checks.same("no warning any more", box.ask("/api/v1/status").get("configurationProblem"), None)
    done = box.ctl("camera", "edit", "side", "--name", "Mine")
    checks.expect("a camera of a file cannot be changed by a command", done.status == 9 and "20-extra.toml" in done.err, done)


def unconfirmed(box, checks):
    names = _invocations(box)
    generation = box.ask("/api/v1/status")["generation"]
    box.write(EXTRA, 'camera.other = { source = "test:", bitrate = 300000, size = "320x180", rate = 15 }\n')
    diff = box.get("config", "diff")
    checks.same("config diff", sorted((change["object"], change["action"]) for change in diff["changes"]),
                [("camera.other", "start-camera"), ("camera.side", "stop-camera")])
    done = box.ctl("config", "apply", "--confirm", "10s")
    checks.expect("config apply --confirm 10s", done.ok, done)
    checks.until("the new camera starts", lambda: live(box, "other"))
    checks.until("nobody confirms: the old one is back", lambda: live(box, "side"))
    checks.until("the new one is gone", lambda: box.property(unit("other"), "ActiveState") == "inactive")
    current = [entry for entry in box.get("config", "history")["generations"] if entry["isCurrent"]]
    checks.expect("the history says so", current and "taken back" in current[0]["cause"] and current[0]["number"] > generation,
                  current)
    checks.same("the other cameras have not noticed", {key: value for key, value in _invocations(box).items()
                                                       if key != "side"}, {k: v for k, v in names.items() if k != "side"})
    done = box.ctl("config", "apply", "--confirm", "10s")
    checks.expect("once more", done.ok, done)
    done = box.ctl("config", "confirm")
    checks.expect("config confirm", done.ok, done)
    checks.until("it stays", lambda: live(box, "other"))
    done = box.ctl("config", "rollback", str(generation))
    checks.expect("config rollback", done.ok, done)
    checks.until("brings the old camera back", lambda: live(box, "side"))


def removed(box, checks):
    box.write("/root/password", "not for long\n", mode=0o600)
    done = box.ctl("camera", "password", "back", "--file", "/root/password")
    checks.expect("camera back has a password", done.ok, done)
    scopes = "find /var/lib/watchbox /run/watchbox/secret -path '*camera-back/*'"
    checks.expect("which is kept somewhere", box.sh(scopes).out.strip(), "nowhere")
    front = box.invocation(unit("front"))
    done = box.ctl("camera", "rm", "back", "--yes")
    checks.expect("camera rm", done.ok, done)
    checks.until("its unit is stopped", lambda: box.property(unit("back"), "ActiveState") == "inactive")
    checks.same("its settings are gone", box.path("/run/watchbox/service/camera-back.json").exists(), False)
    checks.same("and its secrets", box.sh(scopes).out.strip(), "")
    checks.same("front has not noticed", box.invocation(unit("front")), front)
    checks.until("front sends", moves(box, "front"))


def _invocations(box):
    found = {}
    for camera in ("front", "back", "side"):
        state, invocation = box.properties(unit(camera), "ActiveState", "InvocationID")
        # A camera may be live a moment before systemd has heard so.
        if state in ("active", "activating"):
            found[camera] = invocation
    return found


def _problem(box, code):
    problem = box.ask("/api/v1/status").get("configurationProblem") or ""
    return problem if code in problem else Not(f"the problem is {problem!r}")
