"""One line per check, and waiting for what must happen."""
import os
import signal
import subprocess
import time


class Not(str):
    """What is the case instead of what is waited for: false, and its own evidence."""

    def __bool__(self):
        return False


class Stop(Exception):
    """Without this there is no point in going on."""


def say(*lines):
    """In one write: groups run in parallel, and whoever counts the lines needs them whole."""
    os.write(1, "".join(f"{line}\n" for line in lines).encode())


class Checks:
    def __init__(self, group, timeout=0, is_optimised=True):
        """A signal (SIGALRM) comes after so many seconds without a line: for what hangs; 0: none."""
        self.group = group
        # Are the programs those that are installed? What others would take too long for is not checked then.
        self.is_optimised = is_optimised
        self.timeout = timeout
        self.failed = 0
        self.begin = time.monotonic()
        self._goes_on()

    def _goes_on(self):
        if self.timeout:
            signal.alarm(self.timeout)

    def _report(self, holds, what, evidence=None):
        self._goes_on()
        if holds:
            say(f"✓ {self.group}: {what}")
            return
        self.failed += 1
        lines = str(evidence).strip().splitlines() or ["(no evidence)"]
        say(f"✗ {self.group}: {what}", *(f"      {line[:350]}" for line in lines[-10:]),
            f"      at {time.monotonic() - self.begin:.1f} s of this box")

    def expect(self, what, holds, evidence=None, needed=False):
        self._report(bool(holds), what, evidence if evidence is not None else holds)
        if needed and not holds:
            raise Stop(what)
        return holds

    def same(self, what, value, expected):
        return self.expect(what, value == expected, f"is {value!r}, expected {expected!r}")

    def note(self, what):
        """A figure that is reported but not checked."""
        self._goes_on()
        say(f"· {self.group}: {what}")

    def promise(self, what, seconds, promised):
        """A promise with a number. This machine may be slow and shared, so it is broken at four times of it; what it took is reported."""
        return self._report(seconds <= 4 * promised, f"{what} after {seconds:.1f} s (promised: {promised:g} s)",
                            f"{seconds:.1f} s is more than four times {promised:g} s")

    def until(self, what, look, seconds=150, needed=False, pause=0.1):
        """Looks until it holds. The limit is for what hangs, not for what is slow: this machine may be busy."""
        value, waited = poll(look, seconds, pause)
        reported = f"{what} ({waited:.1f} s)" if value else what
        self._report(bool(value), reported, f"after {waited:.0f} s: {value!r}")
        if needed and not value:
            raise Stop(what)
        return value


def poll(look, seconds=150, pause=0.1):
    begin = time.monotonic()
    while True:
        try:
            value = look()
        except (OSError, KeyError, ValueError, TypeError, IndexError, subprocess.SubprocessError) as error:
            value = Not(f"{type(error).__name__}: {error}")
        waited = time.monotonic() - begin
        if value or waited > seconds:
            return value, waited
        time.sleep(pause)
