"""The group `uplink` of the bench: a camera behind a link that changes, through nginx-rtmp, against ffmpeg and against the rules of others.

The camera is `watchboxd camera` with a network camera's JPEG frames, encoded by it, sealed; ffmpeg encodes the same frames at 3.5 Mbit/s. Each
has a link of its own between two network namespaces (../uplink). What is counted is what came to the relay: a tap in front of it
notes each frame, with the time of its capture in its time stamp; how far that is from our clock, ffmpeg's frames cannot say, so the
fastest of its first five seconds is taken to have needed the way alone. Its encoder's time is not in it, ours is; and of its frames those
that it did not read while it was blocked are not missed.
"""
import contextlib, json, pathlib, random, select, statistics, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "uplink"))
import link as uplink
from rules import LEAST, MOST, RATE

HERE = pathlib.Path(__file__).resolve().parent
SIZE = "640x360"
TRACES = {
    "step": {"seconds": 75, "trace": "0:4000,20:1000,40:4000"},
    "outage": {"seconds": 45, "trace": "0:4000", "outage": "20:2"},
    "loss 1 %": {"seconds": 45, "trace": "0:4000", "loss": 1},
    "loss 5 % in runs of 5": {"seconds": 45, "trace": "0:4000", "loss": 5, "burst": 5},
    "step, 150 ms each way": {"seconds": 75, "trace": "0:4000,20:1000,40:4000", "delay": 150},
}
RULES = ["fixed", "obs", "haishin", "belacoder"]
# Milliseconds that the emulator may be late: more of it would be measured instead of the link.
MOST_LATE = 100
# What others stand beside, and what has bars.
COMPARED, ASSESSED = "step", ("step", "outage")


def radio(seed):
    """A link whose rate walks at random, once a second."""
    numbers, rate, steps = random.Random(seed), 2500.0, []
    for second in range(60):
        rate = min(8000, max(500, rate * (1 + 0.45 * (sum(numbers.random() for _ in range(4)) - 2))))
        steps.append(f"{second}:{rate:.0f}")
    return {"seconds": 60, "trace": ",".join(steps), "delay": 30, "queue": 500, "seed": seed}


class Outcome:
    """rows: (captured, arrived, bytes), seconds since the link's begin."""

    def __init__(self, rows, offered, trace):
        # What is captured behind the trace's end has no link to be measured on.
        self.rows = rows = [row for row in rows if row[0] < trace["seconds"]]
        if not rows:
            raise uplink.Unable("nothing came to the relay")
        self.frames = 100 * len(rows) / max(1, offered)
        delays = sorted(1000 * (arrived - captured) for captured, arrived, _ in rows)
        self.median, self.p95, self.longest = statistics.median(delays), delays[len(delays) * 95 // 100], delays[-1]
        steps = [tuple(map(float, item.split(":"))) for item in trace["trace"].split(",")]
        ends = [*[begin for begin, _ in steps[1:]], trace["seconds"]]
        self.use = [
            100 * sum(8 * size for _, arrived, size in rows if begin <= arrived < end) / (end - begin) / min(1000 * rate, MOST)
            for (begin, rate), end in zip(steps, ends)]
        self.whole = 100 * sum(8 * size for _, arrived, size in rows if arrived < trace["seconds"]) / sum(
            (end - begin) * min(1000 * rate, MOST) for (begin, rate), end in zip(steps, ends))
        better = steps[-1][0]
        if "outage" in trace:
            begin, length = map(float, trace["outage"].split(":"))
            better = begin + length
        self.back = self.returned(better, 0.85 * min(1000 * steps[-1][1], MOST), trace["seconds"])

    def returned(self, since, enough, end):
        """Seconds until a second of capture has enough bits, all of which came within half a second; all that are left: never."""
        begin = since
        while begin + 1 <= end:
            second = [row for row in self.rows if begin <= row[0] < begin + 1]
            if sum(8 * size for *_, size in second) >= enough and all(arrived - captured < 0.5 for captured, arrived, _ in second):
                return begin - since
            begin += 0.1
        return end - since

    def __str__(self):
        use = "/".join(f"{part:.0f}" for part in self.use) if len(self.use) <= 3 else f"{self.whole:.0f}"
        return (f"frames {self.frames:5.1f} %, use {use} %, p50 {self.median:.0f} ms, p95 {self.p95:.0f} ms, longest {self.longest:.0f} ms, "
                f"back after {self.back:.1f} s")


def pictures(bench):
    """Ten seconds of frames that need their bits, in a folder, as an HTTP camera sends them."""
    folder = pathlib.Path(bench.ROOT, ".build", "bench", f"uplink-{SIZE}")
    if not folder.exists():
        new = folder.with_suffix(".new")
        new.mkdir(parents=True, exist_ok=True)
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", f"testsrc2=s={SIZE}:r={RATE}", "-vf",
                        "noise=alls=20:allf=t", "-t", "10", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-q:v", "4", f"{new}/%04d.jpg"],
                       check=True)
        new.rename(folder)
    return folder


