"""The checks, one function for each group."""
import re
import signal

from boxed.checks import Not, poll

ENDPOINT = "2419d68a-2dd2-21b2-a205-00000000000"
# A Probe to the group by whatever way the machine chooses, as naive programs send it; who answers is printed.
NAIVE = """
import socket, time, uuid
names = 'xmlns:e="http://www.w3.org/2003/05/soap-envelope" xmlns:w="http://schemas.xmlsoap.org/ws/2004/08/addressing" '
names += 'xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"'
head = f'<w:MessageID>uuid:{uuid.uuid4()}</w:MessageID><w:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</w:To>'
head += '<w:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</w:Action>'
body = '<d:Probe><d:Types>dn:NetworkVideoTransmitter</d:Types></d:Probe>'
text = f'<e:Envelope {names}><e:Header>{head}</e:Header><e:Body>{body}</e:Body></e:Envelope>'
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.5)
end, heard = time.monotonic() + 60, set()
while time.monotonic() < end:
    if "10.77.0.2" not in heard:
        s.sendto(text.encode(), ("239.255.255.250", 3702))
    try:
        heard.add(s.recvfrom(65535)[1][0])
        # The others have a second more.
        if "10.77.0.2" in heard:
            end = min(end, time.monotonic() + 1)
    except socket.timeout:
        pass
print(*heard)
"""


def library_camera(world, checks):
    """A camera of another implementation behind the second interface, or one of our own."""
    if world.library:
        return world.ready(world.start(
            "west", world.library, world.project / "Tests/Rigs/discovery/library-camera.py",
            "http://10.78.0.2/onvif/device_service"))
    checks.note("PyPI WSDiscovery is not there (make python-peers), a device of our own takes its place")
    return world.device("west", "10.78.0.2", "--xaddrs", "http://10.78.0.2/onvif/device_service")


def onvif_camera(world, *options):
    """The simulator of Tests/Rigs/onvif behind the first interface, at port 80."""
    return world.ready(world.start(
        "east", "python3", world.project / "Tests/Rigs/onvif/onvif-camera.py", "--bind", "10.77.0.2", "--port", "80",
        "--discovery", "10.77.0.2", *options))


def no_secret(checks, what, devices):
    """Nothing that a login is made of came to any device."""
    heard = "\n".join(device.text for device in devices)
    words = re.findall(r"(?i)authorization|usernametoken|password|wsse:|security", heard)
    checks.expect(f"{what}: no credentials were sent", not words, f"{words} in\n{heard}")


def complete(world, expected, *words, others=()):
    """The number of searches until one found all these addresses, and that one: an answer to one comes within five seconds, or not, as
    the machine lets it. What must not be found (neither these nor others) ends it as well, and is left to the caller to check."""
    for count in range(1, 6):
        found = world.search(*words)
        addresses = {device["address"] for device in found.devices}
        if expected <= addresses or addresses - expected - set(others):
            break
    return count, found


