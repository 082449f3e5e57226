"""VideoCapture at vivid, whose frames and faults can be chosen. What v4l2-ctl shows is the second opinion."""
import json

from devices.tool import check, event, events, pictures

VIVID = "/dev/video0"
LINK = "/dev/v4l/by-id/virtual-watchbox_vivid-000-vid-cap-video-index0"
STILL = "test_pattern=4 osd_text_mode=2 horizontal_movement=3 vertical_movement=3 show_square=0 show_border=0"


def run(guest, _host, checks):
    nodes(guest, checks)
    listed = formats(guest, checks)
    names = controls(guest, checks)
    negotiation(guest, checks, listed)
    pixels(guest, checks)
    buffers(guest, checks)
    access(guest, checks)
    faults(guest, checks, names)
    unplugged(guest, checks)


# ---- what is there ----

def nodes(guest, checks):
    found = {node["device"]: node for node in check(guest, "nodes").lines}
    camera, encoder = found.get(VIVID, {}), found.get("/dev/video11", {})
    checks.same("vivid is a camera", camera.get("verdict"), "camera")
    checks.same("with what its driver calls itself", (camera.get("card"), camera.get("driver"), camera.get("bus")),
                ("vivid", "vivid", "platform:vivid-000"))
    checks.same("with the link of its identity", camera.get("stableID"), LINK)
    checks.expect("and of its place", (camera.get("stablePath") or "").startswith("/dev/v4l/by-path/"), camera)
    checks.same("the encoder is not one: a codec", encoder.get("verdict"), "codec")
    checks.expect("with a message that says what it is", len(encoder.get("reason", "")) > 20, encoder)
    checks.note(f"the encoder's node is refused: {encoder.get('reason')}")
    by_name = {node["device"]: node["verdict"] for node in check(guest, "nodes --sysfs").lines}
    checks.same("sysfs alone says the same", (by_name.get(VIVID), by_name.get("/dev/video11")), ("camera", "codec"))
    done = check(guest, f"find {LINK}")
    checks.expect("the link leads to it, and by its identity it is found again",
                  done.ok and done.lines[0]["device"] == VIVID and event(done, "again")["device"] == VIVID, done)
    done = check(guest, "find /dev/video7")
    checks.expect("a node that is not there: wait for it", not done.ok
                  and event(done, "error")["remedy"] == "waitForDevice", done)
    done = check(guest, "capture /dev/video11 640x480")
    error = event(done, "error") if not done.ok else {}
    checks.expect("the encoder as a camera: refused, for a person", error.get("case") == "notACamera"
                  and error["remedy"] == "person" and error["hint"], done)
    checks.note(f"{error.get('error')}")


def formats(guest, checks):
    """FourCC → {size: rates}"""
    listed = {}
    for mode in check(guest, f"modes {VIVID}").lines:
        listed.setdefault(mode["format"], {})[mode["size"]] = mode["rates"]
    theirs = guest.run(f"v4l2-ctl -d {VIVID} --list-formats").out
    expected = {line.split("'")[1].replace(" ", "") for line in theirs.splitlines() if "'" in line}
    checks.same("each pixel format that v4l2-ctl lists", sorted(expected - {name.replace(" ", "") for name in listed}), [])
    checks.expect("with sizes and rates", "640x360" in listed.get("YUYV", {}) and 25.0 in listed["YUYV"]["640x360"]
                  and "1280x720" in listed.get("YU12", {}), str(listed)[:500])
    checks.note(f"{len(listed)} pixel formats, {len(listed.get('YUYV', {}))} sizes of YUYV")
    return listed


