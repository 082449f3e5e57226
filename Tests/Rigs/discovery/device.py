#!/usr/bin/env python3
"""A device on a network, as far as a search meets it: WS-Discovery over IPv4 or IPv6, its ONVIF service, other servers.

    device.py --address ADDRESS --interface NAME [--ipv6] [--endpoint UUID] [--xaddrs "URL …"] [--name NAME]
              [--http PORT] [--open] [--rtsp PORT=STATUS]… [--web PORT]… [--ssh PORT]… [--mute PORT]…
              [--kind camera|printer|quiet] [--flood COUNT] [--junk]

  --kind printer   answers every Probe as a Windows printer does; quiet: no WS-Discovery at all
  --open           GetDeviceInformation needs no login
  --flood, --junk  then sends so many Hellos of other devices at once, or invalid datagrams, on SIGUSR1

Says Hello when it comes and Bye on SIGTERM; each answer goes out twice. Prints READY, then one JSON line for everything it
was asked. Debian packages: python3 (standard library only).
"""
import argparse
import json
import os
import random
import re
import signal
import socket
import struct
import sys
import threading
import time
import uuid

GROUPS = {socket.AF_INET: "239.255.255.250", socket.AF_INET6: "ff02::c"}
PORT = 3702
NAMES = {
    "SOAP-ENV": "http://www.w3.org/2003/05/soap-envelope",
    "wsa": "http://schemas.xmlsoap.org/ws/2004/08/addressing",
    "wsd": "http://schemas.xmlsoap.org/ws/2005/04/discovery",
    "dn": "http://www.onvif.org/ver10/network/wsdl",
    "tds": "http://www.onvif.org/ver10/device/wsdl",
    "wsdp": "http://schemas.xmlsoap.org/ws/2006/02/devprof",
    "ter": "http://www.onvif.org/ver10/error",
}
XMLNS = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMES.items())
lock = threading.Lock()


def say(**fields):
    with lock:
        print(json.dumps(fields), flush=True)


def envelope(action, body, relates=None):
    header = f"<wsa:MessageID>urn:uuid:{uuid.uuid4()}</wsa:MessageID><wsa:Action>{NAMES['wsd']}/{action}</wsa:Action>"
    header += f"<wsa:RelatesTo>{relates}</wsa:RelatesTo>" if relates else ""
    # As gSOAP writes it: prefixes with a hyphen, line breaks, and a sequence that nobody needs.
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<SOAP-ENV:Envelope {XMLNS}>\n<SOAP-ENV:Header>{header}'
            f'<wsd:AppSequence InstanceId="1" MessageNumber="{random.randint(1, 9999)}"/></SOAP-ENV:Header>\n'
            f"<SOAP-ENV:Body>{body}</SOAP-ENV:Body></SOAP-ENV:Envelope>\n").encode()


def reference(endpoint):
    return f"<wsa:EndpointReference><wsa:Address>{endpoint}</wsa:Address></wsa:EndpointReference>"


