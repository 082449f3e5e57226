#!/usr/bin/env python3
"""A camera as ONVIF sees it, with the habits and faults of real ones: Device, Media, Media2, Events (PullPoint), PTZ, and
a WS-Discovery target.

    onvif-camera.py [--bind 127.0.0.1] [--port 0] [--rtsp rtsp://127.0.0.1:8554/h264] [options]

Prints "READY <port> <endpoint reference>", then a JSON line for each request: operation, path, whether it was let in and
why, how many wrong logins there were so far ("wrong"), and what a command asked for. SIGTERM ends it (after a Bye, with --discovery). Debian packages: python3.

who may ask
  --auth wsse|digest|digest-sha256|both|text|basic|none   WS-UsernameToken, HTTP Digest (MD5, SHA-256), both of them
                        offered, PasswordText only, HTTP Basic only, no login needed
  --user admin --password s3cret   --qop auth|none|first (with the first challenge only)
  --fault-status 401    HTTP status of an authentication fault (400, 403, 500 are in use too)
  --soap11              faults as SOAP 1.1          --bare-401   no SOAP fault with it, only the status
  --only-zulu           refuses a Created that does not end with Z and whole seconds
  --forger              takes every login, and says what it was given ("given")
  --open-information    GetDeviceInformation for everybody
  --viewer              this user may look, and not move or configure (ter:OperationProhibited)
  --tls CERT KEY        https
its motors
  --refuse-stops N      the first N Stops are answered with a fault
  --lose-moves          a continuous movement begins, and the connection ends instead of an answer
its clock
  --skew S              S seconds off; a token more than 5 s from it is refused
  --utc-off S           UTCDateTime says S seconds more than the clock that checks tokens
  --local-off S         LocalDateTime likewise      --tz UTC0
  --no-date             no Date header              --no-clock   GetSystemDateAndTime is not implemented
  --clock-needs-auth    it requires a login too
  --set-clock S         from the fourth login on, everything is S seconds later, as after its first NTP answer
its addresses
  --xaddr-host H        services, streams and subscriptions name the host H
its services
  --no-endpoint         GetEndpointReference is not implemented, as in most cameras
  --no-media2  --empty-media2  --no-ptz  --no-events  --no-services (GetCapabilities only)  --no-snapshot
  --hevc                the main stream is H.265: Media2 says so, Media1 shows no encoder for it
  --profiles 2          --serial SN1   --mac 02:00:5e:00:53:01   --endpoint urn:uuid:…
  --latin1              its manufacturer is not UTF-8
  --escaped             its stream's address is escaped once too often
events
  --lifetime 60         seconds that a subscription is granted      --event-after 0.2   seconds
  --no-renew            Renew is refused            --forget N   each N-th pull: ter ResourceUnknownFault
  --pull-closes N       each N-th pull ends with the connection
  --absolute-only       a lifetime in seconds (PT60S) is not understood
  --refuse-pull N       the N-th pull is refused for its login    --long-key N   a reference parameter of N bytes
  --echo                messages to a subscription must come with its address and its reference parameters
  --flood N             N messages in each answer
the wire
  --chunked  --bom  --slow MS  --kapow N (closes the connection on each N-th request)
  --discovery IFADDR    answers Probes on that interface (IPv4 address, or IPv6%interface), says Hello and Bye
  --no-hello            but no Hello
"""

import argparse
import base64
import datetime
import email.utils
import hashlib
import http.server
import json
import random
import re
import signal
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import uuid
from xml.sax.saxutils import escape, unescape

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bind", default="127.0.0.1")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--rtsp", default="rtsp://127.0.0.1:8554/h264")
parser.add_argument("--auth", default="wsse", choices=["wsse", "digest", "digest-sha256", "both", "text", "basic", "none"])
parser.add_argument("--user", default="admin")
parser.add_argument("--password", default="s3cret")
parser.add_argument("--qop", default="auth", choices=["auth", "none", "first"])
parser.add_argument("--fault-status", type=int, default=401)
parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
parser.add_argument("--tz", default="UTC0")
parser.add_argument("--xaddr-host")
parser.add_argument("--serial", default="SN1")
parser.add_argument("--mac", default="02:00:5e:00:53:01")
parser.add_argument("--endpoint")
parser.add_argument("--profiles", type=int, default=2)
parser.add_argument("--discovery", metavar="IFADDR")
for name in ("skew", "utc-off", "local-off", "set-clock"):
    parser.add_argument("--" + name, type=float, default=0, metavar="S")
