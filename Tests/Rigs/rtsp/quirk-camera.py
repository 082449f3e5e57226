#!/usr/bin/env python3
"""A misbehaving RTSP camera for tests: H.264 or H.265 from Annex B files, loopback only.

    quirk-camera.py [--bind 127.0.0.1] [--port N] [--user NAME] [--password TEXT] [--tls CERT KEY] [--aac FILE] [--until-eof]
                    H264 [H265] [SECOND-H264]

Port 0 (the default) takes any free one. Prints "READY PORT", then one line of JSON for every connection that ended:
its quirks, methods, receiver reports, and how it ended. With --until-eof it ends when its standard input does.
Needs Python's standard library only. Quirks are chosen per connection by the query of the URL:

  fps=N            frames per second (25)                 h265=1         H.265 instead of H.264
  times=N          all below but auth, h265, fps, audio and timeout apply to the first N connections of this query
  auth=none|basic|md5|md5qop|sha256|both       what it demands on every request but OPTIONS
                   (both: SHA-256, MD5 and Basic)
  nonce=1          a new nonce at SETUP, the old one stale
  status=N         DESCRIBE is answered N                 greeting=http|ssh   it is not an RTSP server at all
  redirect=1       302 on the first DESCRIBE              redirect=away  302 to another host
  redirect=PORT    302 to rtsps://127.0.0.1:PORT/cam?auth=basic
  base=missing|noscheme|doubled|junk           Content-Base, when it is not right
  space=1          stray blanks and odd case in headers   chan=1         answers with other interleaved channels
  sess=1           the Session id changes between SETUPs  cseq=missing|wrong
  busy=N           SETUP is answered N (453, 503)         retry=N        with Retry-After N
  tcp=0            461 for TCP                            udp=0          461 for UDP
  udpsilent=1      accepts UDP and sends nothing          reorder=1      some packets change places
  slow=MS          every response is late by MS           silent=1       PLAY is never answered
  early=1          RTP before the answer to PLAY          old=1          packets of an earlier session come first
  unknown=1        packets on a channel nobody set up     wronglength=1  bytes between frames that are not a frame
  audio=pcmu|pcma16|pcmu2|g722|silent|refused   a second track (pcma16: 16 kHz; pcmu2: stereo)
                                                          videoless=1    PLAY is fine, but only audio comes
  vfreeze=S        video stops at S s, audio goes on      mpeg4=1        offers an unsupported codec
  nosprop=1        no parameter sets in the SDP           noinband=1     parameter sets in the SDP only
  nomarker=1       no RTP marker bit                      rollover=1     time stamp and sequence wrap within 3 s
  mid=1            begins between two key frames          burst=1        whole groups of pictures at once
  nokey=1          no key frame ever                      oneset=S       the second file from S s on
  vrate=R          the video's RTP time stamps run R times as fast as announced
  arate=R          the same of audio=pcmu: R times as many samples
  jump=S           RTP time stamps jump by S s at 2 s     loss=P         drops P % of the video packets after 2 s
  nosr=1           no sender reports                      srstep=S       NTP time in reports steps by S s at 2 s
  ntp=S            NTP time in reports is wrong by S s    ssrc=1         the SSRC changes at 2 s
  freeze=S         RTP stops at S s, requests answered    hole=S         all goes silent at S s, no FIN
  close=S          FIN at S s                             bye=S          RTCP BYE at S s, then FIN
  timeout=N        Session timeout N s, enforced          ka=405         GET_PARAMETER: 405 and close
  ka=454           GET_PARAMETER within a session: 454    ka=454all      OPTIONS as well
  sess=first       another Session id at each SETUP, and PLAY takes the first one only
  gop=S            a key frame each S s only              refresh=S      no key frame, a recovery point each S s
  savp=1           the video is offered as SRTP           broken=fmtp    parameter sets with quotes and start codes
  audio=aac        a second track of the frames of --aac  pace=1         packets of a frame spread over its time
  boot=WHAT:S      403, 401 or novideo for S s from the first DESCRIBE that this program gets
  reset=S          with --tls: OPTIONS of its own at S s, and a reset before the answer can come
"""

