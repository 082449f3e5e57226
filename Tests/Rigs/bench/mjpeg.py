"""The group `mjpeg` of the bench: a USB camera's MJPEG, decoded, encoded again, sealed and published, against ffmpeg, which
does the same without sealing: the same frames, preset, threads, rate in bits and relay, in the same run.

Both send through a tap that notes when each frame's last byte came; ffmpeg gets its frames with their lengths
(mpjpeg), since a driver hands over whole ones as well.
"""
import bisect, fcntl, json, os, subprocess, time

from tap import Tap

SIZE, RATE, BITRATE, PRESET = "1920x1080", 30, 4_000_000, "veryfast"
# Frames before these are of the start, which has its own cost.
WARM_UP = 60


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
    for stamp, arrival, _ in tap.seen:
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
    for stamp, arrival, _ in tap.seen:
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
