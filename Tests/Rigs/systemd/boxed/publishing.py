"""Start order, sockets, who may ask; camera to viewer; what restarts of control and relay cost: nothing."""
import re
import subprocess

from boxed.box import Viewer
from boxed.checks import Not
from boxed.stage import add, clean, configure, connect, live, lost, moves, opens, restarted, start, unit, whole
from boxed import secrets

CONNECTOR = """
import select, socket, sys, time
served, cut, refused, wrong, expected, end = 0, 0, 0, "", None, time.monotonic() + 150
while time.monotonic() < end and (expected is None or served < expected):
    # The relay is there again when our input ends: some more, then. The ends are for what hangs.
    if expected is None and select.select([sys.stdin], [], [], 0)[0]:
        expected, end = served + 6, time.monotonic() + 90
    try:
        with socket.create_connection(("127.0.0.1", 1935), 30) as s:
            s.settimeout(30)
            s.sendall(bytes([3]) + bytes(1536))
            # The answer to the handshake: somebody serves, whoever it is by now. A process that dies takes its own along.
            try:
                answer = s.recv(1)
            except ConnectionResetError:
                answer = b""
            served, cut = served + bool(answer), cut + (not answer)
            if served == 1 and answer:
                print("served", flush=True)
                end = time.monotonic() + 600
    except ConnectionRefusedError:
        refused += 1
    except OSError as error:
        wrong = repr(error)
    time.sleep(0.02)
print(served, cut, refused, wrong)
"""


def programs(box, checks):
    """What a package brings along shows here: the manifest does not (docs/design/0017)."""
    for name in ("watchboxd", "watchboxctl"):
        done = subprocess.run(["readelf", "--dynamic", box.path(f"/usr/bin/{name}")], capture_output=True, text=True)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)
        too_large = [library for library in needed if re.match(r"lib_?Foundation(?!Essentials)", library)]
        checks.expect(f"{name} needs no Foundation, whose data for locales are 34 MB", needed and not too_large, needed or done.stderr)


def run(box, checks, _seed):
    programs(box, checks)
    sockets(box, checks)
    connect(box, checks)
    camera_to_viewer(box, checks)
    netcheck(box, checks)
    rights_of_health(box, checks)
    sight_of_health(box, checks)
    jobs(box, checks)
    control_restarts(box, checks)
    relay_restarts(box, checks)
    secrets.run(box, checks)
    whole(box, checks)


def sockets(box, checks):
    configure(box)
    box.run("systemctl", "start", "watchbox-control.socket")
    checks.same("control does not run yet", box.property("watchbox-control", "ActiveState"), "inactive")
    # With a longer timeout than a program has: this call starts control, on whatever machine this is.
    answer = box.call("GET", "/api/v1/version", timeout=90)
    checks.expect("a call to api.sock before control runs waits for it and is answered", answer[0] == 200, answer)
    checks.until("both programs have one version", lambda: (lambda versions: (
        versions.get("daemon") == versions["program"] == answer[1]["version"]) or Not(versions))(box.get("version")))
    start(box, checks)
    for socket in ("api.sock", "health.sock"):
        checks.same(f"{socket}: owner and mode",
                    box.run("stat", "-c", "%U:%G %a", f"/run/watchbox/{socket}").out.strip(), "root:watchbox 660")
    checks.until("health has looked at the box", lambda: box.check("storage-read-only")["state"] == "ok")
    for user in ("root", "operator"):
        # Once on a busy machine, control or health may be too slow for the other, and that is reported, too.
        checks.until(f"status as {user}: a box without cameras is well", lambda: _well(box.ctl("status", user=user)))
    done = box.ctl("status", user="nobody")
    checks.expect("status as nobody: refused with status 6", done.status == 6, done)
    done = box.ctl("camera", "add", "x", "--source", "test:", user="nobody")
    checks.expect("a change as nobody: refused with status 6", done.status == 6, done)
    def examined():
        findings = box.get("doctor")["findings"]
        # A box of namespaces has no router.
        bad = [finding for finding in findings if finding["state"] == "fail" and finding["check"] != "network"]
        return findings if not bad else Not(bad)
    findings = checks.until("doctor: nothing has failed", examined) or []
    checks.expect("doctor makes 20 checks or more", len(findings) >= 20, findings)
    checks.same("doctor: the API answers", {finding["check"]: finding["state"] for finding in findings}.get("api"), "ok")