def search(world, checks):
    simulator = onvif_camera(world, "--xaddr-host", "0.0.0.0")
    library_camera(world, checks)
    printer = world.device("east", "10.77.0.3", "--kind", "printer")
    # It announces an address from before its last move, and answers one of the three questions only, twice.
    stale = world.device(
        "west", "10.78.0.4", "--name", "Front door", "--http", "8000", "--open", "--endpoint", f"{ENDPOINT}4",
        "--xaddrs", "http://192.168.1.64:8000/onvif/device_service http://[fe80::1]:8000/onvif/device_service")
    inside = world.link_local("east", "wire")
    sixth = world.device(
        "east", "10.77.0.6", "--ipv6", "--name", "Sixth", "--endpoint", f"{ENDPOINT}6",
        "--xaddrs", "http://[fe80::1]:8080/onvif/device_service")
    for link in ("east", "west"):
        world.link_local("box", link)
    sixths = {f"{inside}%east"} if inside else set()

    naive = set(world.run("box", "python3", "-c", NAIVE).stdout.split())
    checks.expect("the trap is one: a probe by the default way reaches the first network only",
                  "10.77.0.2" in naive and not any(source.startswith("10.78.") for source in naive), naive)
    searches, found = complete(world, {"10.77.0.2", "10.78.0.2", "10.78.0.4"} | sixths)
    checks.same("four cameras on two networks, each one once", len(found.devices), 4) or checks.note(str(found))
    one = found.at("10.77.0.2")
    checks.same("a camera that names 0.0.0.0 is found under its own address",
                [(d["kind"], d["source"], d["xaddrs"], d["networks"], d.get("needsLogin")) for d in one],
                [("onvif", "onvif://10.77.0.2", ["http://10.77.0.2/onvif/device_service"], ["east"], True)])
    two = found.at("10.78.0.2")
    checks.same("the camera of another implementation, which answers each Probe twice",
                [(d["kind"], d["source"], d["networks"]) for d in two], [("onvif", "onvif://10.78.0.2", ["west"])])
    if world.library:
        checks.same("its name is read from its scopes", [(d.get("name"), d.get("hardware")) for d in two],
                    [("Library camera", "WB-1")])
    moved = found.at("10.78.0.4")
    checks.same("a camera with an outdated address is found where it answered, and says who it is",
                [(d["xaddrs"], d["endpoint"], d["name"], d.get("manufacturer"), d.get("serial"), d.get("needsLogin"),
                  d.get("location")) for d in moved],
                [(["http://10.78.0.4:8000/onvif/device_service", "http://192.168.1.64:8000/onvif/device_service"],
                  f"urn:uuid:{ENDPOINT}4", "Front door", "Rig & Co", "R1", False, "city/Bonn")])
    if inside:
        checks.same("a camera that hears only IPv6 is found by FF02::C, with the zone that it left out",
                    [(d["address"], d["xaddrs"], d["networks"]) for d in found.devices if d.get("name") == "Sixth"],
                    [(f"{inside}%east", [f"http://[{inside}%25east]:8080/onvif/device_service"], ["east"])])
    checks.until("the printer was asked and is not listed",
                 lambda: any(line.get("asked") == "Probe" for line in printer.lines) and not found.at("10.77.0.3"))

    def questions():
        probes = [line for line in stale.lines if line.get("asked") == "Probe"]
        types = sorted(line["types"] for line in probes if line["source"].startswith("10.78."))
        expected = sorted(2 * searches * ["", "dn:NetworkVideoTransmitter", "tds:Device"])
        return types == expected and all(line["one_line"] for line in probes) or Not(f"{searches} searches: {probes}")
    # The device may report it after the search has ended.
    checks.until("three questions, each twice, in one line each", questions, 30)
    checks.same("nothing was left out", found.last["problems"], [])
    listed = next((p["milliseconds"] for p in found.progress if p["found"] == 4), None)
    checks.note(f"all four listed after {listed} ms, done after {found.last['milliseconds']} ms")

    _, only = complete(world, {"10.78.0.2", "10.78.0.4"}, "--interface", "west")
    checks.same("a search on one interface finds what is there", sorted(d["address"] for d in only.devices),
                ["10.78.0.2", "10.78.0.4"])
    unknown = world.search("--interface", "eth9")
    checks.expect("an interface that is not there is refused, with those that are",
                  unknown.last["event"] == "error" and "east" in unknown.last["error"], unknown)
    world.ip("link", "set", "west", "down", space="box")
    more, without = complete(world, {"10.77.0.2"}, others=sixths)
    checks.expect("a network that is down does not affect the other", without.at("10.77.0.2")
                  and not without.at("10.78.0.2"), without)
    no_secret(checks, "a search", [stale, sixth, printer])
    # It reports how it understood each request, not the request.
    asked = [line for line in simulator.lines if line["op"] != "Probe"]
    checks.expect("the simulator was asked once who it is, without a login",
                  2 <= len(asked) <= searches + more and {line["op"] for line in asked} == {"GetDeviceInformation"}
                  and all(not line["ok"] and "no token" in line["why"] for line in asked), asked)


