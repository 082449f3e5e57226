#!/usr/bin/env python3
"""A camera that sends JPEG images over HTTP, and misbehaves on demand: for tests, loopback only.

    http-camera.py [--bind 127.0.0.1] [--port N] [--user NAME] [--password TEXT] [--tls CERT KEY] [--until-eof] DIRECTORY

DIRECTORY holds *.jpg, which are sent in turn. Port 0 (the default) takes any free one. Prints "READY PORT", then one line
of JSON for every connection that ended: its paths, logins, user agent, and how it ended. With --until-eof it ends when its
standard input does. Needs Python's standard library only. Paths: /stream (multipart/x-mixed-replace), /capture (one
image), /page (HTML), /video (MP4). Quirks are chosen by the query of the URL:

  form=esp32|plain|ffmpeg    how a stream is written: as an ESP32-CAM does (chunked; the default), plainly, or as ffmpeg's mpjpeg
  fps=N                      frames per second (10)
  auth=none|basic|md5|md5qop|sha256|both   what it demands (both: SHA-256, MD5 and Basic)
  nonce=1                    each nonce is good for one request
  boundary=dash|none         dashes in the parameter as well; no parameter
  length=none|short|long     Content-Length of the parts, when it is not right
  lf=1                       lines of parts end with LF
  end=S                      the stream ends in good order after S s      reset=S    and the connection is reset
  freeze=S                   no image any more after S s, the connection stays up
  burst=N                    N images at a time, in one piece
  trickle=1                  one byte a second                            cut=N      every Nth image is cut off
  same=1                     always the same image                        close=1    /capture: closes after each image
  status=N                   is answered N                                retry=N    with Retry-After N
  type=none|octet            no Content-Type, or application/octet-stream
  redirect=1                 302 to the same without it                   redirect=loop|away   to itself, to another host
  redirect=PORT              302 to https://127.0.0.1:PORT/stream?auth=basic
  slow=MS                    each answer is late by MS                    greeting=ssh   it is not an HTTP server at all
  silent=1                   the request is never answered
  times=N                    all of these but auth, form and fps apply to the first N requests of this query
"""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

REALM = "ESP(32)"
ESP32 = "123456789000000000000987654321"
STAYING = {"auth", "form", "fps", "nonce", "times"}


class Camera:
    def __init__(self, arguments):
        self.arguments = arguments
        self.pictures = [path.read_bytes() for path in sorted(pathlib.Path(arguments.directory).glob("*.jpg"))]
        self.lock = threading.Lock()
        self.asked = {}
        self.nonces = {}
        self.turn = 0

    def next(self, quirks):
        with self.lock:
            self.turn += 1
            return self.pictures[0 if quirks.get("same") else self.turn % len(self.pictures)]