def rights_of_health(box, checks):
    """Health looks on, acknowledges, and may change nothing."""
    for words in (("status",), ("camera", "add", "x", "--source", "test:"), ("stream", "stop", "front"),
                  ("config", "export")):
        done = box.ctl(*words, user="wb-health")
        checks.expect(f"health asks control for {' '.join(words)}: refused with status 6", done.status == 6, done)
    curl = ("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-m", "20", "--unix-socket",
            "/run/watchbox/camera/front.sock")
    def ask(*words):
        return box.run(*curl, *words, user="wb-health")
    checks.same("health reads a camera's state", ask("http://camera/api/v1/status").out.strip(), "200")
    for words in (("-X", "POST", "http://camera/api/v1/key-frame"), ("-X", "POST", "http://camera/api/v1/rotate-key"),
                  ("-X", "PATCH", "-d", '{"bitrate":300000}', "http://camera/api/v1/video"),
                  ("-X", "PUT", "-d", '{"secret":"x"}', "http://camera/api/v1/kas-token"),
                  ("http://camera/api/v1/snapshot",)):
        done = ask(*words)
        checks.same(f"health is refused {words[-1].rsplit('/', 1)[1]} of a camera", done.out.strip(), "403")
    for target in ("watchbox-camera@front", "watchbox-relay", "watchbox-kas"):
        done = box.run("systemctl", "--no-ask-password", "stop", target, user="wb-health")
        checks.expect(f"health may not stop {target}", not done.ok and box.active(target), done)


def sight_of_health(box, checks):
    """What hangs in the kernel is hidden from it, which it says, until somebody relaxes its sandbox as docs/ref/units.md has it."""
    def sees(state):
        check = box.check("tasks")
        return check["state"] == state or Not(check)
    checks.until("what hangs in the kernel is hidden from health, which says so", lambda: sees("unknown"))
    box.drop_in("watchbox-health.service", "50-tasks", "[Service]\nProtectProc=default\n")
    box.run("systemctl", "restart", "watchbox-health.service")
    checks.until("it is not with the drop-in for that", lambda: sees("ok"))
    box.no_drop_in("watchbox-health.service", "50-tasks")
    box.run("systemctl", "restart", "watchbox-health.service")
    checks.until("and again without", lambda: sees("unknown"))


def camera_to_viewer(box, checks):
    done = add(box, checks, "front")
    first = checks.until("it is live", lambda: live(box, "front"), needed=True)
    checks.same("with its first connection", first["statistics"]["connections"], 1)
    if checks.is_optimised:
        checks.promise("from camera add to live", done.seconds, 3)
    else:
        checks.note(f"from camera add to live: {done.seconds:.1f} s")
    add(box, checks, "back")
    opens(box, checks, "front")
    opens(box, checks, "back")
    def listed():
        found = [(camera["id"], camera["stream"]["state"]) for camera in box.get("camera", "list")["cameras"]]
        return found == [("front", "live"), ("back", "live")] or Not(found)
    checks.until("camera list", listed)
    # Registered beside the stream, which does not wait for it.
    def registered():
        keys = box.get("key", "list")["keys"]
        return len(keys) == 2 and all(key["collection"] and key["headersRegistered"] > 0 for key in keys) or Not(keys)
    checks.until("key list: each has a registered header", registered)
    for camera in ("front", "back"):
        checks.until(f"health: {camera} publishes", lambda: _ok(box.check("publish", camera)))
    checks.until("status: all is well (exit 0)", lambda: (lambda status: _well(status) and "front" in status.out or Not(status))(
        box.ctl("status")))
    words = box.property(unit("front"), "StatusText")
    checks.expect("STATUS= says what it does", "fps" in words, words)
    metrics = box.ctl("health", "metrics")
    checks.expect("metrics", metrics.ok and "watchbox_build_info" in metrics.out, metrics)


def netcheck(box, checks):
    """Relay and KAS of this box, while cameras are live and when the line is to be filled all the same."""
    done = box.ctl("netcheck", "--json")
    lines = {line["check"]: line for peer in done.document["peers"] for line in peer["findings"]} if done.out else {}
    checks.expect("netcheck: relay and KAS answer (exit 0)", done.ok and all(
        lines[name]["state"] == "ok" for name in ("main dns", "main tcp", "main rtt", "main mtu", "kas tcp", "kas key")), done)
    checks.expect("it does not fill the line of live cameras", lines["main upload"]["state"] == "unknown"
                  and "--upload" in lines["main upload"]["hint"], lines["main upload"])
    done = box.ctl("netcheck", "--relay", "main", "--upload", "--json")
    peer = done.document["peers"][0] if done.out else {}
    checks.expect("unless it is asked to", done.ok and peer.get("uploadBitsPerSecond", 0) > 0 and peer["roundTripMilliseconds"] > 0,
                  done)
    checks.note("; ".join(line["evidence"] for line in peer["findings"]))
    for camera in ("front", "back"):
        checks.until(f"{camera} sends", moves(box, camera))
    done = box.ctl("netcheck", "--relay", "nowhere")
    checks.expect("a relay that there is not (exit 4)", done.status == 4, done)


