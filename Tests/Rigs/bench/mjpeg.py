"""The group `mjpeg` of the bench: a USB camera's MJPEG, decoded, encoded again, sealed and published, against ffmpeg, which
does the same without sealing: the same frames, preset, threads, rate in bits and relay, in the same run.

Both send through a tap that notes when each frame's last byte came; ffmpeg gets its frames with their lengths
(mpjpeg), since a driver hands over whole ones as well.
"""
import bisect, fcntl, json, os, socket, subprocess, threading, time

SIZE, RATE, BITRATE, PRESET = "1920x1080", 30, 4_000_000, "veryfast"
# Frames before these are of the start, which has its own cost.
WARM_UP = 60


class Tap:
    """Passes one RTMP connection on, and notes (time stamp, arrival) of each video message of the publisher."""

    def __init__(self, port):
        self.target, self.seen = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            relay = socket.create_connection(("127.0.0.1", self.target))
            for end in (client, relay):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.back, args=(relay, client), daemon=True).start()
            threading.Thread(target=self.forth, args=(client, relay), daemon=True).start()

    @staticmethod
    def back(relay, client):
        try:
            while data := relay.recv(1 << 16):
                client.sendall(data)
        except OSError:
            pass
        client.close()

    def forth(self, client, relay):
        reader = Chunks(self.seen)
        try:
            while data := client.recv(1 << 18):
                now = time.monotonic_ns()
                relay.sendall(data)
                reader.feed(data, now)
            relay.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


class Chunks:
    """RTMP's chunks (RTMP 1.0, section 5.3), as far as a publisher writes them."""

    HANDSHAKE = 1 + 1536 + 1536

    def __init__(self, seen):
        self.seen, self.buffer, self.left, self.size, self.streams = seen, b"", self.HANDSHAKE, 128, {}

    def feed(self, data, now):
        if self.left:
            cut = min(self.left, len(data))
            self.left, data = self.left - cut, data[cut:]
        self.buffer += data
        position = 0
        while (end := self.chunk(position, now)) is not None:
            position = end
        self.buffer = self.buffer[position:]

    def chunk(self, at, now):
        buffer = self.buffer
        if at >= len(buffer):
            return None
        kind, stream = buffer[at] >> 6, buffer[at] & 63
        at += 1 + {0: 1, 1: 2}.get(stream, 0)
        length = (11, 7, 3, 0)[kind]
        if at + length > len(buffer):
            return None
        header = buffer[at:at + length]
        at += length
        state = dict(self.streams.get(stream, {"got": 0}))
        if kind < 3:
            time_field = int.from_bytes(header[:3], "big")
            state["extended"] = time_field == 0xFFFFFF
        if kind < 2:
            state["length"], state["type"] = int.from_bytes(header[3:6], "big"), header[6]
        if state["extended"]:
            if at + 4 > len(buffer):
                return None
            time_field = int.from_bytes(buffer[at:at + 4], "big")
            at += 4
        if state["got"] == 0:
            if kind == 0:
                state["time"], state["delta"] = time_field, 0
            else:
                if kind < 3:
                    state["delta"] = time_field
                state["time"] += state["delta"]
        part = min(self.size, state["length"] - state["got"])
        if at + part > len(buffer):
            return None
        if state["got"] == 0:
            state["head"] = buffer[at:at + 2]
        state["got"] += part
        if state["got"] == state["length"]:
            state["got"] = 0
            if state["type"] == 1:
                self.size = int.from_bytes(buffer[at:at + 4], "big")
            # A sequence header, or whatever else comes with the frames, is small.
            if state["type"] == 9 and not (len(state["head"]) > 1 and state["head"][1] == 0) and state["length"] > 64:
                self.seen.append((state["time"], now))
        self.streams[stream] = state
        return at + part


def percentiles(latencies):
    ordered = sorted(latencies)
    return ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]


def pictures(bench):
    """Five seconds in 4:2:2, as most cameras encode, made by ffmpeg once and kept in the build folder."""
    folder = os.path.join(bench.ROOT, ".build", "bench")
    os.makedirs(folder, exist_ok=True)
    clip = os.path.join(folder, f"camera-{SIZE}.mjpeg")
    if not os.path.exists(clip):
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", f"testsrc2=s={SIZE}:r={RATE}", "-vf",
                        "noise=alls=6:allf=t", "-t", "5", "-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-q:v", "6", "-f", "mjpeg",
                        f"{clip}.new"], check=True)
        os.replace(f"{clip}.new", clip)
    with open(clip, "rb") as file:
        data = file.read()
    found, begin = [], 0
    while (end := data.find(b"\xff\xd9", begin)) >= 0:
        found.append(data[begin:end + 2])
        begin = end + 2
    return clip, found