def controls(guest, checks):
    ours = {control["name"]: control for control in check(guest, f"controls {VIVID}").lines}
    theirs = {}
    for line in guest.run(f"v4l2-ctl -d {VIVID} --list-ctrls").out.splitlines():
        words = line.split()
        if len(words) > 2 and words[1].startswith("0x"):
            theirs[words[0]] = line
    # Arrays and strings are not numbers, and may be left out.
    numbers = {name for name, line in theirs.items() if any(
        kind in line for kind in ("(int)", "(bool)", "(menu)", "(button)", "(intmenu)", "(bitmask)"))}
    checks.same("each control that v4l2-ctl lists, by the same name", sorted(numbers - set(ours)), [])
    brightness = ours.get("brightness", {})
    checks.same("brightness goes from 0 to 255", (brightness.get("minimum"), brightness.get("maximum")), (0, 255))
    checks.same("a menu has its items", ours.get("menu", {}).get("menu", {}).get("3"), "Menu Item 3")
    done = check(guest, f"set {VIVID} brightness=200 horizontal_flip=1")
    checks.expect("controls are set by name", done.ok and [line["value"] for line in events(done, "set")] == [200, 1], done)
    seen = guest.run(f"v4l2-ctl -d {VIVID} --get-ctrl=brightness,horizontal_flip").out.split()
    checks.same("and v4l2-ctl sees it", seen, ["brightness:", "200", "horizontal_flip:", "1"])
    check(guest, f"set {VIVID} brightness=128 horizontal_flip=0")
    for setting, case in (("brightness=256", "controlRange"), ("brighness=1", "noSuchControl"),
                          ("read_only_integer_32_bits=1", "controlNotSettable")):
        done = check(guest, f"set {VIVID} {setting}")
        error = event(done, "error") if not done.ok else {}
        checks.expect(f"{setting} is refused: {error.get('why')}", error.get("case") == case, done)
    checks.expect("a name that is nearly right is answered with the right one", "brightness" in str(
        event(check(guest, f"set {VIVID} brighness=1"), "error")))
    return set(ours)


# ---- negotiation ----

def negotiation(guest, checks, listed):
    for size, format, rate in (("640x360", "YU12", 15), ("640x480", "YUYV", 10), ("1280x720", "NV12", 5),
                               ("320x180", "UYVY", 30)):
        setup = capture_setup(guest, checks, f"{size} --format {format} --rate {rate} --count 2")
        if setup:
            checks.same(f"{size} {format} at {rate}/s is what comes", (
                f"{setup['width']}x{setup['height']}", setup["format"], round(setup["rate"])), (size, format, rate))
            if format in ("YU12", "NV12"):
                checks.same(f"{size} {format}: lines of a multiple of 64 bytes", setup["bytesPerLine"] % 64, 0)
    setup = capture_setup(guest, checks, "640x360 --rate 10 --count 2")
    if setup:
        checks.expect("no format named: a planar one, which encoders take as it is", setup["format"] in ("YU12", "NV12"), setup)
    # A webcam has sizes of its own: the nearest that covers what was asked for.
    setup = capture_setup(guest, checks, "700x400 --format YU12 --rate 10 --count 2")
    if setup:
        checks.expect("700x400: a size that covers it", setup["width"] >= 700 and setup["height"] >= 400
                      and setup["width"] <= 1280, setup)
    setup = capture_setup(guest, checks, "641x361 --format YUYV --rate 10 --count 2")
    if setup:
        checks.expect("641x361: a size that covers it", setup["width"] >= 641 and setup["height"] >= 361, setup)
    setup = capture_setup(guest, checks, "640x360 --format YU12 --rate 13 --count 2")
    if setup:
        checks.expect("13/s, which it does not have: one of its own", round(setup["rate"], 1) in (12.5, 15.0), setup)
        checks.note(f"13/s became {setup['rate']}/s")
    for what, arguments, case in (
            ("a format that it does not have", "640x360 --format MJPG", "noSuchFormat"),
            ("raw sensor samples", "640x360 --format BA81", None),
            ("a size out of range", "9000x9000 --format YU12", None)):
        done = check(guest, f"capture {VIVID} {arguments} --count 1")
        error = event(done, "error") if not done.ok and events(done, "error") else {}
        if case:
            checks.expect(f"{what}: refused with a message", error.get("case") == case and error.get("hint"), done)
        checks.note(f"{what}: {error.get('why') or event(done, 'setup')}")