import argparse
import base64
import hashlib
import json
import os
import random
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

REALM = "IP Camera(QK1)"
# Payload type, mapping, samples per second, channels.
SOUNDS = {"pcmu": (0, "", 8000, 1), "pcma16": (97, "PCMA/16000", 16000, 1), "pcmu2": (97, "PCMU/8000/2", 8000, 2)}
STAYING = {"auth", "h265", "fps", "audio", "timeout", "times", "nonce", "pace"}


def access_units(data, hevc):
    """Splits an Annex B byte stream into access units, which are lists of NAL units."""
    units, current, has_picture = [], [], False
    for nal in (n.rstrip(b"\0") for n in re.split(b"\x00\x00\x01", data)[1:]):
        kind = nal[0] >> 1 & 63 if hevc else nal[0] & 31
        is_picture = kind < 32 if hevc else kind in (1, 5)
        begins = is_picture and nal[2 if hevc else 1] & 0x80 or not is_picture and kind not in (40,)
        if begins and has_picture:
            units.append(current)
            current, has_picture = [], False
        current.append(nal)
        has_picture = has_picture or is_picture
    units.append(current)
    return units


class Media:
    def __init__(self, path, hevc=False):
        self.hevc = hevc
        self.units = access_units(open(path, "rb").read(), hevc)
        kinds = (32, 33, 34) if hevc else (7, 8)
        self.sets = [next(n for u in self.units for n in u if self.kind(n) == k) for k in kinds]

    def kind(self, nal):
        return nal[0] >> 1 & 63 if self.hevc else nal[0] & 31

    def is_set(self, nal):
        return self.kind(nal) in ((32, 33, 34) if self.hevc else (7, 8))

    def is_key(self, unit):
        return any(16 <= self.kind(n) <= 21 if self.hevc else self.kind(n) == 5 for n in unit)

    def payloads(self, nal, last):
        """RTP payloads of a NAL unit, whole or in fragments, each with its marker bit."""
        if len(nal) <= 1400:
            yield nal, last
            return
        skip = 2 if self.hevc else 1
        body, kind, at = nal[skip:], self.kind(nal), 0
        head = bytes([(nal[0] & 0x81) | 49 << 1, nal[1]]) if self.hevc else bytes([(nal[0] & 0xE0) | 28])
        while at < len(body):
            final = at + 1390 >= len(body)
            yield head + bytes([(at == 0) << 7 | final << 6 | kind]) + body[at : at + 1390], last and final
            at += 1390


def hexdigest(algorithm, text):
    return hashlib.new(algorithm, text.encode()).hexdigest()


def adts_frames(data):
    """The raw frames of an ADTS file, and the AudioSpecificConfig of its first header."""
    frames, at = [], 0
    while at + 7 <= len(data):
        length = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        frames.append(data[at + (7 if data[at + 1] & 1 else 9) : at + length])
        at += length
    kind, rate, channels = (data[2] >> 6) + 1, data[2] >> 2 & 15, (data[2] & 1) << 2 | data[3] >> 6
    return frames, struct.pack("!H", kind << 11 | rate << 7 | channels << 3)


class Track:
    """One RTP stream to the client: over the connection, or over UDP."""

    def __init__(self, camera, ssrc):
        self.camera, self.ssrc = camera, ssrc
        self.channel, self.socket, self.peer, self.control = 0, None, None, None
        self.packets, self.held = 0, None

    def send(self, packet, is_control=False):
        self.packets += not is_control
        if self.socket:
            target = self.control if is_control else self.peer
            if not self.camera.quirk("udpsilent"):
                (self.control_socket if is_control else self.socket).sendto(packet, target)
        else:
            self.camera.send_interleaved(self.channel + is_control, packet)

    def send_media(self, packet):
        if self.camera.quirk("reorder") and self.held is None and self.packets % 7 == 3:
            self.held = packet
            return
        self.send(packet)
        if self.held is not None:
            self.send(self.held)
            self.held = None

    def report(self, timestamp, ntp):
        words = (self.ssrc, int(ntp) & 0xFFFFFFFF, int((ntp % 1) * 2**32), timestamp, self.packets, 1000)
        self.send(struct.pack("!BBHIIIIII", 0x80, 200, 6, *words), True)

    def close(self):
        if self.socket:
            self.socket.close()
            self.control_socket.close()