def ours(bench, clip, port, kas):
    tap = Tap(port)
    wall, cpu, rss, output = bench.run([
        f"{bench.PROGRAMS}/ScriptedCamera", clip, SIZE, str(RATE), str(BITRATE), str(bench.SECONDS),
        f"rtmp://127.0.0.1:{tap.port}/copy/mjpeg", kas[1], kas[3]])
    tap.close()
    report = json.loads(output.splitlines()[-1])
    delivered, latencies = report["delivered"], []
    for stamp, arrival in tap.seen:
        captured = delivered[0] + stamp * 1_000_000
        place = bisect.bisect_left(delivered, captured)
        near = [n for n in (place - 1, place) if 0 <= n < len(delivered)]
        number = min(near, key=lambda n: abs(delivered[n] - captured))
        if number >= WARM_UP:
            latencies.append((arrival - delivered[number]) / 1e6)
    return {"cpu": cpu, "rss": rss, "latencies": latencies, "pictures": len(tap.seen), "report": report}


def peer(bench, found, port):
    tap = Tap(port)
    process = bench.start(
        ["ffmpeg", "-v", "error", "-fflags", "nobuffer", "-threads", "1", "-probesize", "5000000", "-analyzeduration", "0",
         "-f", "mpjpeg", "-r", str(RATE), "-i", "pipe:0", "-pix_fmt", "yuv420p", "-color_range", "tv",
         "-c:v", "libx264", "-preset", PRESET, "-tune", "zerolatency", "-x264-params", "scenecut=0", "-b:v", str(BITRATE),
         "-maxrate", str(BITRATE), "-bufsize", str(BITRATE // 2), "-g", str(RATE), "-bf", "0", "-fps_mode", "passthrough",
         "-flush_packets", "1", "-f", "flv", f"rtmp://127.0.0.1:{tap.port}/copy/peer"],
        stdin=subprocess.PIPE)
    # Room for several frames, as a driver has it.
    fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, 1 << 20)
    delivered, begin = [], time.monotonic_ns() + 10_000_000
    for number in range(bench.SECONDS * RATE):
        due = begin + number * 1_000_000_000 // RATE
        while (left := due - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        picture = found[number % len(found)]
        delivered.append(time.monotonic_ns())
        process.stdin.write(b"--ffmpeg\r\nContent-type: image/jpeg\r\nContent-length: %d\r\n\r\n" % len(picture) + picture + b"\r\n")
        process.stdin.flush()
    process.stdin.close()
    cpu, rss = bench.finish(process)
    tap.close()
    latencies = []
    for stamp, arrival in tap.seen:
        number = round(stamp * RATE / 1000)
        if WARM_UP <= number < len(delivered):
            latencies.append((arrival - delivered[number]) / 1e6)
    return {"cpu": cpu, "rss": rss, "latencies": latencies, "pictures": len(tap.seen)}


def measure(bench):
    clip, found = pictures(bench)
    kas, port = bench.key_access_server("mjpeg"), bench.relay("mjpeg")
    results = {"ours": [], "peer": []}
    for index in range(bench.ROUNDS):
        for kind in ("ours", "peer") if index % 2 == 0 else ("peer", "ours"):
            results[kind].append(ours(bench, clip, port, kas) if kind == "ours" else peer(bench, found, port))

    def of(name):
        """Of a minute of frames that came out: one that was left out costs nothing, and must not count as efficiency."""
        return [[r[name] / r["pictures"] * RATE * 60 for r in results[kind]] for kind in ("ours", "peer")]

    def latency(place):
        return [percentiles(r["latencies"])[place] for r in results["ours"]], [percentiles(r["latencies"])[place] for r in results["peer"]]

    name = "MJPEG 1080p30 to H.264, sealed"
    bench.assess(f"{name}: CPU", *of("cpu"), "s/min", 1.0, False)
    bench.assess(f"{name}: latency p50", *latency(0), "ms", 0.8, False)
    bench.assess(f"{name}: latency p99", *latency(1), "ms", 1.0, False)
    bench.assess_value("  peak RSS", [r["rss"] for r in results["ours"]], "MB", None)
    bench.assess_value("  frames that did not come out", [
        abs(len(r["report"]["delivered"]) - r["pictures"]) for r in results["ours"]], "", bench.SECONDS * RATE // 100)
    captures = [r["report"]["capture"] for r in results["ours"]]
    bench.assess_value("  copies of a frame", [c["copiesPerFrame"] for c in captures], "", None)
    bench.assess_value("  CPU beside the encoder", [c["threadNanoseconds"] / 1e9 / bench.SECONDS * 60 for c in captures], "s/min", None)
