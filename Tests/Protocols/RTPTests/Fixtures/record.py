#!/usr/bin/python3
"""Records RTP as ffmpeg and GStreamer send it, with what a receiver has to make of it: record.py [NAME]...

Each file is lines of `word value...`:
  sender NAME            who sent it
  format NAME, rate N, type N, sets HEX,HEX, aac CONFIG,SIZE,INDEX,DELTA     what the session description says
  packet HEX, control HEX                                                    in the order in which they came
  unit KEY SECONDS-AS-TICKS HEX    what is carried, taken from the coder's output and not from the packets; ticks count
                                   from the first unit; for JPEG a whole file, whose headers may be written
                                   differently
Debian packages: ffmpeg, python3-gi, gstreamer1.0-plugins-good -ugly -bad, gstreamer1.0-libav.
"""

import base64
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURE = "testsrc2=size=96x64:rate=25"


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments], check=True)


def nal_units(data):
    return [n.rstrip(b"\0") for n in re.split(b"\x00\x00\x01", data)[1:]]


def kind_of(nal, codec):
    return nal[0] & 31 if codec == "h264" else nal[0] >> 1 & 63


def pictures(data, codec):
    """Access units of an Annex B stream: (is key, units without delimiters, sets and filler)."""
    left_out = (7, 8, 9, 12) if codec == "h264" else (32, 33, 34, 35, 38)
    slices = (lambda k: 1 <= k <= 5) if codec == "h264" else (lambda k: k <= 31)
    first = (lambda n: n[1] & 0x80) if codec == "h264" else (lambda n: n[2] & 0x80)
    key = (lambda k: k == 5) if codec == "h264" else (lambda k: 16 <= k <= 23)
    output, waiting, current = [], [], None
    for nal in nal_units(data):
        kind = kind_of(nal, codec)
        if slices(kind):
            if first(nal):
                current = [key(kind), waiting]
                output.append(current)
                waiting = []
            current[1].append(nal)
        elif kind not in left_out:
            waiting.append(nal)
    return [(k, b"".join(struct.pack(">I", len(n)) + n for n in units)) for k, units in output]


def adts_frames(data):
    frames = []
    while data:
        length = (data[3] & 3) << 11 | data[4] << 3 | data[5] >> 5
        frames.append(data[7:length])
        data = data[length:]
    return frames


def jpeg_files(data):
    return [b"\xff\xd8" + image.split(b"\xff\xd9")[0] + b"\xff\xd9" for image in data.split(b"\xff\xd8")[1:]]


def record(send):
    """Runs a sender towards a port; the datagrams, RTCP behind RTP of the next port."""
    rtp, rtcp = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
    for port in range(46000, 47000, 2):
        try:
            rtp.bind(("127.0.0.1", port))
            rtcp.bind(("127.0.0.1", port + 1))
            break
        except OSError:
            rtp.close(), rtcp.close()
            rtp, rtcp = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
    for s in (rtp, rtcp):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    send(port)
    lines = []
    for word, s in (("packet", rtp), ("control", rtcp)):
        s.setblocking(False)
        while True:
            try:
                lines.append((word, s.recv(65536).hex()))
            except BlockingIOError:
                break
    return lines


def write(name, head, lines, units):
    with open(os.path.join(HERE, name + ".rtp"), "w") as file:
        for word, value in head + lines:
            file.write(f"{word} {value}\n")
        for key, ticks, data in units:
            file.write(f"unit {int(key)} {ticks} {data.hex()}\n")
    print(name, len(lines), "packets", len(units), "units", os.path.getsize(file.name), "bytes")