def announced(world, checks):
    listener = world.check("listen", "--rescan", "1")

    def networks():
        states = [line for line in listener.lines if line["event"] == "listening"]
        return states[-1].get("networks", []) if states else []

    def heard(**expected):
        return [line["announcement"] for line in listener.lines if line["event"] == "announcement"
                and all(line["announcement"].get(key) == value for key, value in expected.items())]

    checks.until("both networks are listened on", lambda: networks() == ["east", "west"], needed=True)
    simulator = onvif_camera(world, "--xaddr-host", "127.0.0.1")
    checks.until("a Hello from the first network, its address repaired",
                 lambda: heard(kind="hello", address="10.77.0.2", network="east",
                               url="http://10.77.0.2/onvif/device_service"))
    camera = library_camera(world, checks)
    checks.until("a Hello from the second network",
                 lambda: heard(kind="hello", address="10.78.0.2", network="west"))
    simulator.end()
    camera.end()
    checks.until("a Bye from the first network", lambda: heard(kind="bye", address="10.77.0.2"))
    checks.until("a Bye from the second network", lambda: heard(kind="bye", address="10.78.0.2"))
    # The library sends each of them four times.
    checks.same("each message once", [len(heard(kind=kind, address="10.78.0.2")) for kind in ("hello", "bye")], [1, 1])

    url = "http://0.0.0.0/onvif/device_service"
    before = world.device("east", "10.77.0.5", "--endpoint", f"{ENDPOINT}5", "--xaddrs", url)
    before.signal(signal.SIGKILL)
    world.device("west", "10.78.0.7", "--endpoint", f"{ENDPOINT}5", "--xaddrs", url)
    checks.until("a camera that moves says so from its new address, as the same camera",
                 lambda: [h["url"] for h in heard(kind="hello", endpoint=f"urn:uuid:{ENDPOINT}5")]
                 == ["http://10.77.0.5/onvif/device_service", "http://10.78.0.7/onvif/device_service"])

    world.device("east", "10.77.0.3", "--endpoint", f"{ENDPOINT}3",
                 "--xaddrs", "http://203.0.113.9:81/o http://collector.example:81/o http://012.0.0.9:81/o")
    checks.until("who names a host of the Internet is looked for where it spoke",
                 lambda: heard(kind="hello", endpoint=f"urn:uuid:{ENDPOINT}3", url="http://10.77.0.3:81/o"))

    world.ip("addr", "add", "203.0.113.9/32", "dev", "wire", space="east")
    world.device("east", "203.0.113.9", "--endpoint", f"{ENDPOINT}a", "--xaddrs", url)
    world.device("east", "10.77.0.9", "--endpoint", f"{ENDPOINT}b", "--xaddrs", url)
    checks.until("a Hello from near is heard after one that gives an address of the Internet as its sender",
                 lambda: heard(kind="hello", endpoint=f"urn:uuid:{ENDPOINT}b"))
    checks.same("which is not passed on", heard(endpoint=f"urn:uuid:{ENDPOINT}a"), [])

    inside = world.link_local("east", "wire")
    if inside:
        sixth = world.device("east", "10.77.0.6", "--ipv6", "--endpoint", f"{ENDPOINT}6", "--xaddrs", url)
        checks.until("a Hello over IPv6, with its zone",
                     lambda: heard(kind="hello", address=f"{inside}%east",
                                   url=f"http://[{inside}%25east]/onvif/device_service"))
        sixth.end()
        checks.until("and its Bye", lambda: heard(kind="bye", address=f"{inside}%east"))
    else:
        checks.note("this kernel gives no IPv6 addresses")

    world.add_space("late")
    world.connect("box", "late", "10.80.0.1", "late", "wire", ["10.80.0.2"])
    checks.until("a network that comes later is joined", lambda: networks() == ["east", "late", "west"])
    world.device("late", "10.80.0.2", "--xaddrs", url)
    checks.until("and heard", lambda: heard(kind="hello", address="10.80.0.2", network="late"))
    world.ip("link", "set", "late", "down", space="box")
    checks.until("a network that goes is left", lambda: networks() == ["east", "west"])
    world.ip("link", "set", "late", "up", space="box")
    world.ip("addr", "flush", "dev", "late", space="box")
    world.ip("addr", "add", "10.80.0.9/24", "dev", "late", space="box")
    checks.until("a network that comes back under another address is joined again",
                 lambda: networks() == ["east", "late", "west"])
    world.device("late", "10.80.0.2", "--endpoint", f"{ENDPOINT}8", "--xaddrs", url)
    checks.until("and heard again", lambda: heard(kind="hello", endpoint=f"urn:uuid:{ENDPOINT}8"))

    noisy = world.device("east", "10.77.0.8", "--flood", "3000", "--junk", "--xaddrs", url)
    noisy.signal(signal.SIGUSR1)
    checks.until("a device floods the network and sends invalid messages", lambda: "disturbed" in noisy.text)
    quiet = world.device("west", "10.78.0.9", "--endpoint", f"{ENDPOINT}9", "--xaddrs", url)
    checks.until("who speaks meanwhile is heard", lambda: heard(kind="hello", endpoint=f"urn:uuid:{ENDPOINT}9"))
    passed = len(heard(address="10.77.0.8"))
    checks.expect("of the flood little is passed on", 0 < passed < 1500, f"{passed} of 3000")
    checks.note(f"{passed} of 3000 were passed on")
    checks.expect("the listener is still running", listener.process.poll() is None, listener.complaints)
    no_secret(checks, "a listener", [noisy, quiet])

    listener.end()
    hold = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 3702)); print('READY', flush=True); time.sleep(600)"
    holder = world.ready(world.start("box", "python3", "-c", hold))
    listener = world.check("listen", "--rescan", "1")
    checks.until("a program that keeps the port for itself is reported",
                 lambda: any("3702" in (line.get("problem") or "") for line in listener.lines), needed=True)
    holder.end()

    def free():
        states = [line for line in listener.lines if line["event"] == "listening"]
        return states[-1].get("problem") is None and "west" in states[-1]["networks"]
    checks.until("and when it goes the listener is there", free)
    again = world.device("west", "10.78.0.3", "--xaddrs", url)
    checks.until("and hears", lambda: heard(kind="hello", address="10.78.0.3"))
    again.end()