def capture_setup(guest, checks, arguments):
    done = check(guest, f"capture {VIVID} {arguments}")
    if not checks.expect(f"capture {arguments}", done.ok and event(done, "end")["pictures"] == 2, done):
        return None
    return event(done, "setup")


# ---- pixels ----

def still(guest, pattern=STILL):
    guest.run(f"v4l2-ctl -d {VIVID} " + " ".join(f"-c {setting}" for setting in pattern.split()))


def pixels(guest, checks):
    still(guest)
    for size, format, bytes_per_line in (("640x360", "YU12", 640), ("640x360", "YUYV", 1280), ("640x480", "NV12", 640),
                                         ("1280x720", "YU12", 1280)):
        width, height = size.split("x")
        theirs = guest.run(
            f"v4l2-ctl -d {VIVID} --set-fmt-video=width={width},height={height},pixelformat={format},"
            f"bytesperline={bytes_per_line} --set-parm=5 --stream-mmap=4 --stream-count=2 --stream-to=/share/files/theirs "
            "2>&1")
        done = check(guest, f"capture {VIVID} {size} --format {format} --rate 5 --count 2 --output /share/files/ours")
        if not theirs.ok or not done.ok:
            checks.expect(f"{size} {format}: frames to compare", False, f"{theirs}\n{done}")
            continue
        one, other = guest.file("ours").read_bytes(), guest.file("theirs").read_bytes()
        checks.expect(f"{size} {format}: the pixels that v4l2-ctl gets", one == other and len(one) > 0,
                      f"{len(one)} and {len(other)} bytes, {sum(a != b for a, b in zip(one, other))} differ")
    done = check(guest, f"capture {VIVID} 640x360 --format YU12 --rate 10 --count 8 --dmabuf --hold")
    checks.expect("a frame exported as DMA-BUF shows the same bytes", done.ok and event(done, "dmabuf")["isSame"], done)
    checks.expect("a frame that is kept stays as it was while others come", done.ok and event(done, "held")["isSame"], done)


# ---- the stream ----

def buffers(guest, checks):
    done = check(guest, f"capture {VIVID} 640x360 --format YU12 --rate 15 --count 30")
    if checks.expect("thirty frames", done.ok and event(done, "end")["pictures"] == 30, done):
        taken, end = events(done, "picture"), event(done, "end")
        stamps = [picture["timestamp"] for picture in taken]
        checks.expect("each with the driver's time, and that grows", all(stamps) and stamps == sorted(set(stamps)), stamps)
        late = [(picture["received"] - picture["timestamp"]) / 1e6 for picture in taken]
        # vivid's time is that of the frame's end, and it delivers before that: by less than a frame.
        # How late the newest is depends on the machine; another clock would be hours away, or years.
        checks.expect("which is CLOCK_MONOTONIC", min(late) > -67 and max(late) < 60_000, late)
        checks.note(f"taken {sorted(late)[len(late) // 2]:.1f} ms after the driver's time (median), {max(late):.1f} ms at most")
        seconds = (stamps[-1] - stamps[0]) / 1e9
        sequence = taken[-1]["sequence"] - taken[0]["sequence"]
        checks.note(f"{sequence / seconds:.2f} frames/s of 15 asked for")
        # What came before the first, and was given up for it, is in our count and not in that of the two.
        checks.same("the driver's count and ours agree", sequence,
                    sum(taken[-1][name] - taken[0][name] for name in ("captured", "lost")))
    done = check(guest, f"capture {VIVID} 640x360 --format YU12 --rate 25 --count 8 --pause 400")
    if checks.expect("a reader that is slow", done.ok, done):
        end, taken = event(done, "end"), events(done, "picture")
        checks.expect("gets the newest, and what it had no time for is counted", end["superseded"] > 0, end)
        ages = [(picture["received"] - picture["timestamp"]) / 1e6 for picture in taken[1:]]
        checks.note(f"slow reader: {end['superseded']} superseded, {end['lost']} lost, frames {max(ages):.0f} ms old at most")


