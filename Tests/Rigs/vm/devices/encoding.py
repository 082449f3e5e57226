"""VideoEncoder and h264_v4l2m2m. The guest's encoder is lossless: what is decoded must be what went in, bit for bit."""
from devices.tool import check, decoded, difference, event, events, pictures

ENCODER = "h264_v4l2m2m"


def run(guest, _host, checks):
    nodes = check(guest, "encoders").lines
    checks.expect("the encoder's node is found, and encodes H.264", [
        node for node in nodes if node["device"] == "/dev/video11" and "h264" in node["codecs"]], nodes, needed=True)
    # 780 and 1296 are not multiples of 64: such frames are garbled wherever line sizes are ignored.
    for size, count in (("640x480", 30), ("780x360", 30), ("1296x972", 10), ("1280x720", 15)):
        exact(guest, checks, size, count)
    exact(guest, checks, "780x368", 15, stride=832)
    changes(guest, checks)
    errors(guest, checks)
    drops(guest, checks)
    hang(guest, checks)
    no_end(guest, checks)
    probes(guest, checks)


def encode(guest, size, count, *options, limit=120, name="coded"):
    """What came out, and the two files."""
    coded, raw = f"/share/files/{name}.h264", f"/share/files/{name}.yuv"
    done = check(guest, f"encode {ENCODER} {size} {count} --coded {coded} --raw {raw} {' '.join(options)}", limit)
    return done, guest.file(f"{name}.h264"), guest.file(f"{name}.yuv")


def compare(checks, what, size, done, coded, raw, needed=None):
    """Decodes, and compares each frame with the one that went in at its time."""
    width, height = map(int, size.split("x"))
    if not done.ok:
        return checks.expect(what, False, done)
    end = event(done, "end")
    sent = pictures(raw, width, height)
    sources = [sent[number] for number in end["units"]]
    if needed is not None and len(sources) < needed:
        return checks.expect(what, False, f"{len(sources)} frames came out, expected {needed}: {end}")
    wrong = difference(decoded(coded, width, height), sources)
    return checks.expect(what, not wrong, f"{wrong}; {end}")


def exact(guest, checks, size, count, stride=None):
    options = [f"--stride {stride}"] if stride else []
    done, coded, raw = encode(guest, size, count, *options)
    lines = f", lines of {stride} bytes" if stride else ""
    compare(checks, f"{size}{lines}: {count} frames, each as it went in, to the bit", size, done, coded, raw, needed=count)
    if not done.ok:
        return
    end = event(done, "end")
    width, height = map(int, size.split("x"))
    if width % 64 == 0 and height % 16 == 0:
        checks.same(f"{size}{lines}: copied on the way to the encoder", end["realigned"], 0)
    else:
        checks.note(f"{size}{lines}: {end['realigned']} of {count} frames copied, because of their lines or of rows behind "
                    "the last")
    checks.same(f"{size}{lines}: a key frame in each second", end["keys"], list(range(0, count, 15)))
    checks.note(f"{size}: {end['encodeSeconds'] / count * 1000:.0f} ms a frame in libavcodec, {end['seconds']:.1f} s in all "
                "(this machine without KVM)")


def changes(guest, checks):
    done, coded, raw = encode(guest, "640x480", 30, "--change 12:500000", "--key-at 22")
    # libavcodec asks the driver for an encoded frame only when it gets another one to encode: what the driver had not finished
    # when the other encoder was opened, one frame on a busy machine, does not come out. It is counted, so nobody waits for it.
    compare(checks, "another bitrate opens the encoder again, and no frame is wrong", "640x480", done, coded, raw, needed=29)
    if done.ok:
        end = event(done, "end")
        checks.same("each frame came out or is counted as dropped", len(end["units"]) + end["drops"], 30)
        checks.expect("with a key frame where it changed, and one where it was asked for",
                      end["openings"] == 2 and 12 in end["keys"] and 22 in end["keys"], end)


def errors(guest, checks):
    guest.parameter("error_every", 7)
    try:
        done, coded, raw = encode(guest, "640x480", 40)
        compare(checks, "error_every: what comes out is right, to the bit", "640x480", done, coded, raw, needed=15)
        if done.ok:
            end = event(done, "end")
            checks.expect("errors are counted, and a key frame comes after each", end["errors"] >= 4
                          and len(end["keys"]) > 3, end)
            checks.note(f"error_every 7: {len(end['units'])} of 40 frames came out, {end['errors']} given up, key frames at "
                        f"{end['keys']}")
    finally:
        guest.parameter("error_every", 0)


def drops(guest, checks):
    guest.parameter("drop_every", 5)
    try:
        done, coded, raw = encode(guest, "640x480", 40)
        compare(checks, "drop_every: each frame that comes out has the time that it went in with", "640x480", done, coded,
                raw, needed=30)
        if done.ok:
            end = event(done, "end")
            missing = 40 - len(end["units"])
            # What nothing came after may still have been on its way.
            checks.expect("drops are counted", missing - 1 <= end["drops"] <= missing, end)
            checks.note(f"drop_every 5: {len(end['units'])} of 40 came out, {end['drops']} counted as dropped")
    finally:
        guest.parameter("drop_every", 0)


def hang(guest, checks):
    guest.parameter("hang_after", 12)
    try:
        done, _, _ = encode(guest, "640x480", 40, "--deadline 2", limit=60)
        hung = events(done, "hang")
        checks.expect("hang_after: the heartbeat shows it, and the process can end", done.status == 9 and hung, done)
        if hung:
            checks.note(f"hung after {hung[0]['pictures']} frames were sent")
    finally:
        guest.parameter("hang_after", 0)
    done, coded, raw = encode(guest, "640x480", 15)
    compare(checks, "the next process has the encoder again", "640x480", done, coded, raw, needed=15)


def no_end(guest, checks):
    guest.parameter("no_eos", 1)
    try:
        done, _, _ = encode(guest, "640x480", 20, "--deadline 2", limit=60)
        ended = done.status == 9 and events(done, "hang") or done.ok and len(event(done, "end")["units"]) >= 15
        checks.expect("no_eos: the end costs a process that hangs, or the last frames, and nothing else", ended, done)
        checks.note("no_eos: " + ("the drain hangs, and the heartbeat shows it" if done.status == 9 else
                                  f"{len(event(done, 'end')['units'])} of 20 came out"))
    finally:
        guest.parameter("no_eos", 0)


def probes(guest, checks):
    done = check(guest, f"probe {ENCODER} 640x480 --deadline 50", limit=60)
    checks.expect("a probe in a child process says that the encoder works", done.ok and event(done, "probe")["works"], done)
    checks.note(f"the probe took {done.seconds:.1f} s")
    guest.parameter("hang_after", 3)
    try:
        done = check(guest, f"probe {ENCODER} 640x480 --deadline 3", limit=60)
        checks.expect("a probe that hangs is ended, and says so", done.ok and not event(done, "probe")["works"], done)
        left = guest.run("pgrep --count --full encoder-probe").out.strip()
        checks.same("and no child of it is left", left, "0")
        checks.note(f"the probe that hung took {done.seconds:.1f} s: {event(done, 'probe').get('reason')}")
    finally:
        guest.parameter("hang_after", 0)
    done = check(guest, "probe hevc_v4l2m2m 640x480", limit=60)
    checks.expect("a probe of an encoder that is not there says so", done.ok and not event(done, "probe")["works"], done)