for name in ("refuse-stops", "refuse-pull", "long-key", "forget", "pull-closes", "flood", "slow", "kapow"):
    parser.add_argument("--" + name, type=int, default=0, metavar="N")
parser.add_argument("--lifetime", type=float, default=60)
parser.add_argument("--event-after", type=float, default=0.2)
for name in (
    "lose-moves soap11 bare-401 only-zulu forger no-hello open-information viewer no-date no-clock clock-needs-auth no-endpoint no-media2 empty-media2 "
    "no-ptz no-events no-services no-snapshot hevc latin1 escaped no-renew absolute-only echo chunked bom"
).split():
    parser.add_argument("--" + name, action="store_true")
args = parser.parse_args()

ORG = "http://www.onvif.org"
SPACES = {
    "s": "http://www.w3.org/2003/05/soap-envelope",
    "s11": "http://schemas.xmlsoap.org/soap/envelope/",
    "tds": ORG + "/ver10/device/wsdl",
    "trt": ORG + "/ver10/media/wsdl",
    "tr2": ORG + "/ver20/media/wsdl",
    "tev": ORG + "/ver10/events/wsdl",
    "tptz": ORG + "/ver20/ptz/wsdl",
    "tt": ORG + "/ver10/schema",
    "ter": ORG + "/ver10/error",
    "tns1": ORG + "/ver10/topics",
    "wsnt": "http://docs.oasis-open.org/wsn/b-2",
    "wsrf": "http://docs.oasis-open.org/wsrf/r-2",
    "wsa5": "http://www.w3.org/2005/08/addressing",
}
PTZ_SPACE = ORG + "/ver10/tptz"


def now():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=args.skew + State.later)