def access(guest, checks):
    done = guest.run(f"setpriv --reuid=65534 --clear-groups -- DeviceCheck capture {VIVID} 640x360 --count 1")
    error = event(done, "error") if not done.ok else {}
    checks.expect("without permission: reported, and worth waiting for", error.get("case") == "notPermitted"
                  and error["remedy"] == "waitForDevice" and "video" in error["hint"], done)
    checks.note(f"{error.get('error')}")
    done = check(guest, f"capture {VIVID} 640x360 --count 1 --limit 20", background=f"""
kill $tool; wait $tool; : >$out
v4l2-ctl -d {VIVID} --stream-mmap=4 --stream-count=0 --stream-to=- > >(head -c 4096 >$mark; cat >/dev/null) 2>/dev/null & other=$!
for _ in {{1..400}}; do test -s $mark && break; sleep 0.1; done
DeviceCheck capture {VIVID} 640x360 --count 1 >$out 2>&1
kill $other; wait $other
DeviceCheck capture {VIVID} 640x360 --count 1 --rate 10 >$out.2 2>&1; echo "after: $?" >>$out""")
    error = events(done, "error")
    checks.expect("while another program has it: busy, and worth waiting for", error and error[-1]["case"] == "busy"
                  and error[-1]["remedy"] == "waitForDevice", done)
    checks.expect("and free again after it", "after: 0" in done.out, done)


# ---- faults ----

def trouble(guest, action, count=25, options="--recover"):
    """A capture, in which something happens after a few frames; so many come when that is done, however long it takes."""
    return check(guest, f"capture {VIVID} 640x360 --format YU12 --rate 15 --behind $mark --count {count} --limit 120 {options}", 150,
                 background=f"pictures 5\n{action}\n: >$mark")


def has_all(done, count=25):
    return done.ok and event(done, "end")["counted"] == count


def inject(name, value=1):
    return f"v4l2-ctl -d {VIVID} --set-ctrl={name}={value}"