def jobs(box, checks):
    """Control asks systemd through the real bus and the real polkit rules, and starts nothing itself."""
    before = box.invocation(unit("front"))
    done = box.ctl("stream", "restart", "front", user="operator")
    checks.expect("stream restart, as a member of the group", done.ok, done)
    checks.expect("is another process", box.invocation(unit("front")) != before, before)
    done = box.ctl("stream", "stop", "front")
    checks.expect("stream stop", done.ok and not box.active(unit("front")), done)
    done = box.ctl("stream", "start", "front")
    checks.expect("stream start", done.ok, done)
    checks.until("front is live", lambda: live(box, "front"))
    children = box.run("ps", "-o", "pid,args", "--no-headers", "--ppid", box.property("watchbox-control", "MainPID")).out
    checks.same("control has no child process", children.strip(), "")
    denied = [line for line in box.journal("-u", "watchbox-control").splitlines() if "not permitted" in line.lower()]
    checks.same("nothing was refused to control", denied, [])


def control_restarts(box, checks):
    viewer = Viewer(box, "front")
    checks.until("a viewer watches front", lambda: viewer.pictures(1), needed=True)
    names = {camera: box.invocation(unit(camera)) for camera in ("front", "back")}
    before = {camera: box.camera(camera)["statistics"] for camera in names}
    for turn in range(5):
        control = box.invocation("watchbox-control")
        if turn % 2:
            box.run("systemctl", "restart", "watchbox-control.service")
        else:
            box.kill("watchbox-control")
        checks.until(f"control {'restarted' if turn % 2 else 'killed'}: it answers again",
                     lambda: restarted(box, "watchbox-control", control)() and live(box, "front"))
    for camera, name in names.items():
        now = box.camera(camera)["statistics"]
        checks.same(f"{camera} is the same process", box.invocation(unit(camera)), name)
        checks.same(f"{camera} kept its connection", now["connections"], before[camera]["connections"])
        checks.same(f"{camera} dropped nothing", lost(now), lost(before[camera]))
        checks.until(f"{camera} goes on", moves(box, camera))
    frames = viewer.frames()
    checks.expect("the viewer lost no frame while control was away five times", clean(
        checks, viewer, "every frame opened, none missing, none twice, none forged"), viewer.words())
    checks.expect("its counters are without a hole", continuous(frames), continuous(frames))


def continuous(frames):
    """Each collection counts its items, of both tracks, up by one."""
    last = {}
    for frame in frames:
        before = last.get(frame["collection"])
        if before is not None and frame["iv"] != before + 1:
            return Not(f"{frame['collection']}: {before} is followed by {frame['iv']}")
        last[frame["collection"]] = frame["iv"]
    return len(frames)


def relay_restarts(box, checks):
    for how in ("restarted", "killed"):
        before = box.invocation("watchbox-relay")
        connector = box.on_loopback(CONNECTOR)
        said = connector.stdout.readline().strip()
        checks.same(f"before the relay is {how} it serves", said, "served")
        if how == "restarted":
            box.run("systemctl", "restart", "watchbox-relay.service")
        else:
            box.kill("watchbox-relay")
        checks.until(f"the relay is {how}", restarted(box, "watchbox-relay", before))
        served, cut, refused, wrong = (connector.communicate(timeout=300)[0].strip() + " ").split(" ", 3)
        # They come one after the other, so that one is there when the process goes.
        checks.expect("who came meanwhile was served, but for the one whom the process took along", int(served) > 5
                      and int(cut) <= 1 and refused == "0" and not wrong.strip(),
                      f"{served} served, {cut} cut off, {refused} refused, {wrong}")
        checks.note(f"{served} came while the relay was {how}, {cut} of them cut off")
        for camera in ("front", "back"):
            checks.until(f"{camera} is live again", lambda: live(box, camera))
            checks.until(f"{camera} sends", moves(box, camera))
    checks.expect("the relay said so", "took over the listening socket" in box.journal("-u", "watchbox-relay"),
                  box.journal("-u", "watchbox-relay", "-n", "12"))
    opens(box, checks, "front")


def _well(status):
    return status.ok or Not(status)


def _ok(check):
    return True if check["state"] == "ok" else Not(check)
