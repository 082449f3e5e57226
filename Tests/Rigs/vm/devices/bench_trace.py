"""Where the time between a driver's time stamp and a packet goes, by the guest kernel's own trace: the same for every program.
When the driver had the frame (vb2_buf_done; v4l2_dqbuf says which it was), and when x264 was entered and left (a probe in the
library)."""
import bisect
import re
import subprocess

TRACE = "/sys/kernel/tracing"


def _offset(library, symbol):
    """Of a function in its file."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^([0-9a-f]+) T {symbol}\b", symbols, re.MULTILINE)
    address = int(found[1], 16) if found else None
    segments = subprocess.run(["readelf", "--wide", "--segments", library], capture_output=True, text=True, check=True).stdout
    for words in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", segments):
        start, first, size = (int(word, 16) for word in words)
        if address is not None and first <= address < first + size:
            return start + address - first
    raise ValueError(f"{library} has no {symbol}")


class Trace:
    def __init__(self, guest, tree):
        self.guest = guest
        library = next(tree.glob("usr/lib/*/libx264.so.*"))
        place = f"/{library.relative_to(tree)}:{_offset(library, 'x264_encoder_encode'):#x}"
        self._do(f"""cd {TRACE} || exit 1
echo mono >trace_clock && echo 4096 >buffer_size_kb || exit 1
echo 'p:bench/enter {place}' >uprobe_events && echo 'r:bench/leave {place}' >>uprobe_events || exit 1
for event in vb2/vb2_buf_done v4l2/v4l2_dqbuf bench/enter bench/leave; do echo 1 >events/$event/enable || exit 1; done""")

    def begin(self):
        self._do(f"echo >{TRACE}/trace; echo 1 >{TRACE}/tracing_on")

    def end(self):
        """A function from a packet's time stamp (the driver's) and the instant when it was there, nanoseconds, to the parts of
        that time, milliseconds: the driver, x264, what the program added. None: the trace does not know."""
        self._do(f"echo 0 >{TRACE}/tracing_on; cat {TRACE}/trace >/share/files/trace")
        done, there, entered, left = {}, {}, [], []
        for line in self.guest.file("trace").read_text().splitlines():
            found = re.search(r" (\d+)\.(\d{6}): (\w+): (.*)", line)
            if not found:
                continue
            instant = int(found[1] + found[2]) * 1000
            index = re.search(r"index = (\d+)", found[4])
            if found[3] == "vb2_buf_done":
                done[index[1]] = instant
            elif found[3] == "v4l2_dqbuf" and index[1] in done:
                there[int(re.search(r"timestamp = (\d+)", found[4])[1]) // 1000] = done[index[1]]
            elif found[3] == "enter":
                entered.append(instant)
            elif found[3] == "leave":
                left.append(instant)

        def parts(captured, packet):
            ready = there.get(captured // 1000)
            last = bisect.bisect_right(left, packet) - 1
            first = bisect.bisect_left(entered, left[last]) - 1 if last >= 0 else -1
            if ready is None or first < 0:
                return None
            driver, encoder = ready - captured, left[last] - entered[first]
            return driver / 1e6, encoder / 1e6, (packet - captured - driver - encoder) / 1e6
        return parts

    def _do(self, script):
        done = self.guest.run(script, 60)
        if not done.ok:
            raise OSError(f"the guest's kernel cannot trace: {done}")