class Device:
    def __init__(self, options):
        self.options = options
        self.endpoint = "urn:uuid:" + (options.endpoint or str(uuid.uuid4()))
        self.family = socket.AF_INET6 if options.ipv6 else socket.AF_INET
        self.index = socket.if_nametoindex(options.interface)
        self.group = (GROUPS[self.family], PORT, 0, self.index) if options.ipv6 else (GROUPS[self.family], PORT)
        # What it hears, and what it says: from its own address, which may not be the first of the interface.
        self.datagrams = self.voice = None

    def target(self):
        options = self.options
        if options.kind == "printer":
            return (reference(self.endpoint) + "<wsd:Types>wsdp:Device</wsd:Types>"
                    f"<wsd:XAddrs>http://{options.address}:5357/{uuid.uuid4()}/</wsd:XAddrs>"
                    "<wsd:MetadataVersion>2</wsd:MetadataVersion>")
        values = ("type/video_encoder", "name/" + options.name.replace(" ", "%20"), "hardware/RIG-1", "location/city/Bonn")
        scopes = "\n ".join("onvif://www.onvif.org/" + value for value in values)
        return (reference(self.endpoint) + "<wsd:Types>dn:NetworkVideoTransmitter tds:Device</wsd:Types>"
                f"<wsd:Scopes>\n {scopes}</wsd:Scopes><wsd:XAddrs>{options.xaddrs}</wsd:XAddrs>"
                "<wsd:MetadataVersion>1</wsd:MetadataVersion>")

    def join(self):
        s = socket.socket(self.family, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            s.bind(("::", PORT))
            group = socket.inet_pton(socket.AF_INET6, GROUPS[self.family])
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack("@I", self.index))
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, self.index)
            self.voice = s
        else:
            s.bind(("", PORT))
            choice = struct.pack("@4s4si", socket.inet_aton(GROUPS[self.family]), bytes(4), self.index)
            s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, choice)
            self.voice = socket.socket(self.family, socket.SOCK_DGRAM)
            self.voice.bind((self.options.address, 0))
            interface = struct.pack("@4s4si", bytes(4), bytes(4), self.index)
            self.voice.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
        self.datagrams = s

    def announce(self, action, body):
        # An address of IPv6 that is still being checked for duplicates cannot send yet.
        for _ in range(100):
            try:
                self.voice.sendto(envelope(action, body), self.group)
                return
            except OSError:
                time.sleep(0.1)

    def answer_probes(self):
        while True:
            data, source = self.datagrams.recvfrom(65535)
            text = data.decode(errors="replace")
            if not re.search(r"<(?:[\w-]+:)?Probe[\s/>]", text):
                continue
            types = re.search(r"Types[^>]*>([^<]*)<", text)
            say(asked="Probe", types=types[1] if types else "", source=source[0], one_line="\n" not in text)
            # It knows one of the three questions only, as real ones do.
            if self.options.kind == "camera" and types and types[1] != "dn:NetworkVideoTransmitter":
                continue
            message = re.search(r"MessageID[^>]*>([^<]*)<", text)
            time.sleep(random.random() * 0.4)  # APP_MAX_DELAY
            body = f"<wsd:ProbeMatches><wsd:ProbeMatch>{self.target()}</wsd:ProbeMatch></wsd:ProbeMatches>"
            answer = envelope("ProbeMatches", body, message and message[1])
            for _ in range(2):
                self.voice.sendto(answer, source)

    def disturb(self, *_):
        for number in range(self.options.flood):
            body = f"<wsd:Hello>{self.target().replace(self.endpoint, f'urn:uuid:{uuid.uuid4()}')}</wsd:Hello>"
            self.voice.sendto(envelope("Hello", body), self.group)
            if number % 100 == 99:
                time.sleep(0.02)
        if self.options.junk:
            bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;&c;</a>'
            for data in (b"", b"\0" * 2000, os.urandom(1400), b"<a>" * 20000, b"<" * 60000, bomb.encode(),
                         envelope("Hello", f"<wsd:Hello>{self.target()}</wsd:Hello>")[:700]):
                self.voice.sendto(data, self.group)
        say(disturbed=True)

    def serve(self, port, answer):
        s = socket.socket(socket.AF_INET6 if ":" in self.options.address else socket.AF_INET)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((self.options.address, port))
        s.listen(64)

        def accept():
            while True:
                connection, source = s.accept()
                threading.Thread(target=self.talk, args=(connection, source, port, answer), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()

    def talk(self, connection, source, port, answer):
        heard = b""
        connection.settimeout(30)
        try:
            with connection:
                greeting = answer(None)
                if greeting:
                    connection.sendall(greeting)
                while len(heard) < 65536:
                    data = connection.recv(4096)
                    if not data:
                        break
                    heard += data
                    text = heard.decode(errors="replace")
                    head, _, body = text.partition("\r\n\r\n")
                    length = re.search(r"Content-Length: (\d+)", head)
                    if "\r\n\r\n" in text and len(body.encode()) >= int(length[1] if length else 0):
                        reply = answer(text)
                        if reply:
                            connection.sendall(reply)
                        if reply and reply.startswith(b"HTTP"):
                            break
        except OSError:
            pass
        finally:
            say(asked="connection", port=port, source=source[0], heard=heard.decode(errors="replace"))

    def onvif(self, text):
        if text is None:
            return None
        if "GetDeviceInformation" in text and self.options.open:
            facts = dict(Manufacturer="Rig &amp; Co", Model="RIG-1", FirmwareVersion="1.2", SerialNumber="R1")
            fields = "".join(f"<tds:{name}>{value}</tds:{name}>" for name, value in facts.items())
            status, body = "200 OK", f"<tds:GetDeviceInformationResponse>{fields}</tds:GetDeviceInformationResponse>"
        elif "GetSystemDateAndTime" in text:
            status, body = "200 OK", "<tds:GetSystemDateAndTimeResponse/>"
        else:
            subcode = "<SOAP-ENV:Subcode><SOAP-ENV:Value>ter:NotAuthorized</SOAP-ENV:Value></SOAP-ENV:Subcode>"
            code = f"<SOAP-ENV:Code><SOAP-ENV:Value>SOAP-ENV:Sender</SOAP-ENV:Value>{subcode}</SOAP-ENV:Code>"
            status, body = "400 Bad Request", f"<SOAP-ENV:Fault>{code}</SOAP-ENV:Fault>"
        data = f"<SOAP-ENV:Envelope {XMLNS}><SOAP-ENV:Body>{body}</SOAP-ENV:Body></SOAP-ENV:Envelope>".encode()
        return (f"HTTP/1.1 {status}\r\nContent-Type: application/soap+xml\r\nContent-Length: {len(data)}\r\n"
                "Connection: close\r\n\r\n").encode() + data

    def begin(self):
        options = self.options
        if options.http:
            self.serve(options.http, self.onvif)
        for port in options.web:
            page = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            self.serve(port, lambda text: text and page)
        for port in options.ssh:
            self.serve(port, lambda text: b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n" if text is None else None)
        for port in options.mute:
            self.serve(port, lambda text: None)
        for port, status in (pair.split("=") for pair in options.rtsp):
            reply = f"RTSP/1.0 {status} X\r\nCSeq: 1\r\nPublic: OPTIONS, DESCRIBE\r\n\r\n".encode()
            self.serve(int(port), lambda text, reply=reply: text and reply)
        if options.kind != "quiet":
            self.join()
            self.announce("Hello", f"<wsd:Hello>{self.target()}</wsd:Hello>")
            threading.Thread(target=self.answer_probes, daemon=True).start()

    def end(self, *_):
        if self.voice:
            self.announce("Bye", f"<wsd:Bye>{reference(self.endpoint)}</wsd:Bye>")
        sys.exit(0)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--address", required=True)
    parser.add_argument("--interface", required=True)
    parser.add_argument("--ipv6", action="store_true")
    parser.add_argument("--endpoint")
    parser.add_argument("--xaddrs", default="")
    parser.add_argument("--name", default="Rig camera")
    parser.add_argument("--http", type=int)
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--kind", choices=("camera", "printer", "quiet"), default="camera")
    parser.add_argument("--rtsp", action="append", default=[])
    for server in ("web", "ssh", "mute"):
        parser.add_argument("--" + server, type=int, action="append", default=[])
    parser.add_argument("--flood", type=int, default=0)
    parser.add_argument("--junk", action="store_true")
    device = Device(parser.parse_args())
    # The main thread takes signals while the others serve.
    signals = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    device.begin()
    print("READY", device.endpoint, flush=True)
    while True:
        if signal.sigwait(signals) == signal.SIGUSR1:
            device.disturb()
        else:
            device.end()


main()