def faults(guest, checks, names):
    known = {name for name in names if name.startswith("inject_") or name in (
        "disconnect", "percentage_of_dropped_buffers", "wrap_sequence_number", "wrap_timestamp")}
    checks.note(f"this vivid's faults: {', '.join(sorted(known))}")

    def has(name):  # vivid's faults depend on the kernel
        if name not in names:
            checks.note(f"this kernel's vivid has no {name}")
        return name in names

    if has("inject_v4l2_buf_flag_error"):
        done = trouble(guest, inject("inject_v4l2_buf_flag_error"))
        checks.expect("a buffer with the error flag: counted as damaged, the stream goes on", has_all(done)
                      and event(done, "end")["damaged"] == 1 and len(events(done, "setup")) == 1, done)
    if has("inject_fatal_streaming_error"):
        done = trouble(guest, inject("inject_fatal_streaming_error"))
        checks.expect("a stream that breaks: started again in the same process", has_all(done)
                      and len(events(done, "setup")) >= 2, done)
        reported = events(done, "error")
        checks.note(f"inject_fatal_streaming_error: {reported[0]['error'] if reported else 'no error'}")
    # The next call of its kind fails: before the stream is there.
    for name in ("inject_vidioc_reqbufs_error", "inject_vidioc_qbuf_error", "inject_vidioc_streamon_error"):
        if has(name):
            done = check(guest, f"capture {VIVID} 640x360 --format YU12 --rate 15 --count 10 --recover --control {name}=1 "
                         "--errors 2 --limit 60", 90)
            checks.expect(f"{name} before each start: reported, and never a crash", events(done, "error")
                          and not events(done, "picture") and event(done, "end")["errors"] > 1, done)
            done = guest.run(f"{inject(name)}; DeviceCheck capture {VIVID} 640x360 --format YU12 --rate 15 --count 10 "
                             "--recover --limit 30")
            checks.expect(f"{name} once: the next attempt works", done.ok and event(done, "end")["pictures"] == 10, done)
            reported = events(done, "error")
            checks.note(f"{name}: {reported[0]['error'] + ', ' + reported[0]['remedy'] if reported else 'not seen'}")
    if has("percentage_of_dropped_buffers"):
        done = trouble(guest, inject("percentage_of_dropped_buffers", 40), count=40)
        guest.run(inject("percentage_of_dropped_buffers", 0))
        checks.expect("40 % of frames lost in the driver: they are counted", has_all(done, 40) and event(done, "end")["lost"] > 3,
                      done)
        checks.note(f"percentage_of_dropped_buffers 40: {event(done, 'end')['lost']} lost besides 40 that came")
    # The count wraps around after 128 frames, the time's lower 31 bits after 16 s.
    if has("wrap_sequence_number") and has("wrap_timestamp"):
        done = guest.run(f"{inject('wrap_sequence_number')}; {inject('wrap_timestamp', 2)}; "
                         f"DeviceCheck capture {VIVID} 320x180 --format YU12 --rate 12 --count 216 --limit 150; s=$?; "
                         f"{inject('wrap_sequence_number', 0)}; {inject('wrap_timestamp', 0)}; exit $s", limit=180)
        taken, end = events(done, "picture"), event(done, "end")
        sequences = [picture["sequence"] for picture in taken]
        checks.expect("a count that wraps around is not a loss", done.ok and max(sequences) > 1 << 31 and sequences[-1] < 1 << 16
                      and end["lost"] < 1 << 16, end)
        stamps = [picture["timestamp"] for picture in taken]
        checks.expect("a time beyond 32 bits: the frames come all the same", done.ok and len(taken) == 216, end)
        checks.note(f"counts from {max(sequences)} to {min(sequences)}, {end['lost']} lost, {end['superseded']} superseded; "
                    f"times from {stamps[0]} over {max(stamp or 0 for stamp in stamps)} to {stamps[-1]}")
        done = guest.run(f"{inject('wrap_timestamp', 1)}; DeviceCheck capture {VIVID} 320x180 --format YU12 --rate 12 "
                         f"--count 5 --limit 40; s=$?; {inject('wrap_timestamp', 0)}; exit $s", limit=60)
        checks.expect("a time out of range: the frames come, without a time", done.ok and all(
            picture["timestamp"] is None for picture in events(done, "picture")), done)
    if has("disconnect"):
        done = trouble(guest, inject("disconnect"))
        reported = [error["case"] for error in events(done, "error")]
        checks.expect("disconnect: reported as such", "disconnected" in reported, done)
        checks.expect("and the same process has frames again when it is back", has_all(done), done)


def unplugged(guest, checks):
    """The device goes for real, its node with it, and comes back under another number, because a program holds the old one."""
    done = trouble(guest, f"""
exec 8<{VIVID}
echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind
sleep 1
test -e {VIVID} || echo '{{"event": "gone"}}' >>$out
echo vivid.0 >/sys/bus/platform/drivers/vivid/bind
udevadm settle
exec 8<&-""", options="--recover --hold")
    checks.expect("unplugged: its node is gone", events(done, "gone"), done)
    checks.expect("a frame that was kept is still whole", event(done, "held")["isSame"], done)
    setups = events(done, "setup")
    checks.expect("plugged in again: found again, in the same process", has_all(done) and len(setups) >= 2, done)
    if setups:
        checks.note(f"unplugged as {setups[0]['device']}, back as {setups[-1]['device']}")
    # As it was, for what comes next.
    again = guest.run(f"""
test -e {VIVID} || {{ echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind; sleep 0.5
    echo vivid.0 >/sys/bus/platform/drivers/vivid/bind; udevadm settle; }}
test -c {VIVID}""")
    checks.expect("vivid is /dev/video0 again", again.ok, f"{again}\n{json.dumps(check(guest, 'nodes').lines)}", needed=True)