def iso(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def tags(prefix, **values):
    return "".join(f"<{prefix}:{name}>{value}</{prefix}:{name}>" for name, value in values.items())


def tt(**values):
    return tags("tt", **values)


def say(**line):
    with State.lock:  # one write for each line: threads answer at the same time
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


class Fault(Exception):
    """An answer that is a fault: its subcodes from outside to inside, and its reason."""

    def __init__(self, subcodes, reason, status=400, detail=""):
        super().__init__(reason)
        self.subcodes, self.reason, self.status, self.detail = subcodes.split("/"), reason, status, detail


class State:
    lock = threading.Lock()
    nonces = set()
    counts = {}
    later = 0.0  # of --set-clock
    subscriptions = {}  # number -> the moment at which it ends
    encoders = {}
    profiles = {}
    position = dict(pan=0.0, tilt=0.0, zoom=0.0)
    moving = False
    presets = {"1": ("Door", 0.25, -0.5, 0.0)}
    home = (0.0, 0.0, 0.0)

    @classmethod
    def count(cls, name):
        with cls.lock:
            cls.counts[name] = cls.counts.get(name, 0) + 1
            return cls.counts[name]


for index in range(args.profiles):
    token = f"VE{index + 1}"
    size = [(1920, 1080, 25, 4096), (640, 360, 15, 512)][min(index, 1)]
    codec = "H265" if args.hevc and index == 0 else "H264"
    State.encoders[token] = dict(zip(("width", "height", "fps", "kbps"), size), codec=codec, gop=50)
    State.profiles[f"Profile_{index + 1}"] = (["mainStream", "subStream"][min(index, 1)], token)


# Media, old and new


def multicast():
    return tt(Address=tt(Type="IPv4", IPv4Address="0.0.0.0"), Port=0, TTL=1, AutoStart="false")


def encoder1(token, tag):
    e = State.encoders[token]
    if e["codec"] == "H265":
        return ""
    codec = tt(H264=tt(GovLength=e["gop"], H264Profile="Main")) if e["codec"] == "H264" else ""
    content = tt(
        Name=token,
        UseCount=1,
        Encoding=e["codec"],
        Resolution=tt(Width=e["width"], Height=e["height"]),
        Quality=4,
        RateControl=tt(FrameRateLimit=round(e["fps"]), EncodingInterval=1, BitrateLimit=e["kbps"]),
    )
    return f'<{tag} token="{token}">{content}{codec}{tt(Multicast=multicast(), SessionTimeout="PT60S")}</{tag}>'


def encoder2(token, tag):
    e = State.encoders[token]
    rate = tt(FrameRateLimit=e["fps"], BitrateLimit=e["kbps"])
    content = tt(
        Name=token, UseCount=1, Encoding=e["codec"], Resolution=tt(Width=e["width"], Height=e["height"])
    ) + f'<tt:RateControl ConstantBitRate="true">{rate}</tt:RateControl>'
    attributes = f'token="{token}" GovLength="{e["gop"]}" Profile="Main"'
    return f"<{tag} {attributes}>{content}{tt(Multicast=multicast(), Quality=4)}</{tag}>"


def ptz_configuration(tag):
    content = tt(Name="PTZ", UseCount=1, NodeToken="PTZNode1", DefaultPTZTimeout="PT10S")
    return "" if args.no_ptz else f'<{tag} token="PTZ1">{content}</{tag}>'


def profiles(media2):
    answer = ""
    for token, (label, encoder) in State.profiles.items() if not (media2 and args.empty_media2) else ():
        if media2:
            content = tags("tr2", Name=label)
            parts = encoder2(encoder, "tr2:VideoEncoder") + ptz_configuration("tr2:PTZ")
            content += f"<tr2:Configurations>{parts}</tr2:Configurations>"
        else:
            content = tt(Name=label) + encoder1(encoder, "tt:VideoEncoderConfiguration")
            content += ptz_configuration("tt:PTZConfiguration")
        prefix = "tr2" if media2 else "trt"
        answer += f'<{prefix}:Profiles token="{token}" fixed="true">{content}</{prefix}:Profiles>'
    return answer


SIZES = [(1920, 1080), (1280, 720), (640, 360)]


def sizes():
    return "".join(tt(ResolutionsAvailable=tt(Width=w, Height=h)) for w, h in SIZES)


def span(low, high):
    return tt(Min=low, Max=high)


def options(media2):
    if media2:
        answer = ""
        for codec in ("H264", "H265"):
            content = tt(QualityRange=span(1, 6), Encoding=codec) + sizes() + tt(BitrateRange=span(64, 8192))
            attributes = 'GovLengthRange="1 250" FrameRatesSupported="25 20 15 10 5" ProfilesSupported="Main High"'
            answer += f"<tr2:Options {attributes}>{content}</tr2:Options>"
        return answer
    basic = sizes() + tt(GovLengthRange=span(1, 250), FrameRateRange=span(1, 25), EncodingIntervalRange=span(1, 1))
    basic += tt(H264ProfilesSupported="Main")
    extension = tt(Extension=tt(H264=basic + tt(BitrateRange=span(64, 8192))))
    return tags("trt", Options=tt(QualityRange=span(1, 6), H264=basic) + extension)


def set_encoder(body, media2):
    element = re.search(r"<(?:[\w-]+:)?Configuration\b([^>]*)>(.*)</(?:[\w-]+:)?Configuration>", body, re.S)
    token = element and re.search(r'token="([^"]*)"', element[1])
    if not token or token[1] not in State.encoders:
        raise Fault("ter:InvalidArgVal/ter:NoConfig", "no such configuration")

    def number(name):
        return float(field(element[2], name) or 0)

    change = dict(
        codec=field(element[2], "Encoding"),
        width=int(number("Width")),
        height=int(number("Height")),
        fps=number("FrameRateLimit") if media2 else int(field(element[2], "FrameRateLimit") or 0),
        kbps=int(number("BitrateLimit")),
    )
    gop = re.search(r'GovLength="(\d+)"', element[1]) if media2 else re.search(r"GovLength>(\d+)<", element[2])
    change["gop"] = int(gop[1]) if gop else 0
    fits = (change["width"], change["height"]) in SIZES and 1 <= change["fps"] <= 25 and 64 <= change["kbps"] <= 8192
    if not fits or change["codec"] not in (("H264", "H265") if media2 else ("H264",)):
        raise Fault("ter:InvalidArgVal/ter:ConfigModify", "the parameters are not possible to set")
    State.encoders[token[1]] = change
    return change


def media_uri(name, token):
    if name == "GetSnapshotUri":
        return f"{base()}/snap.jpg?a=1&amp;b=2"
    address = args.rtsp + ("" if token == "Profile_1" else "v")
    if args.xaddr_host:
        address = re.sub(r"//[^/:]+", "//" + args.xaddr_host, address)
    return escape(escape(address + "?x=1&y=2")) if args.escaped else escape(address)  # the outer one is XML's own


# Device


def base():
    return f"{'https' if args.tls else 'http'}://{args.xaddr_host or args.bind}:{PORT}"


def services():
    paths = {
        "ver10/device": "device_service",
        "ver10/media": "media",
        "ver20/media": None if args.no_media2 else "media2",
        "ver10/events": None if args.no_events else "events",
        "ver20/ptz": None if args.no_ptz else "ptz",
    }
    version = tags("tds", Version=tt(Major=2, Minor=60))
    return "".join(
        tags("tds", Service=tags("tds", Namespace=f"{ORG}/{name}/wsdl", XAddr=f"{base()}/onvif/{path}") + version)
        for name, path in paths.items()
        if path
    )


def capabilities():
    answer = tt(Device=tt(XAddr=base() + "/onvif/device_service"))
    if not args.no_events:
        answer += tt(
            Events=tt(
                XAddr=base() + "/onvif/events",
                WSSubscriptionPolicySupport="true",
                WSPullPointSupport="true",
                WSPausableSubscriptionManagerInterfaceSupport="false",
            )
        )
    streaming = tt(RTPMulticast="false", RTP_TCP="true", RTP_RTSP_TCP="true")
    answer += tt(Media=tt(XAddr=base() + "/onvif/media", StreamingCapabilities=streaming))
    return tags("tds", Capabilities=answer + ("" if args.no_ptz else tt(PTZ=tt(XAddr=base() + "/onvif/ptz"))))


def date_time(name, t):
    clock = tt(Hour=t.hour, Minute=t.minute, Second=t.second)
    return tt(**{name: tt(Time=clock, Date=tt(Year=t.year, Month=t.month, Day=t.day))})


def system_time():
    if args.no_clock:
        raise Fault("ter:ActionNotSupported", "not implemented: GetSystemDateAndTime")
    utc = now() + datetime.timedelta(seconds=args.utc_off)
    local = now() + datetime.timedelta(seconds=args.local_off)
    zone = tt(DateTimeType="NTP", DaylightSavings="false", TimeZone=tt(TZ=args.tz))
    return tags("tds", SystemDateAndTime=zone + date_time("UTCDateTime", utc) + date_time("LocalDateTime", local))


def network():
    info = tt(Enabled="true", Info=tt(Name="eth0", HwAddress=args.mac, MTU=1500))
    return f'<tds:NetworkInterfaces token="eth0">{info}</tds:NetworkInterfaces>'


# PTZ


def field(text, name):
    found = re.search(rf"<(?:[\w-]+:)?{name}\b[^>]*>([^<]*)<", text)
    return unescape(found[1].strip(), {"&quot;": '"'}) if found else ""


def vector(body):
    pan_tilt = re.search(r'PanTilt x="(-?[\d.]+)" y="(-?[\d.]+)"', body)
    zoom = re.search(r'Zoom x="(-?[\d.]+)"', body)
    return pan_tilt and (float(pan_tilt[1]), float(pan_tilt[2])), zoom and float(zoom[1])


def ptz(name, body):
    """(the answer's content, what was asked for)"""
    if field(body, "ProfileToken") not in State.profiles:
        raise Fault("ter:InvalidArgVal/ter:NoProfile", "no such profile")
    pan_tilt, zoom = vector(body)
    requested = dict(pan=pan_tilt and pan_tilt[0], tilt=pan_tilt and pan_tilt[1], zoom=zoom)
    if name == "ContinuousMove":
        State.moving = True
        return "", dict(requested, timeout=field(body, "Timeout"))
    if name == "AbsoluteMove":
        State.position.update({axis: value for axis, value in requested.items() if value is not None})
        return "", requested
    if name == "Stop":
        if State.count("stops") <= args.refuse_stops:
            raise Fault("ter:InvalidArgVal", "not now")
        State.moving = False
        return "", {}
    if name == "GetStatus":
        p = State.position
        place = f'<tt:PanTilt x="{p["pan"]}" y="{p["tilt"]}"/><tt:Zoom x="{p["zoom"]}"/>'
        return tags("tptz", PTZStatus=tt(Position=place, UtcTime=iso(now()))), {}
    if name == "GetPresets":
        return "".join(
            f'<tptz:Preset token="{escape(token)}">{tt(Name=escape(preset[0]))}</tptz:Preset>'
            for token, preset in State.presets.items()
        ), {}
    if name == "SetPreset":
        token = field(body, "PresetToken") or str(len(State.presets) + 1)
        State.presets[token] = (field(body, "PresetName"), *State.position.values())
        return tags("tptz", PresetToken=token), dict(token=token, name=State.presets[token][0])
    if name == "GotoPreset":
        token = field(body, "PresetToken")
        if token not in State.presets:
            raise Fault("ter:InvalidArgVal/ter:NoToken", "no such preset")
        State.position.update(zip(("pan", "tilt", "zoom"), State.presets[token][1:]))
        return "", dict(token=token)
    if name == "GotoHomePosition":
        State.position.update(zip(("pan", "tilt", "zoom"), State.home))
        return "", {}
    return None


# Events


def times(prefix):
    end = now() + datetime.timedelta(seconds=args.lifetime)
    current = tags(prefix, CurrentTime=iso(now())) if prefix else ""
    return current + tags(prefix or "wsnt", TerminationTime=iso(end))


def notification(on, operation):
    source = '<tt:Source><tt:SimpleItem Name="VideoSourceConfigurationToken" Value="VS1"/></tt:Source>'
    data = f'<tt:Data><tt:SimpleItem Name="IsMotion" Value="{"true" if on else "false"}"/></tt:Data>'
    return (
        f'<wsnt:NotificationMessage><wsnt:Topic Dialect="{ORG}/ver10/tev/topicExpression/ConcreteSet">'
        "tns1:RuleEngine/CellMotionDetector/Motion</wsnt:Topic><wsnt:Message>"
        f'<tt:Message UtcTime="{iso(now())}" PropertyOperation="{operation}">{source}{data}</tt:Message>'
        "</wsnt:Message></wsnt:NotificationMessage>"
    )


def subscription_of(path, header):
    """The number of the subscription that a message is for; a fault for one that is not (any more)."""
    unknown = Fault(
        "ter:InvalidArgVal", "resource unknown", 400, f"<wsrf:ResourceUnknownFault>{path}</wsrf:ResourceUnknownFault>"
    )
    found = re.search(r"/sub(\d+)$", path)
    number = int(found[1]) if found else 0
    if args.echo:
        address = f"{base()}/onvif/sub{number}"
        if field(header, "To") != address or not re.search(rf"<(\w+:)?Key\b[^>]*>{number}</", header):
            raise unknown
    if State.subscriptions.get(number, 0) < time.monotonic():
        raise unknown
    return number


def events(name, body, header, path):
    """The content and the prefix of the answer."""
    if name == "CreatePullPointSubscription":
        if args.absolute_only and re.search(r"InitialTerminationTime>P", body):
            raise Fault("ter:InvalidArgVal", "InitialTerminationTime")
        number = State.count("subscriptions")
        State.subscriptions[number] = time.monotonic() + args.lifetime
        key = f'<cam:Key xmlns:cam="urn:example:camera">{number}</cam:Key>'
        key += f'<cam:Long xmlns:cam="urn:example:camera">{"x" * args.long_key}</cam:Long>' if args.long_key else ""
        parameters = tags("wsa5", ReferenceParameters=key) if args.echo or args.long_key else ""
        address = tags("wsa5", Address=f"{base()}/onvif/sub{number}") + parameters
        return tags("tev", SubscriptionReference=address) + times("wsnt"), "tev"
    number = subscription_of(path, header)
    if name == "PullMessages":
        pulls = State.count("pulls")
        if pulls == args.refuse_pull:
            raise Fault("ter:NotAuthorized/ter:OperationProhibited", "the user has not this right any more")
        if args.forget and pulls % args.forget == 0:
            del State.subscriptions[number]
            subscription_of(path, header)
        first = State.count(f"pulls of {number}") == 1
        if not first:
            time.sleep(args.event_after)
        if args.pull_closes and pulls % args.pull_closes == 0:
            return None, "tev"
        left = max(0.0, State.subscriptions[number] - time.monotonic())
        end = tags("tev", CurrentTime=iso(now()), TerminationTime=iso(now() + datetime.timedelta(seconds=left)))
        if first:
            return end + notification(False, "Initialized"), "tev"
        return end + notification(pulls % 2, "Changed") * (args.flood or 1), "tev"
    if name == "Renew":
        if args.no_renew:
            raise Fault("ter:ActionNotSupported", "not implemented: Renew")
        State.subscriptions[number] = time.monotonic() + args.lifetime
        return times("wsnt"), "wsnt"
    del State.subscriptions[number]
    return "", "wsnt"


# Who asks


def username_token(message):
    user, password, nonce, created = (field(message, x) for x in ("Username", "Password", "Nonce", "Created"))
    if not user:
        return False, "no token"
    if args.forger:
        return True, "forged"
    if user != args.user:
        return False, "user"
    with State.lock:
        if nonce in State.nonces:
            return False, "replayed nonce"
        State.nonces.add(nonce)
    if args.only_zulu and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created):
        return False, "not Zulu: " + created
    try:
        moment = datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", created).replace("Z", "+00:00"))
        raw = base64.b64decode(nonce, validate=True)
    except ValueError:
        return False, "unreadable: " + created
    drift = (moment.replace(tzinfo=moment.tzinfo or datetime.timezone.utc) - now()).total_seconds()
    if abs(drift) > 5:
        return False, "clock drift %.0f s" % drift
    plain = "PasswordText" in message
    if plain or args.auth == "text":
        return plain and args.auth == "text" and password == args.password, "text"
    expected = hashlib.sha1(raw + created.encode() + args.password.encode()).digest()
    return password == base64.b64encode(expected).decode(), "digest"


