"""What is secret stays secret: planted here, looked for everywhere."""
import base64
import io
import json
import tarfile
import urllib.parse

from boxed.stage import add, live

PASSWORD = 'p@ss:/#% "ü'
PLANTED = 'planted:/#% "ö'
STREAM_KEY = "sk-Q7kz41vXwR"
TOPIC = "topic-h8Wq2LmZ"
HOOK_TOKEN = "tk_5nJpR0cVyT"


def run(box, checks):
    box.write("/root/camera.password", PASSWORD + "\n", mode=0o600)
    done = box.ctl("camera", "password", "front", "--file", "/root/camera.password")
    checks.expect("camera password", done.ok, done)
    checks.same("the camera has a password", box.get("camera", "show", "front")["hasPassword"], True)
    box.write("/root/relay.url", f"rtmp://127.0.0.1:1935/live/keyed?key={STREAM_KEY}\n", mode=0o600)
    done = box.ctl("relay", "add", "keyed", "--secret-file", "/root/relay.url")
    checks.expect("relay add with a secret URL", done.ok, done)
    add(box, checks, "keyed", "--relay", "keyed")
    checks.until("a camera publishes there", lambda: live(box, "keyed"))
    given = {camera: box.sh(f"ls /run/credentials/watchbox-camera@{camera}.service").out.split()
             for camera in ("front", "keyed")}
    checks.expect("its unit is given the URL", any("relay-keyed" in name for name in given["keyed"]), given)
    checks.expect("another camera's is not", not any("keyed" in name for name in given["front"]), given)

    box.write("/root/topic.url", f"http://127.0.0.1:9/{TOPIC}\n", mode=0o600)
    box.write("/root/hook.token", HOOK_TOKEN + "\n", mode=0o600)
    done = box.ctl("hook", "add", "phone", "--kind", "ntfy", "--url-file", "/root/topic.url", "--token-file", "/root/hook.token")
    checks.expect("hook add with a secret URL and a token", done.ok, done)
    tried = box.ctl("hook", "test", "phone", "--json")
    checks.expect("its process has both, and says that no server answers", tried.status == 7 and tried.document[
        "code"] == "WB-5201", tried)
    given = box.sh("ls /run/credentials/watchbox-hooks.service").out.split()
    checks.same("and no other secret of the box", sorted(name.split("_", 1)[1] for name in given), ["bearer-phone", "hook-phone"])

    needles = {"the camera's password": PASSWORD, "the stream key": STREAM_KEY, "a hook's topic": TOPIC,
               "a hook's token": HOOK_TOKEN}
    for name in ("box", "viewer"):
        needles[f"the {name}'s token"] = box.path(f"/root/{name}.token").read_text().strip()
    box.ctl("doctor", "--bundle", "/root/bundle")
    bundle = box.path("/root/bundle")
    checks.expect("doctor makes a bundle", bundle.exists() and bundle.stat().st_size > 1000, "there is none")
    # The search itself: what was put there on purpose, as a log would write it, is found.
    planted = {"what was planted": PLANTED}
    box.sh("systemd-cat -t planted", input=json.dumps(PLANTED) + "\n")
    checks.until("what is planted in the journal is found", lambda: _found(planted, box.run(
        "journalctl", "--no-pager", "--all", "--output=export", "-t", "planted").out))
    box.write("/var/tmp/planted", base64.b64encode(PLANTED.encode()).decode(), mode=0o600)
    found = [path.name for path, text in _files(box).items() if _found(planted, text)]
    checks.expect("and what is planted on the disk", "planted" in found, found)
    box.remove("/var/tmp/planted")

    places = {
        "the journal": box.run("journalctl", "--no-pager", "--all", "--output=export").out,
        "config export": box.ctl("config", "export").out,
        "config show": box.ctl("config", "show", "--json").out,
        "status": box.ctl("status", "--json").out,
        "camera show": box.ctl("camera", "show", "front", "--json").out,
        "relay list": box.ctl("relay", "list", "--json").out,
        "hook list": box.ctl("hook", "list", "--json").out,
        "hook show": box.ctl("hook", "show", "phone").out,
        "hook test": tried.out + tried.err,
        "the API's kas": json.dumps(box.ask("/api/v1/kas")),
        "the events": json.dumps(box.events(), ensure_ascii=False),
        "the logs": json.dumps(box.ask("/api/v1/logs?n=5000", timeout=90), ensure_ascii=False),
        "systemctl show": box.sh("systemctl show 'watchbox*' --all").out,
        "systemctl status": box.sh("systemctl status --no-pager --full 'watchbox*'").out,
        "command lines": box.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").out,
        "environments": box.sh("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' ' '").out,
        "the bundle": _unpacked(bundle) if bundle.exists() else "",
    }
    for place, text in places.items():
        checks.expect(f"no secret in {place} ({len(text)} characters)", len(text) > 10 and not _found(needles, text),
                      _found(needles, text) or f"it is empty: {text!r}")
    files = _files(box)
    open_to_all = {path: text for path, text in files.items() if path.is_file() and path.stat().st_mode & 0o007}
    leaks = [f"{name} in {path}" for path, text in open_to_all.items() for name in _found(needles, text)]
    checks.expect(f"no secret in {len(open_to_all)} files that everybody may read", open_to_all and not leaks, leaks)
    kept = [f"{name} in {path}" for path, text in files.items() for name in _found(needles, text)
            if "var" in path.relative_to(box.root).parts[:1]]
    checks.expect("no secret on the disk, except sealed", not kept, kept)
    backup(box, checks, needles)