def scan(world, checks):
    servers = world.device("east", "10.77.0.4", "--kind", "quiet", "--rtsp", "554=200", "--web", "8554", "--ssh", "88",
                           "--mute", "7447")
    locked = world.device("west", "10.78.0.3", "--kind", "quiet", "--rtsp", "8554=401", "--web", "80", "--http", "8000")
    far = world.device("far", "10.79.0.2", "--http", "80", "--rtsp", "554=200", "--endpoint", f"{ENDPOINT}2",
                       "--xaddrs", "http://0.0.0.0/onvif/device_service")
    # It would have the box ask another host.
    liar = world.device("east", "10.77.0.5", "--endpoint", f"{ENDPOINT}5",
                        "--xaddrs", "http://10.78.0.3:8000/stolen http://10.77.0.4:8554/stolen")
    for link in ("east", "west"):
        world.link_local("box", link)
    found = world.search("--scan", "10.77.0.0/28", "--scan", "10.78.0.0/28", "--scan", "10.79.0.2")
    checks.same("an RTSP server among others at one address",
                [(d["kind"], d["source"], d["rtspPorts"]) for d in found.at("10.77.0.4")],
                [("rtsp", "rtsp://10.77.0.4/", [554])])
    checks.same("a camera without WS-Discovery is found with its ONVIF service, and that it requires a login",
                [(d["kind"], d["source"], d["rtspPorts"], d.get("needsLogin")) for d in found.at("10.78.0.3")],
                [("onvif", "onvif://10.78.0.3:8000", [8554], True)])
    checks.same("a camera behind a router answers the search itself",
                [(d["kind"], d["source"], d.get("endpoint"), d["rtspPorts"], d["networks"]) for d in found.at("10.79.0.2")],
                [("onvif", "onvif://10.79.0.2", f"urn:uuid:{ENDPOINT}2", [554], [])])
    checks.expect("a device that names others' addresses is listed", found.at("10.77.0.5"), found)
    checks.same("each camera once", len(found.devices), 4) or checks.note(str(found))
    checks.same("every address and port was asked", (found.last["probed"], found.last["total"]), (145, 145))
    connections = [line for device in (servers, locked, far, liar) for line in device.lines if line.get("asked") == "connection"]
    stolen = [line for line in connections if "stolen" in line["heard"]]
    checks.expect("nobody was asked because another device said so", not stolen, stolen)
    asked = [line["heard"] for line in servers.lines if line.get("port") == 554]
    checks.expect("one OPTIONS, and nothing else",
                  len(asked) == 1 and asked[0].startswith("OPTIONS rtsp://10.77.0.4/ RTSP/1.0\r\n")
                  and asked[0].count("\r\n\r\n") == 1 and asked[0].endswith("\r\n\r\n"), asked)
    no_secret(checks, "a scan", [servers, locked, far, liar])
    checks.note(f"29 addresses, 5 ports: {found.last['milliseconds']} ms")

    alone = world.search("--scan", "10.78.0.0/28", "--ports", "8554", "--no-multicast", "--no-questions")
    checks.same("a scan of chosen ports alone",
                [(d["kind"], d["source"], d.get("needsLogin")) for d in alone.devices],
                [("rtsp", "rtsp://10.78.0.3:8554/", True)])
    nowhere = world.search("--scan", "192.0.2.0/29", "--no-multicast")
    checks.expect("a network without a route is reported", nowhere.last["event"] == "done" and not nowhere.devices
                  and nowhere.last["problems"] and nowhere.last["probed"] == nowhere.last["total"], nowhere)
    for words, what in ((["10.0.0.0/19"], "a large network needs confirmation"), (["10.0.0.0/8", "--large"], "a huge one is refused all the same"),
                        (["fe80::/64"], "an IPv6 network cannot be scanned"), (["10.0.0.0/24 "], "an invalid one is refused")):
        refused = world.search("--scan", *words)
        checks.expect(what, refused.last["event"] == "error" and refused.last["hint"], refused)
    yes = world.check("range", "10.0.0.0/19", "--large")
    yes.process.wait(60)
    checks.same("with confirmation it is scanned", [line.get("addresses") for line in yes.lines], [8190])
    # Nobody answers there, and each of them is waited for.
    broken_off = world.search("--scan", "10.77.0.128/25", "--no-multicast", "--cancel-after", "1",
                              "--ports", ",".join(map(str, range(1, 31))))
    checks.expect("a scan can be broken off", 0 < broken_off.last["total"] and broken_off.last["probed"] < broken_off.last["total"],
                  broken_off)