def http_digest(header, method):
    if not header.startswith("Digest"):
        return False, "no http digest"
    if args.forger:
        return True, "forged"
    values = {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|[^,\s]+)', header)}
    sha256 = args.auth == "digest-sha256"
    if sha256 and values.get("algorithm") != "SHA-256":
        return False, "algorithm " + str(values.get("algorithm"))

    def digest(text):
        return hashlib.new("sha256" if sha256 else "md5", text.encode()).hexdigest()

    middle = ":".join(["", *(values.get(k, "") for k in ("nc", "cnonce", "qop"))]) if values.get("qop") else ""
    a1 = digest(f"{args.user}:{values.get('realm')}:{args.password}")
    a2 = digest(f"{method}:{values.get('uri')}")
    return values.get("response") == digest(f"{a1}:{values.get('nonce')}{middle}:{a2}"), "http digest"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def send_response(self, code, message=None):
        self.send_response_only(code, message)
        if not args.no_date:
            self.send_header("Date", email.utils.format_datetime(now(), usegmt=True))

    def respond(self, status, content, headers=()):
        declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in SPACES.items())
        soap = "s11" if content.startswith("<s11:") else "s"
        xml = f'<?xml version="1.0" encoding="UTF-8"?>\n<{soap}:Envelope {declared}>'
        xml += f"<{soap}:Body>{content}</{soap}:Body></{soap}:Envelope>"
        data = xml.encode("latin-1" if args.latin1 else "utf-8")
        data = (b"\xef\xbb\xbf" if args.bom else b"") + data
        self.send_response(status)
        self.send_header("Content-Type", "application/soap+xml; charset=utf-8")
        for name, value in headers:
            self.send_header(name, value)
        if args.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(data), 500):
                piece = data[at : at + 500]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def fault(self, fault, headers=()):
        if args.soap11:
            code = f"<faultcode>{fault.subcodes[-1]}</faultcode><faultstring>{fault.reason}</faultstring>"
            content = f"{code}<detail>{fault.detail}</detail>"
            return self.respond(fault.status, f"<s11:Fault>{content}</s11:Fault>", headers)
        subcode = ""
        for name in reversed(fault.subcodes):
            subcode = tags("s", Subcode=tags("s", Value=name) + subcode)
        code = tags("s", Code=tags("s", Value="s:Sender") + subcode)
        text = f'<s:Reason><s:Text xml:lang="en">{fault.reason}</s:Text></s:Reason>'
        detail = tags("s", Detail=fault.detail) if fault.detail else ""
        self.respond(fault.status, f"<s:Fault>{code}{text}{detail}</s:Fault>", headers)

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was faster

    def authenticate(self, name, message):
        is_open = name == "GetSystemDateAndTime" and not args.clock_needs_auth
        if args.auth == "none" or is_open or (args.open_information and name == "GetDeviceInformation"):
            return True, "open"
        token, digest = (False, "-"), (False, "-")
        if args.auth in ("wsse", "both", "text"):
            token = username_token(message)
        if args.auth == "basic":
            expected = base64.b64encode(f"{args.user}:{args.password}".encode()).decode()
            shown = self.headers.get("Authorization", "")
            digest = (shown == "Basic " + expected, "basic" if shown.startswith("Basic") else "no basic")
        if args.auth in ("digest", "digest-sha256", "both"):
            digest = http_digest(self.headers.get("Authorization", ""), "POST")
        return token[0] or digest[0], f"wsse:{token[1]} http:{digest[1]}"

    def do_POST(self):
        message = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
        parts = re.split(r"<(?:[\w-]+:)?Body[^>]*>", message, maxsplit=1)
        header, body = parts if len(parts) == 2 else ("", "")
        operation = re.match(r"\s*<(?:[\w-]+:)?(\w+)", body)
        name = operation[1] if operation else "?"
        number = State.count("requests")
        time.sleep(args.slow / 1000)
        if args.kapow and number % args.kapow == 0:
            return self.hang_up()
        ok, why = self.authenticate(name, message)
        if ok and why != "open" and args.set_clock and State.count("logins") == 3:
            State.later = args.set_clock
        line = dict(op=name, path=self.path, ok=ok, why=why, to=field(header, "To"))
        shown = self.headers.get("Authorization") or field(header, "Password")
        if shown and args.forger:
            line["given"] = shown
        if shown and not ok:
            line["wrong"] = State.count("wrong logins")
        if not ok:
            say(**line)
            challenge = f'Digest realm="onvif", nonce="{random.getrandbits(96):x}"'
            is_first = State.count("challenges") == 1
            challenge += ', qop="auth"' if args.qop == "auth" or (args.qop == "first" and is_first) else ""
            challenge += ", algorithm=SHA-256" if args.auth == "digest-sha256" else ""
            challenge = 'Basic realm="onvif"' if args.auth == "basic" else challenge
            offers = args.auth in ("digest", "digest-sha256", "both", "basic")
            headers = [("WWW-Authenticate", challenge)] if offers else []
            status = args.fault_status if not headers else 401
            if args.bare_401:
                self.send_response(401)
                for header_name, value in headers:
                    self.send_header(header_name, value)
                self.send_header("Content-Length", "0")
                return self.end_headers()
            return self.fault(Fault("ter:NotAuthorized", "Sender not authorized", status), headers)
        try:
            content, prefix, asked = self.answer(name, body, header)
            line.update(asked)
        except Fault as fault:
            line["fault"] = fault.subcodes[-1]
            say(**line)
            return self.fault(fault)
        say(**line)
        if content is None:
            return self.hang_up()
        self.respond(200, f"<{prefix}:{name}Response>{content}</{prefix}:{name}Response>")

    def answer(self, name, body, header):
        """(content, prefix, what a command asked for); no content: the connection ends."""
        media2 = "media2" in self.path
        media = "tr2" if media2 else "trt"
        if args.viewer and (name.startswith(("Set", "Goto")) or name in ("ContinuousMove", "AbsoluteMove", "Stop")):
            if name != "SetSynchronizationPoint":
                raise Fault("ter:NotAuthorized/ter:OperationProhibited", "the user has not this right")
        if name == "GetSystemDateAndTime":
            return system_time(), "tds", {}
        if name == "GetDeviceInformation":
            facts = dict(
                Manufacturer="Fabrik Übersee" if args.latin1 else "SimCo",
                Model="WB-1",
                FirmwareVersion="1.0",
                SerialNumber=args.serial,
                HardwareId="1",
            )
            return tags("tds", **facts), "tds", {}
        if name == "GetCapabilities":
            return capabilities(), "tds", {}
        if name == "GetServices" and not args.no_services:
            return services(), "tds", {}
        if name == "GetNetworkInterfaces":
            return network(), "tds", {}
        if name == "GetEndpointReference" and not args.no_endpoint:
            return tags("tds", GUID=ENDPOINT), "tds", {}
        if name == "GetProfiles":
            return profiles(media2), media, {}
        if name == "GetStreamUri" or (name == "GetSnapshotUri" and not args.no_snapshot):
            token = field(body, "ProfileToken")
            if token not in State.profiles:
                raise Fault("ter:InvalidArgVal/ter:NoProfile", "no such profile")
            address = media_uri(name, token)
            if media2:
                return tags("tr2", Uri=address), media, {}
            rest = tt(InvalidAfterConnect="false", InvalidAfterReboot="false", Timeout="PT60S")
            return tags("trt", MediaUri=tt(Uri=address) + rest), media, {}
        if name == "GetVideoEncoderConfigurations":
            one = encoder2 if media2 else encoder1
            return "".join(one(token, media + ":Configurations") for token in State.encoders), media, {}
        if name == "GetVideoEncoderConfigurationOptions":
            return options(media2), media, {}
        if name == "SetVideoEncoderConfiguration":
            return "", media, set_encoder(body, media2)
        if name == "SetSynchronizationPoint":
            return "", media, dict(token=field(body, "ProfileToken"))
        known = ("CreatePullPointSubscription", "PullMessages", "Renew", "Unsubscribe")
        if name in known and not args.no_events:
            return *events(name, body, header, self.path), {}
        if name == "ContinuousMove" and args.lose_moves:
            return None, "tptz", ptz(name, body)[1]
        moved = None if args.no_ptz else ptz(name, body) if self.path.endswith("/ptz") else None
        if moved is None:
            raise Fault("ter:ActionNotSupported", "not implemented: " + name)
        return moved[0], "tptz", moved[1]

    def do_GET(self):
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    address_family = socket.AF_INET6 if ":" in args.bind else socket.AF_INET

    def server_bind(self):  # HTTPServer's own asks the resolver for a name, which takes seconds where there is none
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        pass  # a client that goes away, or refuses our certificate

    def finish_request(self, request, client_address):
        if args.tls:  # here, in the connection's own thread, since the handshake waits for the client
            request = TLS.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)