def ffmpeg_video(name, codec, encoder, options, packet_size, frames=12):
    with tempfile.TemporaryDirectory() as folder:
        movie, stream = f"{folder}/a.mkv", f"{folder}/a.bin"
        ffmpeg("-f", "lavfi", "-i", PICTURE, "-frames:v", str(frames), "-pix_fmt", "yuv420p", "-c:v", encoder,
               *options, movie)
        ffmpeg("-i", movie, "-c", "copy", "-bsf:v", f"{codec}_mp4toannexb", "-f", codec, stream)
        packets = subprocess.check_output(
            ["ffprobe", "-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", movie], text=True)
        times = [round(float(t.strip(",")) * 90000) for t in packets.split()]
        description = f"{folder}/a.sdp"
        lines = record(lambda port: ffmpeg("-re", "-i", movie, "-c", "copy", "-sdp_file", description, "-f", "rtp",
                                           f"rtp://127.0.0.1:{port}?pkt_size={packet_size}"))
        text = open(description).read()
        sets = [base64.b64decode(s).hex() for field in re.findall(r"sprop-(?:parameter-sets|vps|sps|pps)=([^;\s]+)", text)
                for s in field.split(",")]
        units = pictures(open(stream, "rb").read(), codec)
        assert len(units) == len(times)
        write(name, [("sender", "ffmpeg 5.1.9"), ("format", codec), ("rate", 90000), ("type", 96),
                     ("sets", ",".join(sets))], lines,
              [(key, t - times[0], data) for (key, data), t in zip(units, times)])