def line_of(process, begin, seconds=60):
    """Its next line, which begins so."""
    line = process.stdout.readline().strip() if select.select([process.stdout], [], [], seconds)[0] else ""
    if not line.startswith(begin):
        raise uplink.Unable(f"{process.args[4]} does not say {begin}")
    return line


class Run:
    """One publisher over one link."""

    def __init__(self, bench, stack, folder, number, trace, control):
        self.trace = trace
        self.directory = pathlib.Path(bench.WORK, f"uplink-{time.monotonic_ns()}")
        self.directory.mkdir()
        self.link = stack.enter_context(uplink.Link(number, control, **{k: v for k, v in trace.items() if k != "seconds"}))
        self.bench, self.folder = bench, folder

    def relay(self):
        """nginx-rtmp and a tap at the far end; the URL."""
        self.link.start("far", [HERE.parent / "nginx/nginx-relay", 1936, self.directory / "nginx"], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
        self.tap = self.link.start("far", [sys.executable, HERE / "tap.py", "0.0.0.0", 1935, 1936, self.directory / "tap.json"],
                              stdout=subprocess.PIPE, text=True, bufsize=1)
        line_of(self.tap, "ready")
        return f"rtmp://{self.link.far_address}:1935/copy/uplink"

    def camera(self):
        """What sends the frames, in the near namespace; its URL."""
        process = self.link.start("near", [sys.executable, HERE.parent / "rtsp/http-camera.py", self.folder], stdout=subprocess.PIPE, text=True, bufsize=1)
        return f"http://127.0.0.1:{line_of(process, 'READY').split()[1]}/stream?form=plain&fps={RATE}"

    def rows(self):
        with open(self.directory / "tap.json") as file:
            return [(stamp / 1000, arrived / 1e9, size) for stamp, arrived, size in json.load(file)]


class Ours(Run):
    def start(self):
        programs, url = self.bench.PROGRAMS, self.relay()
        state = self.directory / "kas"
        self.link.start("near", [f"{programs}/watchboxd", "kas", "--state", state, "--listen", "127.0.0.1:9443"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        token = self.directory / "token"
        deadline = time.monotonic() + 30
        while True:
            done = subprocess.run([f"{programs}/watchboxctl", "kas", "token", "--state", state, "--subject", "box", "--scope",
                                   "kas.publish", "--stream", "*"], capture_output=True)
            if done.returncode == 0:
                break
            if time.monotonic() > deadline:
                raise uplink.Unable(f"no token: {done.stderr.decode(errors='replace')}")
            time.sleep(0.2)
        token.touch(0o600)
        token.write_bytes(done.stdout)
        configuration = self.directory / "camera.json"
        configuration.write_text(json.dumps({
            "id": "uplink", "source": {"network": {"url": self.camera(), "transcoding": {"bitrate": MOST, "gopSeconds": 2}}},
            "relay": {"url": url}, "kas": {"url": "http://127.0.0.1:9443/kas", "tokenFile": str(token)},
            "frameLog": str(self.directory / "frames"), "uplink": {"minBitrate": LEAST}}))
        self.link.start("near", [f"{programs}/watchboxd", "camera", "uplink", "--config", configuration, "--json"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        line_of(self.tap, "frames")

    def logged(self):
        whole = (self.directory / "frames").read_text().rpartition("\n")[0]
        return [entry for entry in map(json.loads, whole.splitlines()) if entry["track"] == "video"]

    def outcome(self, begin):
        captured = {entry["dts"]: entry["captured"] / 1e9 for entry in self.logged()}
        rows = []
        for stamp, arrived, size in self.rows():
            at = captured.get(round(stamp * 1000))
            if at is not None and at >= begin:
                rows.append((at - begin, arrived - begin, size))
        return Outcome(rows, self.offered(captured, begin), self.trace)

    def offered(self, captured, begin):
        """Frames that the camera sent in the time of the measurement: those that were dropped were never logged."""
        last = min(max(captured.values()), begin + self.trace["seconds"])
        return round((last - max(begin, min(captured.values()))) * RATE) + 1


class FFmpeg(Run):
    def start(self):
        url, source = self.relay(), self.camera()
        self.link.start("near", [
            "ffmpeg", "-v", "error", "-nostdin", "-fflags", "nobuffer", "-f", "mpjpeg", "-use_wallclock_as_timestamps", "1", "-i", source,
            "-pix_fmt", "yuv420p", "-color_range", "tv", "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-b:v", str(MOST),
            "-maxrate", str(MOST), "-bufsize", str(MOST // 2), "-g", str(2 * RATE), "-bf", "0", "-fps_mode", "passthrough",
            "-flush_packets", "1", "-f", "flv", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        line_of(self.tap, "frames")

    def outcome(self, begin):
        rows = [row for row in self.rows() if row[1] >= begin]
        if not rows:
            return Outcome([], 1, self.trace)
        offset = min(arrived - stamp for stamp, arrived, _ in rows if arrived < begin + 5) - self.trace.get("delay", 20) / 1000
        rows = [(stamp + offset - begin, arrived - begin, size) for stamp, arrived, size in rows]
        return Outcome(rows, round((min(rows[-1][0], self.trace["seconds"]) - rows[0][0]) * RATE) + 1, self.trace)


class Rule(Run):
    def __init__(self, name, *rest):
        super().__init__(*rest)
        self.name = name

    def start(self):
        self.link.start("far", [uplink.HERE / "rules.py", "take", 1935, self.directory / "taken"])

    def begun(self):
        self.link.start("near", [uplink.HERE / "rules.py", "give", self.link.far_address, 1935, self.name, self.trace["seconds"],
                                 self.directory / "given"])

    def outcome(self, begin):
        given = json.loads((self.directory / "given").read_text())
        rows = [json.loads(line) for line in (self.directory / "taken").read_text().splitlines()]
        return Outcome([(captured - begin, arrived - begin, size) for captured, arrived, size in rows], given["frames"], self.trace)


def together(bench, folder, trace, kinds):
    """Side by side, each over its own link; outcomes by name. kinds: name → (class, congestion control, more)."""
    with contextlib.ExitStack() as stack:
        runs = {name: kind(*more, bench, stack, folder, number + 1, trace, control)
                for number, (name, (kind, control, *more)) in enumerate(kinds.items())}
        for run in runs.values():
            run.start()
        begins = {name: run.link.begin() for name, run in runs.items()}
        for run in runs.values():
            getattr(run, "begun", lambda: None)()
        # Frames that are on their way at the end have a moment to arrive.
        time.sleep(trace["seconds"] + 1)
        said = {name: run.link.end() for name, run in runs.items()}
        late, count = (max(link[name] for link in said.values()) for name in ("latest_ms", "late"))
        if late > MOST_LATE:
            raise bench.CannotMeasure(f"a link was up to {late} ms late, and {count} times 20 ms: this machine is too busy")
        return {name: run.outcome(begins[name]) for name, run in runs.items()}


def measure(bench):
    if reason := uplink.shortfall():
        raise bench.CannotMeasure(reason)
    folder = pictures(bench)
    controls = [control for control in ("cubic", "bbr") if control in uplink.controls()]
    for control in {"cubic", "bbr"} - {*controls}:
        bench.not_measured(f"uplink, {control}", "this kernel has none (modprobe tcp_bbr)")
    traces = {**TRACES, **({} if bench.QUICK else {f"radio {seed}": radio(seed) for seed in range(1, 11)})}
    for name, trace in traces.items():
        # Two encoders at once: more would be measured on two cores, and not the link.
        outcomes = together(bench, folder, trace, {f"ours, {control}": (Ours, control) for control in controls})
        if name == COMPARED:
            outcomes.update(together(bench, folder, trace, {f"ffmpeg, {control}": (FFmpeg, control) for control in controls}))
            for control in controls:
                outcomes.update(together(bench, folder, trace, {f"{rule}, {control}": (Rule, control, rule) for rule in RULES}))
        for kind, outcome in outcomes.items():
            print(f"{name}: {kind + ':':<16} {outcome}", flush=True)
        for control in controls:
            ours = outcomes[f"ours, {control}"]
            bars(bench, f"{name}, {control}", ours, name in ASSESSED, name == "outage")
            if name != COMPARED:
                continue
            for rule in ("ffmpeg", "obs", "haishin"):
                peer = f"{rule}, {control}"
                bench.assess(f"{name}, {control}: p95, against {rule}", [ours.p95], [outcomes[peer].p95], "ms", 1.0, False)
                bench.assess(f"{name}, {control}: use after, against {rule}", [ours.use[-1]], [min(100, outcomes[peer].use[-1])], "%", 1.0, True)


def bars(bench, name, outcome, assessed, isOutage):
    def bar(value):
        return value if assessed else None

    bench.assess_value(f"{name}: p95", [outcome.p95], "ms", bar(250))
    if isOutage:
        bench.assess_value(f"{name}: use", [outcome.whole], "%", bar(85), at_least=True)
    elif len(outcome.use) == 3:
        for part, least in zip(("before", "during", "after"), (97, 88, 90)):
            bench.assess_value(f"{name}: use {part}", [outcome.use[("before", "during", "after").index(part)]], "%", bar(least), at_least=True)
    if not isOutage:
        bench.assess_value(f"{name}: frames", [outcome.frames], "%", bar(99), at_least=True)
        bench.assess_value(f"{name}: longest", [outcome.longest], "ms", bar(1500))
    if assessed:
        bench.assess_value(f"{name}: back after", [outcome.back], "s", 5)
