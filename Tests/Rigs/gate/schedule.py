"""Runs parts beside each other, as their needs and the places allow, and shows their lines as they come."""
import dataclasses
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time

from parts import LANES

# What a person need not see; it is in the log.
QUIET = re.compile(r"^◇ |^↳ |^\[\d+/\d+\]|Test case passing| started\.$|^✔ (Test|Suite) |^\s*$|^Building for|^Planning|^Compiling|^warning: 'swt")

# Seconds that a part has to end when it is asked to.
TIMEOUT = 30


@dataclasses.dataclass
class Result:
    # None: it did not run, and `reason` says why.
    status: int | None = None
    reason: str = ""
    seconds: float = 0.0
    lines: list = dataclasses.field(default_factory=list)


class Schedule:
    def __init__(self, parts, project, logs):
        self.parts, self.project, self.logs = parts, project, logs
        self.results = {}
        self.running = {}
        self.changed = threading.Condition()
        self.begin = time.monotonic()
        self.stopped = False
        self.width = max(len(part.name) for part in parts)

    @property
    def seconds(self):
        return time.monotonic() - self.begin

    def run(self):
        threads = []
        with self.changed:
            while len(self.results) < len(self.parts):
                for part in self._ready():
                    thread = threading.Thread(target=self._run, args=(part,), daemon=True)
                    self.running[part.name] = None
                    threads.append(thread)
                    thread.start()
                if len(self.results) < len(self.parts):
                    self.changed.wait()
        for thread in threads:
            thread.join()
        return self.results

    def stop(self):
        """Asked by a signal: whatever runs is ended, and what did not run says so."""
        self.stopped = True
        for process in list(self.running.values()):
            if process:
                _end(process, signal.SIGTERM)

    def _ready(self):
        """In their order; what compiles or fetches takes no place. What cannot run any more is settled at once."""
        for part in self.parts:
            if part.name in self.results or part.name in self.running:
                continue
            failed = [name for name in part.after if name in self.results and self.results[name].status != 0]
            if failed or self.stopped:
                # What could not be made here, for a reason that was reported, is a reason for this one too.
                cause = self.results[failed[0]] if failed else None
                status = 77 if cause and cause.status == 77 else None
                self.results[part.name] = Result(
                    status, f"{failed[0]}: {cause.reason}" if status else f"did not run: {failed[0] if failed else 'all'} failed")
                self.changed.notify_all()
                continue
            if any(name not in self.results for name in part.after):
                continue
            taken = sum(other.name in self.running and not other.nice for other in self.parts)
            if part.nice or taken < LANES:
                self.running[part.name] = None
                yield part

    def _run(self, part):
        result = Result()
        begin = time.monotonic()
        self._say(part, "begins")
        try:
            self._follow(part, result)
        except Exception as error:  # of any kind: it has failed, and the other parts go on
            result.status, result.reason = None, f"could not be run: {type(error).__name__}: {error}"
        result.seconds = time.monotonic() - begin
        self._say(part, f"ended with {result.status} after {result.seconds:.0f} s" + (f": {result.reason}" if result.reason else ""))
        with self.changed:
            del self.running[part.name]
            self.results[part.name] = result
            self.changed.notify_all()

    def _follow(self, part, result):
        command = [str(word) for word in part.command]
        process = subprocess.Popen(
            (["nice", "-n", "19"] if part.nice else []) + command, cwd=self.project, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "NO_COLOR": "1", **part.environment})
        if part.nice:
            _yield_to_other_sessions(process, part.nice)
        self.running[part.name] = process
        if self.stopped:
            _end(process, signal.SIGTERM)
        # An argument of a test may have lines of its own.
        beginning = False
        with open(self.logs / f"{part.name}.log", "w", encoding="utf-8") as log:
            for line in _lines(process, part, result):
                log.write(line + "\n")
                result.lines.append(line)
                if line.startswith("skipped: "):
                    result.reason = line
                beginning = (beginning or line.startswith("◇ ")) and not line.endswith("started.")
                if not beginning and not QUIET.search(line):
                    self._say(part, line)
        result.status = process.wait()

    def _say(self, part, line):
        # One write a line, so that lines of two parts do not mix.
        sys.stdout.write(f"{part.name:>{self.width}} │ {line}\n")
        sys.stdout.flush()


def _lines(process, part, result):
    """What it prints, until it has ended. One that is over a limit is asked to end, and killed when it does not; and nothing waits for
    what a process that it left behind may still print."""
    descriptor = process.stdout.fileno()
    begin, signals, rest = time.monotonic(), [signal.SIGTERM, signal.SIGKILL], b""
    end = begin + part.longest
    deadline = min(begin + part.limit, end)
    while True:
        readable, _, _ = select.select([descriptor], [], [], max(0.0, min(deadline - time.monotonic(), 1.0)))
        if readable:
            data = os.read(descriptor, 1 << 16)
            if not data:
                break
            if len(signals) == 2:
                deadline = min(time.monotonic() + part.limit, end)
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in lines)
        elif process.poll() is not None:
            break
        if time.monotonic() >= deadline and signals:
            if len(signals) == 2:
                reason = f"not done after {part.longest} s" if deadline >= end else f"printed nothing for {part.limit} s"
                result.reason = f"{reason}, so it was ended"
            _end(process, signals.pop(0))
            deadline = time.monotonic() + TIMEOUT
    if rest:
        yield rest.decode("utf-8", "replace")


def _yield_to_other_sessions(process, nice):
    """Where Linux groups processes by session (sched_autogroup), `nice` counts only within the part's own. Builds that tests wait
    for get a third of a share: with less they end late."""
    try:
        with open(f"/proc/{process.pid}/autogroup", "w", encoding="ascii") as group:
            group.write(str(nice))
    except OSError:
        pass  # no groups, or already over


def _end(process, number):
    """The part and all that it started: each is the leader of a group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