def backup(box, checks, needles):
    """What root keeps of a box brings back what was lost of it, secrets included."""
    file, passphrase = "/root/box.backup", ("--passphrase-file", "/root/passphrase")
    box.write("/root/passphrase", "correct horse battery\n", mode=0o600)
    done = box.ctl("backup", "/tmp/box.backup", user="operator")
    checks.expect("nobody but root makes a backup", done.status == 6 and "sudo watchboxctl backup" in done.err, done)
    done = box.ctl("backup", file, *passphrase, "--json")
    checks.expect("root reads what control has sealed", done.ok and done.document["missing"] == [] and done.document["secrets"] == [
        "camera.front.password", "hook.phone.secret_url", "hook.phone.token", "kas.token", "relay.keyed.secret_url"], done)
    checks.same("the file is for its owner alone", box.run("stat", "-c", "%a", file).out.strip(), "600")
    checks.expect("and shows no secret", not _found(needles, box.path(file).read_bytes().decode(errors="replace")), "it does")
    checks.same("control's directory is as it was", box.sh("find /var/lib/watchbox/sealed /var/lib/watchbox/device.key ! -user watchbox").out, "")
    for words in (("camera", "rm", "keyed", "--yes"), ("relay", "rm", "keyed", "--yes")):
        done = box.ctl(*words)
        checks.expect(f"{words[0]} {words[1]} keyed", done.ok, done)
    plan = box.ctl("restore", file, *passphrase, "--dry-run", "--json")
    checks.expect("a dry run says what would come back, and what files set", plan.ok and sorted(
        change["object"] for change in plan.document["changes"]) == ["camera.keyed", "relay.keyed"] and plan.document["kept"] and all(
            kept["isSame"] for kept in plan.document["kept"]), plan)
    done = box.ctl("restore", file, *passphrase)
    checks.expect("secrets that are there are not replaced unasked", done.status == 9 and "--replace" in done.err, done)
    done = box.ctl("restore", file, *passphrase, "--replace", "--json")
    checks.expect("restore --replace", done.ok and done.document["isDone"], done)
    checks.until("the camera publishes at the secret URL again", lambda: live(box, "keyed"))
    checks.until("and front with the token", lambda: live(box, "front"))
    said = box.run("journalctl", "--no-pager", "--all", "--output=export").out
    checks.expect("the journal shows no secret of it", not _found(needles, said), _found(needles, said))


def _found(needles, text):
    """As it is, and as a document, a URL or a log would write it."""
    found = []
    for name, needle in needles.items():
        shapes = {
            needle, json.dumps(needle)[1:-1], json.dumps(needle, ensure_ascii=False)[1:-1],
            urllib.parse.quote(needle, safe=""), urllib.parse.quote(needle), needle.replace('"', '\\"'),
            base64.b64encode(needle.encode()).decode().rstrip("="),
        }
        if any(shape in text for shape in shapes):
            found.append(name)
    return found


def _unpacked(bundle):
    data = bundle.read_bytes()
    if not tarfile.is_tarfile(bundle):
        return data.decode(errors="replace")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return "\n".join(archive.extractfile(member).read().decode(errors="replace")
                         for member in archive.getmembers() if member.isfile())


def _files(box):
    files = {}
    for top in ("run/watchbox", "run/systemd/system", "etc/watchbox", "tmp", "var/lib", "var/tmp", "var/log"):
        for path in (box.root / top).rglob("*"):
            try:
                if path.is_file() and not path.is_symlink() and path.stat().st_size < 64 << 20:
                    files[path] = path.read_bytes().decode(errors="replace")
            except OSError:
                continue
    return files