def moved(world, checks):
    """A camera gets another address: no Hello is heard, and it does not implement GetEndpointReference."""
    world.add_space("moving")
    world.connect("box", "moving", "10.81.0.1", "moving", "wire", [])
    password = world.directory / "password"
    password.write_text("s3cret\n")
    rig = world.project / "Tests/Rigs/onvif"

    def address(last, verb="add"):
        world.ip("addr", verb, f"10.81.0.{last}/24", "dev", "wire", space="moving")
        return f"10.81.0.{last}"

    def device(where, endpoint, *options):
        return world.ready(world.start(
            "moving", "python3", rig / "onvif-camera.py", "--bind", where, "--discovery", where, "--no-hello", "--no-endpoint",
            "--endpoint", f"urn:uuid:{ENDPOINT}{endpoint}", "--rtsp", f"rtsp://{where}:8554/h264", *options))

    def page(where):
        return world.ready(world.start(
            "moving", "python3", rig / "web-server.py", "--bind", where, "--port", "80", "--page"))

    def camera(url, name):
        return world.check("camera", url, "--user", "admin", "--password-file", password,
                           "--memory", world.directory / f"{name}.json")

    def last(program):
        return program.lines[-1] if program.lines else {}

    def wrong(*cameras):
        return [line for one in cameras for line in one.lines if "wrong" in line]

    # Behind a web page that answers everything, and without TLS.
    old = address(2)
    first = [page(old), device(old, "c", "--port", "2020")]
    yard = camera(f"onvif://{old}", "yard")
    checks.until("a camera is found behind a web page at port 80, and recognised by what the network showed",
                 lambda: last(yard).get("url") == f"rtsp://{old}:8554/h264"
                 and f"urn:uuid:{ENDPOINT}c" in last(yard)["identity"], needed=True)
    for program in first:
        program.signal(signal.SIGKILL)
    address(2, "del")
    new = address(5)
    there = [page(new), device(new, "c", "--port", "2020")]
    expected = [{"address": new, "evidence": "endpoint", "source": f"onvif://{new}:2020"}]
    checks.until("without a Hello it is looked for, and its new address proposed", lambda: last(yard).get("moves") == expected)
    checks.expect("with the command that accepts it", f"camera edit yard --accept-move onvif://{new}:2020" in (last(yard).get("reason") or ""),
                  last(yard))
    # The search asks who it is, without a login; the camera's own source asks nothing there.
    checks.same("no login was sent to it", [line for line in there[1].lines if line.get("ok")], [])
    checks.same("and no wrong one at all", wrong(first[1], there[1]), [])
    yard.end()
    for program in there:
        program.signal(signal.SIGKILL)
    address(5, "del")

    # With a key.
    files = [world.directory / "camera.pem", world.directory / "camera.key"]
    world.run("box", "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
              "-days", "2", "-subj", "/CN=camera", "-keyout", files[1], "-out", files[0])
    old = address(3)
    tls = device(old, "d", "--port", "443", "--tls", *files)
    gate = camera(f"onvif://{old}", "gate")
    checks.until("a camera with TLS is known", lambda: last(gate).get("url") == f"rtsp://{old}:8554/h264"
                 and f"urn:uuid:{ENDPOINT}d" in last(gate)["identity"], needed=True)
    tls.signal(signal.SIGKILL)
    address(3, "del")
    new = address(6)
    moved_tls = device(new, "d", "--port", "443", "--tls", *files)
    expected = [{"address": new, "evidence": "endpoint", "source": f"onvif://{new}:443"}]
    checks.until("its stream has no key: its new address is proposed, though its service shows the key that is known",
                 lambda: last(gate).get("moves") == expected) or checks.note(str(last(gate)))
    checks.same("and no wrong login was shown", wrong(tls, moved_tls), [])
    gate.end()
    moved_tls.signal(signal.SIGKILL)
    address(6, "del")

    # Without ONVIF, and with hardware of its own: one that had an address a moment ago still seems to have it.
    world.add_space("plain")
    world.connect("box", "plain", "10.82.0.1", "plain", "wire", ["10.82.0.4"])
    quiet = world.device("plain", "10.82.0.4", "--kind", "quiet", "--rtsp", "554=404")
    drive = camera("rtsp://10.82.0.4/stream1", "drive")
    checks.until("a camera without ONVIF is known by its MAC address", lambda: len(last(drive).get("identity", [])) == 1,
                 needed=True)
    quiet.signal(signal.SIGKILL)
    world.ip("addr", "flush", "dev", "wire", space="plain")
    world.ip("addr", "add", "10.82.0.7/24", "dev", "wire", space="plain")
    quiet = world.device("plain", "10.82.0.7", "--kind", "quiet", "--rtsp", "554=404")
    expected = [{"address": "10.82.0.7", "evidence": "mac", "source": "rtsp://10.82.0.7/stream1"}]
    checks.until("and its new address proposed", lambda: last(drive).get("moves") == expected) or checks.note(str(last(drive)))
    checks.same("nobody asked it anything", [line for line in quiet.lines if line.get("asked") == "connection"
                                             and "DESCRIBE" in line["heard"]], [])
    drive.end()


GROUPS = {"search": search, "announced": announced, "scan": scan, "moved": moved}