def ffmpeg_aac(name, packet_size):
    with tempfile.TemporaryDirectory() as folder:
        movie, stream, description = f"{folder}/a.mp4", f"{folder}/a.aac", f"{folder}/a.sdp"
        ffmpeg("-f", "lavfi", "-i", "sine=frequency=440:sample_rate=16000", "-t", "0.6", "-c:a", "aac", "-b:a", "32k",
               movie)
        ffmpeg("-i", movie, "-c", "copy", stream)
        lines = record(lambda port: ffmpeg("-re", "-i", movie, "-c", "copy", "-sdp_file", description, "-f", "rtp",
                                           f"rtp://127.0.0.1:{port}?pkt_size={packet_size}"))
        text = open(description).read()
        value = lambda key: re.search(rf"(?i){key}=(\w+)", text)[1]
        head = [("sender", "ffmpeg 5.1.9"), ("format", "aac"), ("rate", 16000), ("type", 97 if " 97" in text else 96),
                ("aac", ",".join(value(k) for k in ("config", "sizelength", "indexlength", "indexdeltalength")))]
        # At the end ffmpeg keeps what it gathered for one more packet: only as many frames as have gone out.
        sent = sum(int(data[24:28], 16) // 16 for word, data in lines if word == "packet") if packet_size > 200 else None
        frames = adts_frames(open(stream, "rb").read())[:sent]
        write(name, head, lines, [(True, 1024 * i, f) for i, f in enumerate(frames)])


def ffmpeg_jpeg(name, pixel_format, size):
    with tempfile.TemporaryDirectory() as folder:
        stream = f"{folder}/a.mjpeg"
        ffmpeg("-f", "lavfi", "-i", PICTURE, "-frames:v", "3", "-pix_fmt", pixel_format, "-color_range", "pc", "-c:v", "mjpeg", "-huffman",
               "default", "-q:v", "8", "-force_duplicated_matrix", "1", "-f", "mjpeg", stream)
        lines = record(lambda port: ffmpeg("-re", "-f", "mjpeg", "-i", stream, "-c", "copy", "-f", "rtp",
                                           f"rtp://127.0.0.1:{port}?pkt_size={size}"))
        files = jpeg_files(open(stream, "rb").read())
        write(name, [("sender", "ffmpeg 5.1.9"), ("format", "jpeg"), ("rate", 90000), ("type", 26)], lines,
              [(True, 3600 * i, s) for i, s in enumerate(files)])


def gstreamer(name, source, payloader, head, convert):
    """A pipeline whose coder's output is written to a file as well."""
    with tempfile.TemporaryDirectory() as folder:
        stream = f"{folder}/a.bin"
        program = f"""
import sys, gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
p = Gst.parse_launch("{source} ! tee name=t ! queue ! filesink location={stream} t. ! queue ! {payloader} ! udpsink host=127.0.0.1 port=" + sys.argv[1])
p.set_state(Gst.State.PLAYING)
m = p.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
sys.exit(0 if m.type == Gst.MessageType.EOS else str(m.parse_error()))
"""
        lines = record(lambda port: subprocess.run([sys.executable, "-c", program, str(port)], check=True))
        write(name, [("sender", "GStreamer 1.22.0")] + head, lines, convert(open(stream, "rb").read()))


def gst_pictures(codec, step=3600):
    return lambda data: [(k, step * i, d) for i, (k, d) in enumerate(pictures(data, codec))]


SOURCE = "videotestsrc num-buffers={} pattern=ball ! video/x-raw,width=96,height=64,framerate=25/1"
RECORDINGS = {
    "ffmpeg-h264": lambda n: ffmpeg_video(n, "h264", "libx264", ["-bf", "0", "-g", "6", "-crf", "30"], 250),
    "ffmpeg-h264-slices-b-frames": lambda n: ffmpeg_video(
        n, "h264", "libx264", ["-bf", "3", "-g", "12", "-slices", "3", "-crf", "36"], 400, 24),
    "ffmpeg-hevc": lambda n: ffmpeg_video(
        n, "hevc", "libx265", ["-x265-params", "bframes=0:keyint=6:crf=36:log-level=error:info=0"], 200),
    "ffmpeg-aac": lambda n: ffmpeg_aac(n, 900),
    "ffmpeg-aac-fragments": lambda n: ffmpeg_aac(n, 60),
    "ffmpeg-jpeg-420": lambda n: ffmpeg_jpeg(n, "yuvj420p", 400),
    "gstreamer-h264": lambda n: gstreamer(
        n, SOURCE.format(10) + " ! x264enc tune=zerolatency key-int-max=5 bitrate=100 ! video/x-h264,stream-format=byte-stream,alignment=au",
        "rtph264pay pt=96 mtu=200 config-interval=-1 aggregate-mode=zero-latency",
        [("format", "h264"), ("rate", 90000), ("type", 96), ("sets", "")], gst_pictures("h264")),
    "gstreamer-hevc": lambda n: gstreamer(
        n, SOURCE.format(10) + " ! x265enc tune=zerolatency key-int-max=5 bitrate=100 ! video/x-h265,stream-format=byte-stream,alignment=au",
        "rtph265pay pt=97 mtu=200 config-interval=-1 aggregate-mode=zero-latency",
        [("format", "hevc"), ("rate", 90000), ("type", 97), ("sets", "")], gst_pictures("hevc")),
    "gstreamer-jpeg": lambda n: gstreamer(
        n, SOURCE.format(3) + ",format=I420 ! jpegenc quality=40", "rtpjpegpay mtu=300",
        [("format", "jpeg"), ("rate", 90000), ("type", 26)],
        lambda data: [(True, 3600 * i, s) for i, s in enumerate(jpeg_files(data))]),
    "gstreamer-jpeg-422": lambda n: gstreamer(
        n, SOURCE.format(3) + ",format=Y42B ! jpegenc quality=70", "rtpjpegpay mtu=300 quality=70",
        [("format", "jpeg"), ("rate", 90000), ("type", 26)],
        lambda data: [(True, 3600 * i, s) for i, s in enumerate(jpeg_files(data))]),
    "gstreamer-pcmu": lambda n: gstreamer(
        n, "audiotestsrc num-buffers=4 samplesperbuffer=320 ! audio/x-raw,rate=8000,channels=1 ! mulawenc",
        "rtppcmupay max-ptime=40000000 min-ptime=40000000", [("format", "pcmu"), ("rate", 8000), ("type", 0)],
        lambda data: [(True, i, data[i:i + 320]) for i in range(0, len(data), 320)]),
}

for chosen in sys.argv[1:] or RECORDINGS:
    RECORDINGS[chosen](chosen)