class Camera:
    counts = {}
    asked = None
    counts_lock = threading.Lock()

    def __init__(self, connection):
        self.connection = connection
        self.quirks = None
        self.log = dict(methods=[], reports=0)
        self.nonce = "%032x" % random.getrandbits(128)
        self.session = "%08X" % random.getrandbits(32)
        self.tracks = {}
        self.used = time.monotonic()
        self.is_over = self.is_hole = False
        self.has_redirected = False
        self.first_session = None
        self.lock = threading.Lock()

    def quirk(self, name, default=None):
        return (self.quirks or {}).get(name, default)

    def number(self, name, default=0.0):
        return float(self.quirk(name, default))

    def choose(self, url):
        if self.quirks is not None:
            return
        query = urllib.parse.urlsplit(url).query.split("/track")[0].rstrip("/")
        self.quirks = dict(urllib.parse.parse_qsl(query))
        times = self.quirks.get("times")
        if times is not None:
            with Camera.counts_lock:
                seen = Camera.counts.get(query, 0)
                Camera.counts[query] = seen + 1
            if seen >= int(times):
                self.quirks = {k: v for k, v in self.quirks.items() if k in STAYING}

    # --- sending

    def send(self, data):
        with self.lock:
            if not self.is_hole:
                self.connection.sendall(data)

    def send_interleaved(self, channel, data):
        self.send(b"$" + bytes([channel]) + struct.pack("!H", len(data)) + data)

    def reply(self, cseq, status="200 OK", headers=(), body=b""):
        if self.quirk("slow"):
            time.sleep(self.number("slow") / 1000)
        name = "Cseq: %s " if self.quirk("space") else "CSeq: %s"
        if self.quirk("cseq") == "wrong":
            cseq = "4711"
        lines = ["RTSP/1.0 " + status]
        if self.quirk("cseq") != "missing":
            lines.append(name % cseq)
        lines += list(headers)
        if body:
            lines.append("Content-Length: %d" % len(body))
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    # --- media

    def booting(self):
        """What it answers while it starts up; None when it is up."""
        what, _, seconds = self.quirk("boot", "").partition(":")
        Camera.asked = Camera.asked or time.monotonic()
        return what if what and time.monotonic() - Camera.asked < float(seconds) else None

    def sound(self, elapsed, state):
        """Sends the frames that are due, or the 20 ms blocks of a tone."""
        track = self.tracks.get(2)
        if track is not None and self.quirk("audio") == "aac":
            while state["blocks"] * 1024 / 48000 <= elapsed:
                block = state["blocks"]
                frame = AAC[0][block % len(AAC[0])]
                header = struct.pack("!BBHII", 0x80, 0x80 | 97, block & 0xFFFF, block * 1024 & 0xFFFFFFFF, track.ssrc)
                track.send(header + struct.pack("!HH", 16, len(frame) << 3) + frame)
                state["blocks"] += 1
            return
        if track is None or self.quirk("audio") not in SOUNDS:
            return
        number, _, rate, channels = SOUNDS[self.quirk("audio")]
        count = rate // 50
        while state["blocks"] * 0.02 <= elapsed * self.number("arate", 1):
            block = state["blocks"]
            payload = bytes((0x80 if (block * count + i // channels) // 10 % 2 else 0x00) for i in range(count * channels))
            header = struct.pack("!BBHII", 0x80, number, block & 0xFFFF, (block * count) & 0xFFFFFFFF, track.ssrc)
            track.send(header + payload)
            if block % 50 == 0 and not self.quirk("nosr"):
                step = self.number("srstep") if elapsed >= 2 else 0
                track.report((block * count) & 0xFFFFFFFF, time.time() + 2208988800 + self.number("ntp") + step)
            state["blocks"] += 1

    def finish(self):
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def stream(self):
        try:
            self.stream_pictures()
        except OSError as error:
            self.log["ended"] = type(error).__name__
        for track in self.tracks.values():
            track.close()

    def stream_pictures(self):
        media = H265 if self.quirk("h265") else H264
        rate = self.number("fps", 25)
        video = self.tracks.get(1)
        start = time.monotonic()
        sequence = 65500 if self.quirk("rollover") else random.getrandbits(15)
        begin = (1 << 32) - 3 * 90000 if self.quirk("rollover") else random.getrandbits(31)
        frame = next((i for i, u in enumerate(media.units) if not media.is_key(u)), 0) if self.quirk("mid") else 0
        shift, sound, reported, switched = frame, dict(blocks=0), -10.0, 0
        while not self.is_over:
            elapsed = (frame - shift) / rate
            due = elapsed
            if self.quirk("burst"):
                group = self.number("burst") * 25 / rate if self.number("burst") > 1 else 25 / rate
                due = (elapsed // group) * group
            while start + due > time.monotonic() and not self.is_over:
                self.sound(time.monotonic() - start, sound)
                time.sleep(min(max(start + due - time.monotonic(), 0), 0.01))
            self.sound(time.monotonic() - start, sound)
            if self.quirk("close") and elapsed >= self.number("close"):
                return self.finish()
            if self.quirk("bye") and elapsed >= self.number("bye"):
                video.send(struct.pack("!BBHI", 0x81, 203, 1, video.ssrc), True)
                return self.finish()
            if self.quirk("reset") and elapsed >= self.number("reset"):
                self.connection.last_words = b"OPTIONS * RTSP/1.0\r\nCSeq: 4294967295\r\n\r\n"
                return
            if self.quirk("hole") and elapsed >= self.number("hole"):
                self.log["hole"] = True
                self.is_hole = True
                return
            if self.quirk("freeze") and elapsed >= self.number("freeze"):
                return
            if self.quirk("timeout") and time.monotonic() - self.used > self.number("timeout"):
                self.log["expired"] = True
                return self.finish()
            if self.quirk("ssrc") and elapsed >= 2 and video.ssrc == SSRC:
                video.ssrc = SSRC + 77
                sequence += 1000
            jump = self.number("jump") if elapsed >= 2 else 0
            timestamp = int(begin + (elapsed * self.number("vrate", 1) + jump) * 90000) & 0xFFFFFFFF
            if not self.quirk("nosr") and elapsed - reported >= 1 and not self.quirk("videoless"):
                reported = elapsed
                step = self.number("srstep") if elapsed >= 2 else 0
                video.report(timestamp, time.time() + 2208988800 + self.number("ntp") + step)
            if self.quirk("oneset") and elapsed >= self.number("oneset") and media is not SECOND:
                media, switched = SECOND, frame
            unit = media.units[(frame - switched) % len(media.units)]
            distance = self.number("gop") or self.number("refresh")
            if media.is_key(unit) and (self.quirk("nokey") or distance and (frame % int(distance * rate) or self.quirk("refresh"))):
                unit = media.units[1]
            if self.quirk("refresh") and frame % int(distance * rate) == 0:
                # recovery_frame_cnt 0, exact_match_flag set; with the sets, as such encoders do it.
                unit = media.sets + [bytes([0x06, 0x06, 0x01, 0xC4, 0x80])] + [x for x in unit if not media.is_set(x)]
            if self.quirk("noinband"):
                unit = [x for x in unit if not media.is_set(x)]
            elif media.is_key(unit) and not any(media.is_set(x) for x in unit):
                unit = media.sets + unit
            quiet = self.quirk("videoless") or self.quirk("vfreeze") and elapsed >= self.number("vfreeze")
            for index, nal in enumerate(unit):
                for payload, marker in media.payloads(nal, index == len(unit) - 1):
                    second = 96 | (0x80 if marker and not self.quirk("nomarker") else 0)
                    header = struct.pack("!BBHII", 0x80, second, sequence & 0xFFFF, timestamp, video.ssrc)
                    sequence += 1
                    lost = elapsed >= 2 and random.random() * 100 < self.number("loss")
                    if quiet or lost:
                        continue
                    video.send_media(header + payload)
                    if self.quirk("pace") and sequence % 16 == 0:
                        time.sleep(0.001)
            if self.quirk("unknown") and frame % 5 == 0:
                self.send_interleaved(99, b"\x80\x60" + bytes(30))
            if self.quirk("wronglength") and frame % 25 == 10:
                self.send(b"\x00junk between frames\r\n")
            frame += 1
            self.log["frames"] = frame

    # --- requests

    def authorized(self, demand, method, value):
        if demand == "basic":
            return value == "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if value.startswith("Basic"):
            self.log["basic"] = True
            return False
        if not value.startswith("Digest"):
            return False
        field = {k: v.strip('"') for k, v in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[^,\s]+)', value)}
        self.log["algorithm"] = field.get("algorithm", "(none)")
        algorithm = "sha256" if field.get("algorithm") == "SHA-256" else "md5"
        if demand == "sha256" and algorithm != "sha256" or demand == "md5qop" and not field.get("qop"):
            return False
        middle = f":{field['nc']}:{field['cnonce']}:{field['qop']}" if field.get("qop") else ""
        a1 = hexdigest(algorithm, f"{USER}:{REALM}:{PASSWORD}")
        a2 = hexdigest(algorithm, f"{method}:{field.get('uri', '')}")
        return field.get("response") == hexdigest(algorithm, f"{a1}:{self.nonce}{middle}:{a2}")

    def challenges(self, demand, stale):
        digest = f'Digest realm="{REALM}", nonce="{self.nonce}"'
        if stale:
            digest += ', stale="TRUE"'
        return {
            "basic": [f'Basic realm="{REALM}"'],
            "md5": [digest],
            "md5qop": [f'{digest}, qop="auth", algorithm=MD5'],
            "sha256": [f'{digest}, algorithm="SHA-256"'],
            "both": [f'{digest}, algorithm="SHA-256"', f'{digest}, algorithm="MD5"', f'Basic realm="{REALM}"'],
        }[demand]

    def description(self):
        media = H265 if self.quirk("h265") else H264
        sets = [base64.b64encode(x).decode() for x in media.sets]
        lines = ["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=cam", "c=IN IP4 0.0.0.0", "t=0 0", "a=control:*", "a=range:npt=0-"]
        if self.booting() == "novideo":
            return ("\r\n".join(lines) + "\r\n").encode()
        lines += ["m=video 0 RTP/SAVP 96" if self.quirk("savp") else "m=video 0 RTP/AVP 96"]
        if self.quirk("savp"):
            lines += ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + base64.b64encode(bytes(30)).decode()]
        if self.quirk("mpeg4"):
            lines += ["a=rtpmap:96 MP4V-ES/90000", "a=fmtp:96 profile-level-id=1"]
        elif media.hevc:
            names = [f"sprop-{n}={s}" for n, s in zip(("vps", "sps", "pps"), sets)]
            lines += ["a=rtpmap:96 H265/90000", "a=fmtp:96 " + ("" if self.quirk("nosprop") else "; ".join(names))]
        else:
            blanks = "  " if self.quirk("space") else ""
            sprop = "" if self.quirk("nosprop") else ";sprop-parameter-sets=" + ",".join(sets)
            if self.quirk("broken") == "fmtp":
                coded = [base64.b64encode(b"\0\0\0\1" + x + b"\0\0\0\1").decode() for x in media.sets]
                sprop = ';sprop-parameter-sets=%s","%s' % tuple(coded)
            lines += ["a=rtpmap:96 H264/90000" + blanks, "a=fmtp:96 packetization-mode=1" + sprop]
        lines += ["a=control:track1"]
        if self.quirk("audio") in ("pcma16", "pcmu2"):
            number, mapping, _, _ = SOUNDS[self.quirk("audio")]
            lines += [f"m=audio 0 RTP/AVP {number}", f"a=rtpmap:{number} {mapping}", "a=control:track2"]
        if self.quirk("audio") in ("pcmu", "silent", "refused"):
            lines += ["m=audio 0 RTP/AVP 0", "a=rtpmap:0 PCMU/8000", "a=control:track2"]
        if self.quirk("audio") == "aac":
            form = "mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=" + AAC[1].hex()
            lines += ["m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/48000/1", "a=fmtp:97 streamtype=5;" + form]
            lines += ["a=control:track2"]
        if self.quirk("audio") == "g722":
            lines += ["m=audio 0 RTP/AVP 9", "a=rtpmap:9 G722/8000", "a=control:track2"]
        return ("\r\n".join(lines) + "\r\n").encode()

    def base(self, url):
        kind = self.quirk("base")
        if kind == "missing":
            return []
        if kind == "noscheme":
            return ["Content-Base: " + url.split("://", 1)[1] + "/"]
        if kind == "doubled":
            return [f"Content-Base: {url}/", f"Content-Base: {url}/"]
        if kind == "junk":
            return ["Content-Base: rtsp://[::: nowhere"]
        return [f"Content-Base: {url}/"]

    def set_up(self, cseq, url, headers):
        transport = headers.get("transport", "")
        is_tcp = "TCP" in transport
        if self.quirk("busy"):
            after = [f"Retry-After: {self.quirk('retry')}"] if self.quirk("retry") else []
            reason = "Not Enough Bandwidth" if self.quirk("busy") == "453" else "Service Unavailable"
            self.reply(cseq, f"{self.quirk('busy')} {reason}", after)
            return
        if self.quirk("tcp" if is_tcp else "udp") == "0" or "multicast" in transport:
            self.reply(cseq, "461 Unsupported Transport")
            return
        number = 2 if "track2" in url else 1
        if number == 2 and self.quirk("audio") == "refused":
            self.reply(cseq, "500 Internal Server Error")
            return
        track = Track(self, SSRC + number - 1)
        if self.quirk("sess"):
            self.session = "%08X" % random.getrandbits(32)
        self.first_session = self.first_session or self.session
        blank = " " if self.quirk("space") else ""
        timeout = " ; timeout = 60" if self.quirk("space") else f";timeout={self.quirk('timeout', 60)}"
        if is_tcp:
            asked = re.search(r"interleaved=(\d+)-(\d+)", transport)
            track.channel = (int(asked.group(1)) if asked else 0) + (4 if self.quirk("chan") else 0)
            place = f"interleaved={track.channel}-{track.channel + 1}"
            line = f"Transport: RTP/AVP/TCP;unicast;{place};ssrc={blank}{track.ssrc:08X}"
        else:
            ports = re.search(r"client_port=(\d+)-(\d+)", transport)
            host = self.connection.getpeername()[0]
            track.peer, track.control = (host, int(ports.group(1))), (host, int(ports.group(2)))
            track.socket, track.control_socket = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
            for end in (track.socket, track.control_socket):
                end.bind((arguments.bind, 0))
            threading.Thread(target=self.count_reports, args=(track,), daemon=True).start()
            server = f"{track.socket.getsockname()[1]}-{track.control_socket.getsockname()[1]}"
            line = f"Transport: RTP/AVP;unicast;client_port={ports.group(1)}-{ports.group(2)};server_port={server}"
            line += f";ssrc={track.ssrc:08X}"
        self.tracks[number] = track
        self.log["transport"] = "tcp" if is_tcp else "udp"
        self.reply(cseq, headers=[line, f"Session: {self.session}{timeout}"])

    def count_reports(self, track):
        try:
            while not self.is_over:
                data = track.control_socket.recv(2048)
                if len(data) >= 8 and data[1] in (200, 201):
                    self.log["reports"] += 1
        except OSError:
            pass

    def handle(self, method, url, headers):
        """Answers one request; False ends the connection."""
        cseq = headers.get("cseq", "0")
        demand = self.quirk("auth", "none")
        refusal = self.booting() if method == "DESCRIBE" else None
        if refusal == "401":
            self.log["refusals"] = self.log.get("refusals", 0) + 1
            self.reply(cseq, "401 Unauthorized", ["WWW-Authenticate: " + x for x in self.challenges("md5qop", False)])
            return True
        if refusal == "403":
            self.reply(cseq, "403 Forbidden")
            return True
        if demand != "none" and method != "OPTIONS":
            stale = self.quirk("nonce") and method == "SETUP" and not self.log.get("renewed")
            if stale:
                self.log["renewed"] = True
                self.nonce = "%032x" % random.getrandbits(128)
            if stale or not self.authorized(demand, method, headers.get("authorization", "")):
                self.log["refusals"] = self.log.get("refusals", 0) + 1
                given = ["WWW-Authenticate: " + x for x in self.challenges(demand, stale)]
                self.reply(cseq, "401 Unauthorized", given)
                return True
        in_session = headers.get("session", "").split(";")[0] != ""
        refused = {"454": ("GET_PARAMETER",), "454all": ("GET_PARAMETER", "OPTIONS")}.get(self.quirk("ka"), ())
        if in_session and method in refused:
            self.reply(cseq, "454 Session Not Found")
        elif method == "OPTIONS":
            extra = "" if self.quirk("ka") == "405" else ", GET_PARAMETER, SET_PARAMETER"
            self.reply(cseq, headers=["Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN" + extra, "Server: Quirks/1.0"])
        elif method == "DESCRIBE":
            self.describe(cseq, url)
        elif method == "SETUP":
            self.set_up(cseq, url, headers)
        elif method == "PLAY":
            if self.quirk("silent"):
                return True
            if self.quirk("sess") == "first" and headers.get("session", "").split(";")[0] != self.first_session:
                self.reply(cseq, "454 Session Not Found")
                return True
            if self.quirk("old"):
                for _ in range(20):
                    self.send_interleaved(0, struct.pack("!BBHII", 0x80, 96, 9, 9, 0xDEAD) + b"\x41" + bytes(60))
                    self.send_interleaved(42, b"\x80\x60" + bytes(30))
            if self.quirk("early"):
                threading.Thread(target=self.stream, daemon=True).start()
                time.sleep(0.2)
            self.reply(cseq, headers=[f"Session: {self.session}", "Range: npt=0.000-"])
            if not self.quirk("early"):
                threading.Thread(target=self.stream, daemon=True).start()
        elif method == "TEARDOWN":
            self.reply(cseq)
            return False
        elif method == "GET_PARAMETER" and self.quirk("ka") == "405":
            self.reply(cseq, "405 Method Not Allowed")
            return False
        else:
            self.reply(cseq, headers=[f"Session: {self.session}"])
        return True

    def describe(self, cseq, url):
        if self.quirk("redirect") and not self.has_redirected:
            self.has_redirected = True
            target = "rtsp://192.0.2.1/else" if self.quirk("redirect") == "away" else url.replace("redirect=1", "r=0")
            if len(self.quirk("redirect")) > 1 and self.quirk("redirect").isdigit():
                target = f"rtsps://127.0.0.1:{self.quirk('redirect')}/cam?auth=basic"
            self.reply(cseq, "302 Found", ["Location: " + target])
        elif self.quirk("status"):
            self.reply(cseq, f"{self.quirk('status')} Because")
        else:
            headers = self.base(url) + ["Content-Type: application/sdp"]
            self.reply(cseq, headers=headers, body=self.description())

    def serve(self):
        buffer = b""
        try:
            while True:
                if buffer[:1] == b"$" and len(buffer) >= 4:
                    length = 4 + struct.unpack("!H", buffer[2:4])[0]
                    if len(buffer) >= length:
                        self.log["reports"] += len(buffer) > 5 and buffer[5] == 201
                        buffer = buffer[length:]
                        continue
                elif b"\r\n\r\n" in buffer:
                    head, buffer = buffer.split(b"\r\n\r\n", 1)
                    lines = head.decode("latin1").split("\r\n")
                    method, url, _ = lines[0].split(" ", 2)
                    pairs = (x.split(":", 1) for x in lines[1:] if ":" in x)
                    headers = {k.strip().lower(): v.strip() for k, v in pairs}
                    buffer = buffer[int(headers.get("content-length", 0)) :]
                    self.choose(url)
                    if self.quirk("greeting"):
                        first = b"HTTP/1.1 400 Bad\r\n\r\n" if self.quirk("greeting") == "http" else b"SSH-2.0-x\r\n"
                        self.send(first)
                        break
                    self.used = time.monotonic()
                    self.log["methods"].append(method)
                    self.log["agent"] = headers.get("user-agent")
                    if not self.is_hole and not self.handle(method, url, headers):
                        break
                    continue
                received = self.connection.recv(65536)
                if not received:
                    break
                buffer += received
        except (OSError, ValueError, KeyError, AttributeError) as error:
            self.log["error"] = repr(error)
        self.is_over = True
        self.connection.close()
        print(json.dumps(dict(quirks=self.quirks, **self.log)), flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bind", default="127.0.0.1")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--user", default="admin")
parser.add_argument("--password", default="s3cret")
parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
parser.add_argument("--aac", metavar="ADTS")
parser.add_argument("--until-eof", action="store_true")
parser.add_argument("media", nargs="+")
arguments = parser.parse_args()
USER, PASSWORD, SSRC = arguments.user, arguments.password, 0x22345682
H264 = Media(arguments.media[0])
H265 = Media(arguments.media[1], True) if len(arguments.media) > 1 else None
SECOND = Media(arguments.media[2]) if len(arguments.media) > 2 else None
AAC = adts_frames(open(arguments.aac, "rb").read()) if arguments.aac else None


def watch_input():
    while os.read(0, 4096):
        pass
    os._exit(0)


class PollingTLS:
    """A TLS connection that one thread may read and another write: OpenSSL wants them not to do so at once."""

    def __init__(self, connection, context):
        self.raw = connection
        self.lock = threading.Lock()
        self.tls = context.wrap_socket(connection, server_side=True)
        self.tls.setblocking(False)
        self.last_words = None

    def recv(self, count):
        while True:
            with self.lock:
                if self.last_words:
                    # What came just before gives a client time that looks a few milliseconds later: until it has read
                    # the rest, the reset is there, too.
                    self.tls.send(b"$\x63\x00\x0c" + bytes(12))
                    time.sleep(0.001)
                    self.tls.send(self.last_words)
                    self.tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.tls.close()
                    raise ConnectionResetError("as asked for")
                try:
                    return self.tls.recv(count)
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    pass
            select.select([self.tls], [], [], 0.05)

    def sendall(self, data):
        while data:
            with self.lock:
                try:
                    data = data[self.tls.send(data) :]
                    continue
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    pass
            select.select([], [self.tls], [], 0.05)

    def getpeername(self):
        return self.tls.getpeername()

    def shutdown(self, how):
        self.tls.shutdown(how)

    def close(self):
        self.tls.close()


def accepted(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        if arguments.tls:
            connection = PollingTLS(connection, context)
        Camera(connection).serve()
    except OSError as error:
        connection.close()
        print(json.dumps(dict(refused=repr(error))), flush=True)


if arguments.until_eof:
    threading.Thread(target=watch_input, daemon=True).start()
if arguments.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*arguments.tls)
listener = socket.create_server((arguments.bind, arguments.port), backlog=64)
print("READY", listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=accepted, args=(listener.accept()[0],), daemon=True).start()
