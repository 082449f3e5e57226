"""DeviceCheck in the guest, and comparing what it left behind."""
import subprocess


def check(guest, arguments, limit=60, background=""):
    """Runs DeviceCheck; `background` is a script that runs beside it and finds its output so far in $out and its process
    in $tool: `pictures 5` waits for five of them. $mark is a file that is not there, for `--behind`."""
    if not background:
        return guest.run(f"DeviceCheck {arguments}", limit)
    return guest.run(f"""
out=$(mktemp)
mark=$(mktemp -u)
pictures() {{ while [ "$(grep -c '"event": "picture"' $out)" -lt "$1" ] && kill -0 $tool 2>/dev/null; do sleep 0.1; done; }}
DeviceCheck {arguments} >>$out 2>&1 &
tool=$!
{background}
wait $tool
status=$?
cat $out
exit $status""", limit)


def events(done, name):
    return [line for line in done.lines if line.get("event") == name]


def event(done, name):
    found = events(done, name)
    if not found:
        raise ValueError(f"no \"{name}\": {done}")
    return found[-1]


def pictures(file, width, height):
    """Of raw yuv420p."""
    size = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    data = file.read_bytes()
    return [data[start:start + size] for start in range(0, len(data), size)]


def decoded(file, width, height):
    """The frames of an encoded file, as ffmpeg on this machine decodes them."""
    raw = file.with_suffix(".decoded")
    done = subprocess.run(
        ["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-i", file, "-map", "0:v", "-fps_mode", "passthrough",
         "-pix_fmt", "yuv420p", "-f", "rawvideo", "-y", raw], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise ValueError(f"ffmpeg cannot decode {file.name}: {done.stderr[-500:]}")
    found = pictures(raw, width, height)
    raw.unlink()
    return found


def difference(got, expected):
    """Nothing when the frames are the same to the bit; else where they are not."""
    if len(got) != len(expected):
        return f"{len(got)} frames instead of {len(expected)}"
    for number, (one, other) in enumerate(zip(got, expected)):
        if one != other:
            wrong = sum(a != b for a, b in zip(one, other)) if len(one) == len(other) else "all"
            return f"frame {number} of {len(got)} differs: {wrong} of {len(other)} bytes"
    return None