# WS-Discovery

GROUPS = {socket.AF_INET: "239.255.255.250", socket.AF_INET6: "ff02::c"}
WSD_PORT = 3702


def discovery_message(action, body, to="urn:schemas-xmlsoap-org:ws:2005:04:discovery", relates_to=None):
    discovery = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    names = {
        "SOAP-ENV": SPACES["s"],
        "wsa": "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        "d": discovery,
        "dn": ORG + "/ver10/network/wsdl",
        "tds": SPACES["tds"],
    }
    declared = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in names.items())
    header = tags("wsa", MessageID=f"uuid:{uuid.uuid4()}")
    header += tags("wsa", RelatesTo=relates_to) if relates_to else ""
    header += tags("wsa", To=to, Action=f"{discovery}/{action}")
    header += f'<d:AppSequence InstanceId="1" MessageNumber="{random.randint(1, 9999)}"/>'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><SOAP-ENV:Envelope {declared}>'
        f"<SOAP-ENV:Header>{header}</SOAP-ENV:Header><SOAP-ENV:Body>{body}</SOAP-ENV:Body></SOAP-ENV:Envelope>"
    ).encode()


def target():
    """What Hello and ProbeMatch say: endpoint, types, scopes, and two addresses of which one cannot be reached."""
    names = ("type/video_encoder", "Profile/Streaming", "name/Sim%20Cam", "hardware/WB-1", "location/")
    scopes = " ".join(f"{ORG.replace('http', 'onvif')}/{name}" for name in names)
    host = f"[{args.bind.split('%')[0]}]" if ":" in args.bind else args.bind
    address = f"http://{args.xaddr_host or host}:{PORT}/onvif/device_service"
    return (
        tags("wsa", EndpointReference=tags("wsa", Address=ENDPOINT))
        + tags("d", Types="dn:NetworkVideoTransmitter tds:Device", Scopes=scopes)
        + tags("d", XAddrs=f"{address} http://[fe80::1]:{PORT}/onvif/device_service", MetadataVersion=1)
    )