class Viewer(threading.Thread):
    def __init__(self, camera, connection):
        super().__init__(daemon=True)
        self.camera, self.connection = camera, connection
        # What is to be sent in one piece; None: each piece as it comes.
        self.held = None
        self.reported = {"paths": [], "refusals": 0, "logins": [], "basic": False, "pictures": 0}

    def run(self):
        try:
            if self.camera.arguments.tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(*self.camera.arguments.tls)
                self.connection = context.wrap_socket(self.connection, server_side=True)
            self.rest = b""
            while self.serve():
                pass
        except (OSError, ValueError, IndexError) as error:
            self.reported["error"] = f"{type(error).__name__}: {error}"
        finally:
            try:
                self.connection.close()
            except OSError:
                pass
            print(json.dumps(self.reported), flush=True)

    def request(self):
        while b"\r\n\r\n" not in self.rest:
            bytes = self.connection.recv(4096)
            if not bytes:
                return None
            self.rest += bytes
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        return lines[0].split(" "), headers

    def serve(self):
        asked = self.request()
        if asked is None:
            return False
        (method, target, version), headers = asked
        assert version == "HTTP/1.1" and method == "GET", asked
        self.reported["agent"] = headers.get("user-agent")
        url = urllib.parse.urlsplit(target)
        self.reported["paths"].append(url.path)
        quirks = dict(urllib.parse.parse_qsl(url.query))
        with self.camera.lock:
            count = self.camera.asked[target] = self.camera.asked.get(target, 0) + (0 if quirks.get("auth") and "authorization" not in headers else 1)
        if count > int(quirks.get("times", 1 << 30)):
            quirks = {key: value for key, value in quirks.items() if key in STAYING}
        if "silent" in quirks:
            time.sleep(600)
        time.sleep(int(quirks.get("slow", 0)) / 1000)
        if quirks.get("greeting"):
            self.connection.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
            time.sleep(1)
            return False
        if quirks.get("auth", "none") != "none" and not self.admits(quirks, method, target, headers):
            return False
        if "status" in quirks:
            self.answer(int(quirks["status"]), b"<html>no</html>", "text/html", {"Retry-After": quirks.get("retry", "7")})
            return True
        if "redirect" in quirks:
            there = {"away": "http://192.0.2.1/stream", "loop": target}.get(
                quirks["redirect"], url.path + "?" + re.sub("&?redirect=1", "", url.query))
            if len(quirks["redirect"]) > 1 and quirks["redirect"].isdigit():
                there = f"https://127.0.0.1:{quirks['redirect']}/stream?auth=basic"
            self.answer(302, b"", "text/plain", {"Location": there})
            return True
        if url.path == "/page":
            self.answer(200, b"<!DOCTYPE html><html><body>IP camera</body></html>", "text/html; charset=utf-8")
            return True
        if url.path == "/video":
            self.answer(200, b"\0\0\0\x18ftypisom" + bytes(100), "video/mp4")
            return True
        return self.capture(quirks) if url.path == "/capture" else self.stream(quirks)

    def answer(self, status, body, type, headers=()):
        text = f"HTTP/1.1 {status} Word\r\nServer: Rig/1.0\r\n"
        if type:
            text += f"Content-Type: {type}\r\n"
        for name, value in dict(headers).items():
            text += f"{name}: {value}\r\n"
        self.connection.sendall((text + f"Content-Length: {len(body)}\r\n\r\n").encode() + body)

    # Logins

    def admits(self, quirks, method, target, headers):
        login = headers.get("authorization", "")
        arguments = self.camera.arguments
        if login.startswith("Basic "):
            self.reported["basic"] = True
            if quirks["auth"] in ("basic", "both") and base64.b64decode(login[6:]).decode() == f"{arguments.user}:{arguments.password}":
                return True
        elif login.startswith("Digest "):
            fields = {name: quoted or plain for name, quoted, plain in re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))', login)}
            self.reported["logins"].append(fields.get("algorithm", "MD5"))
            if self.proves(quirks, method, target, fields):
                return True
        self.reported["refusals"] += 1
        nonce = os.urandom(8).hex()
        with self.camera.lock:
            self.camera.nonces[nonce] = 0
        offers = {"basic": ["Basic"], "md5": ["MD5"], "md5qop": ["MD5q"], "sha256": ["SHA-256"], "both": ["Basic", "MD5q", "SHA-256"]}
        text = "HTTP/1.1 401 Unauthorized\r\nServer: Rig/1.0\r\n"
        for offer in offers[quirks["auth"]]:
            if offer == "Basic":
                text += f'WWW-Authenticate: Basic realm="{REALM}"\r\n'
                continue
            text += f'WWW-Authenticate: Digest realm="{REALM}", nonce="{nonce}"' + (', qop="auth"' if offer != "MD5" else "")
            text += (", algorithm=SHA-256" if offer == "SHA-256" else "") + (", stale=true" if quirks.get("nonce") and login else "") + "\r\n"
        self.connection.sendall((text + "Content-Type: text/html\r\nConnection: close\r\n\r\n<html>401</html>").encode())
        return False

    def proves(self, quirks, method, target, fields):
        name = fields.get("algorithm", "MD5")
        if name == "SHA-256" and quirks["auth"] not in ("sha256", "both") or name == "MD5" and quirks["auth"] not in ("md5", "md5qop", "both"):
            return False
        digest = hashlib.sha256 if name == "SHA-256" else hashlib.md5
        hash = lambda text: digest(text.encode()).hexdigest()
        with self.camera.lock:
            used = self.camera.nonces.get(fields.get("nonce"))
            if used is None or quirks.get("nonce") and used:
                return False
            count = int(fields.get("nc", "1"), 16)
            if "nc" in fields and count != used + 1:
                return False
            self.camera.nonces[fields["nonce"]] = used + 1
        arguments = self.camera.arguments
        secret = hash(f"{arguments.user}:{REALM}:{arguments.password}")
        quality = f":{fields['nc']}:{fields['cnonce']}:{fields['qop']}" if "qop" in fields else ""
        return fields.get("uri") == target and fields.get("response") == hash(
            f"{secret}:{fields['nonce']}{quality}:{hash(f'{method}:{target}')}")

    # Images

    def capture(self, quirks):
        jpeg = self.camera.next(quirks)
        if quirks.get("trickle"):
            self.connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n".encode())
            return self.trickle(jpeg, self.connection.sendall)
        types = {"none": None, "octet": "application/octet-stream"}
        self.reported["pictures"] += 1
        self.answer(200, jpeg, types.get(quirks.get("type"), "image/jpeg"), {"Connection": "close"} if quirks.get("close") else {})
        return not quirks.get("close")

    def trickle(self, bytes, send):
        for byte in bytes:
            send(byte.to_bytes(1, "big"))
            time.sleep(1)
        return False

    def stream(self, quirks):
        form = quirks.get("form", "esp32")
        self.isChunked = form == "esp32"
        boundary = {"esp32": ESP32, "plain": "myboundary", "ffmpeg": "ffmpeg"}[form]
        parameter = {"dash": "--" + boundary, "none": ""}.get(quirks.get("boundary"), boundary)
        text = "HTTP/1.1 200 OK\r\nServer: Rig/1.0\r\nContent-Type: multipart/x-mixed-replace" + (f";boundary={parameter}" if parameter else "") + "\r\n"
        if form == "esp32":
            text += "Transfer-Encoding: chunked\r\nAccess-Control-Allow-Origin: *\r\nX-Framerate: 60\r\n"
        if quirks.get("type") == "none":
            text = re.sub("Content-Type.*\r\n", "", text)
        self.connection.sendall((text + "\r\n").encode())
        if "burst" in quirks:
            self.held = bytearray()
        begin, number = time.monotonic(), 0
        at = lambda name: name in quirks and time.monotonic() - begin >= float(quirks[name])
        while True:
            if at("end"):
                if self.isChunked:
                    self.connection.sendall(b"0\r\n\r\n")
                return False
            if at("reset"):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            if at("freeze"):
                self.connection.recv(1)
                return False
            number += 1
            self.part(quirks, form, boundary, self.camera.next(quirks), number)
            self.reported["pictures"] += 1
            if self.held is not None:
                if number % int(quirks["burst"]):
                    continue
                self.connection.sendall(self.held)
                self.held = bytearray()
            time.sleep(max(0, begin + number / float(quirks.get("fps", 10)) - time.monotonic()))

    def part(self, quirks, form, boundary, jpeg, number):
        length = {"none": None, "short": len(jpeg) - 30, "long": len(jpeg) + 3000}.get(quirks.get("length"), len(jpeg))
        headers = ["Content-Type: image/jpeg"] if form != "ffmpeg" else ["Content-type: image/jpeg"]
        if length is not None:
            headers.append(("Content-length: " if form == "ffmpeg" else "Content-Length: ") + str(length))
        if form == "esp32":
            headers.append(f"X-Timestamp: {number // 10}.{number % 10:06d}")
        end = "\n" if quirks.get("lf") else "\r\n"
        if "cut" in quirks and number % int(quirks["cut"]) == 0:
            jpeg = jpeg[:len(jpeg) // 2]
        pieces = [("" if form != "esp32" else end) + "--" + boundary + end, end.join(headers) + end + end]
        for piece in [piece.encode() for piece in pieces] + [jpeg] + ([] if form == "esp32" else [end.encode()]):
            if quirks.get("trickle") and number > int(quirks["trickle"]):
                self.trickle(piece, self.send)
            else:
                self.send(piece)

    def send(self, bytes):
        self.write(b"%x\r\n%s\r\n" % (len(bytes), bytes) if self.isChunked else bytes)

    def write(self, bytes):
        if self.held is None:
            self.connection.sendall(bytes)
        else:
            self.held += bytes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--user", default="admin")
    parser.add_argument("--password", default="s3cret")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--until-eof", action="store_true")
    parser.add_argument("directory")
    camera = Camera(parser.parse_args())
    listener = socket.create_server((camera.arguments.bind, camera.arguments.port))
    print(f"READY {listener.getsockname()[1]}", flush=True)
    waited = [listener] + ([sys.stdin] if camera.arguments.until_eof else [])
    while True:
        readable, _, _ = select.select(waited, [], [])
        if sys.stdin in readable and not sys.stdin.buffer.read1(4096):
            return
        if listener in readable:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Viewer(camera, connection).start()


main()