def discovery_socket(interface):
    """A socket in the group on one interface, and where to send to."""
    family = socket.AF_INET6 if "%" in interface else socket.AF_INET
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        index = socket.if_nametoindex(interface.split("%")[1])
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.bind(("::", WSD_PORT))
        member = socket.inet_pton(family, GROUPS[family]) + struct.pack("@I", index)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, member)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        return s, (GROUPS[family], WSD_PORT, 0, index)
    s.bind(("", WSD_PORT))
    address = socket.inet_aton(interface)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUPS[family]) + address)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, address)
    return s, (GROUPS[family], WSD_PORT)


def answer_probes(s):
    while True:
        data, source = s.recvfrom(65535)
        text = data.decode(errors="replace")
        if not re.search(r"<(?:[\w-]+:)?Probe[\s/>]", text):
            continue
        requested = field(text, "Types")
        if requested and "NetworkVideoTransmitter" not in requested and "Device" not in requested:
            continue
        time.sleep(random.random() * 0.3)  # a target waits up to APP_MAX_DELAY (500 ms)
        body = tags("d", ProbeMatches=tags("d", ProbeMatch=target()))
        to = "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous"
        s.sendto(discovery_message("ProbeMatches", body, to, field(text, "MessageID")), source)
        say(op="Probe", frm=source[0])


if args.tls:
    TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    TLS.load_cert_chain(*args.tls)
server = Server((args.bind, args.port), Handler)
PORT = server.server_port
ENDPOINT = args.endpoint or "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{args.bind}:{PORT}"))
if args.discovery:
    wsd, group = discovery_socket(args.discovery)
    if not args.no_hello:
        wsd.sendto(discovery_message("Hello", tags("d", Hello=target())), group)
    threading.Thread(target=answer_probes, args=(wsd,), daemon=True).start()


def stop(*_):
    if args.discovery:
        endpoint = tags("wsa", EndpointReference=tags("wsa", Address=ENDPOINT))
        wsd.sendto(discovery_message("Bye", tags("d", Bye=endpoint)), group)
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
print("READY", PORT, ENDPOINT, flush=True)
server.serve_forever()
