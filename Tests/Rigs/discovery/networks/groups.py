"""The checks, one function for each group."""
import re
import signal

from boxed.checks import poll

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
s.settimeout(0.2)
s.sendto(text.encode(), ("239.255.255.250", 3702))
end = time.time() + 4
while time.time() < end:
    try:
        print(s.recvfrom(65535)[1][0])
    except socket.timeout:
        pass
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


def search(world, checks):
    simulator = onvif_camera(world, "--xaddr-host", "0.0.0.0")
    library_camera(world, checks)
    printer = world.device("east", "10.77.0.3", "--kind", "printer")
    # It has an address of before its last move, and answers one of the three questions only, twice.
    stale = world.device(
        "west", "10.78.0.4", "--name", "Front door", "--http", "8000", "--open", "--endpoint", f"{ENDPOINT}4",
        "--xaddrs", "http://192.168.1.64:8000/onvif/device_service http://[fe80::1]:8000/onvif/device_service")
    inside = world.link_local("east", "wire")
    sixth = world.device(
        "east", "10.77.0.6", "--ipv6", "--name", "Sixth", "--endpoint", f"{ENDPOINT}6",
        "--xaddrs", "http://[fe80::1]:8080/onvif/device_service")
    for link in ("east", "west"):
        world.link_local("box", link)

    naive = set(world.run("box", "python3", "-c", NAIVE).stdout.split())
    checks.expect("the trap is one: a probe by the default way reaches the first network only",
                  "10.77.0.2" in naive and not any(source.startswith("10.78.") for source in naive), naive)
    found = world.search()
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
    checks.same("a camera with an address of before is found where it answered, and tells who it is",
                [(d["xaddrs"], d["endpoint"], d["name"], d.get("manufacturer"), d.get("serial"), d.get("needsLogin"),
                  d.get("location")) for d in moved],
                [(["http://10.78.0.4:8000/onvif/device_service", "http://192.168.1.64:8000/onvif/device_service"],
                  f"urn:uuid:{ENDPOINT}4", "Front door", "Rig & Co", "R1", False, "city/Bonn")])
    if inside:
        checks.same("a camera that hears only IPv6 is found by FF02::C, with the zone that it left out",
                    [(d["address"], d["xaddrs"], d["networks"]) for d in found.devices if d.get("name") == "Sixth"],
                    [(f"{inside}%east", [f"http://[{inside}%25east]:8080/onvif/device_service"], ["east"])])
    checks.expect("the printer was asked and is not listed",
                  any(line.get("asked") == "Probe" for line in printer.lines) and not found.at("10.77.0.3"), found)
    probes = [line for line in stale.lines if line.get("asked") == "Probe"]
    checks.same("three questions, each twice, in one line each",
                (sorted(line["types"] for line in probes if line["source"].startswith("10.78.")),
                 all(line["one_line"] for line in probes)),
                (["", "", "dn:NetworkVideoTransmitter", "dn:NetworkVideoTransmitter", "tds:Device", "tds:Device"], True))
    checks.same("nothing was left out", found.last["problems"], [])
    complete = next((p["milliseconds"] for p in found.progress if p["found"] == 4), None)
    checks.note(f"all four listed after {complete} ms, done after {found.last['milliseconds']} ms")

    only = world.search("--interface", "west", "--timeout", "2")
    checks.same("a search on one interface finds what is there", sorted(d["address"] for d in only.devices),
                ["10.78.0.2", "10.78.0.4"])
    unknown = world.search("--interface", "eth9")
    checks.expect("an interface that is not there is refused, with those that are",
                  unknown.last["event"] == "error" and "east" in unknown.last["error"], unknown)
    world.ip("link", "set", "west", "down", space="box")
    without = world.search("--timeout", "2")
    checks.expect("a network that is down keeps nobody from the other", without.at("10.77.0.2")
                  and not without.at("10.78.0.2"), without)
    no_secret(checks, "a search", [stale, sixth, printer])
    # It tells what it made of each request, not the request.
    asked = [line for line in simulator.lines if line["op"] != "Probe"]
    checks.expect("the simulator was asked once who it is, without a login",
                  [line["op"] for line in asked] == ["GetDeviceInformation"] * 2
                  and all(not line["ok"] and "no token" in line["why"] for line in asked), asked)


def announced(world, checks):
    listener = world.check("listen", "--rescan", "1")

    def networks():
        states = [line for line in listener.lines if line["event"] == "listening"]
        return states[-1].get("networks", []) if states else []

    def heard(**wanted):
        return [line["announcement"] for line in listener.lines if line["event"] == "announcement"
                and all(line["announcement"].get(key) == value for key, value in wanted.items())]

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
    checks.until("a device floods the network and sends what is no message", lambda: "disturbed" in noisy.text)
    quiet = world.device("west", "10.78.0.9", "--endpoint", f"{ENDPOINT}9", "--xaddrs", url)
    checks.until("who speaks meanwhile is heard", lambda: heard(kind="hello", endpoint=f"urn:uuid:{ENDPOINT}9"))
    passed = len(heard(address="10.77.0.8"))
    checks.expect("of the flood little is passed on", 0 < passed < 1500, f"{passed} of 3000")
    checks.note(f"{passed} of 3000 were passed on")
    checks.expect("the listener lives", listener.process.poll() is None, listener.complaints)
    no_secret(checks, "a listener", [noisy, quiet])

    listener.end()
    hold = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 3702)); print('READY', flush=True); time.sleep(600)"
    holder = world.ready(world.start("box", "python3", "-c", hold))
    listener = world.check("listen", "--rescan", "1")
    checks.until("a program that keeps the port for itself is told",
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
    # It would have the box ask somebody else.
    liar = world.device("east", "10.77.0.5", "--endpoint", f"{ENDPOINT}5",
                        "--xaddrs", "http://10.78.0.3:8000/stolen http://10.77.0.4:8554/stolen")
    for link in ("east", "west"):
        world.link_local("box", link)
    # The one that never answers is waited for; the others may be slow, as this machine may be busy.
    found = world.search("--scan", "10.77.0.0/28", "--scan", "10.78.0.0/28", "--scan", "10.79.0.2", "--answer-timeout", "10")
    checks.same("an RTSP server among others at one address",
                [(d["kind"], d["source"], d["rtspPorts"]) for d in found.at("10.77.0.4")],
                [("rtsp", "rtsp://10.77.0.4/", [554])])
    checks.same("a camera without WS-Discovery is found with its ONVIF service, and that it wants a login",
                [(d["kind"], d["source"], d["rtspPorts"], d.get("needsLogin")) for d in found.at("10.78.0.3")],
                [("onvif", "onvif://10.78.0.3:8000", [8554], True)])
    checks.same("a camera behind a router answers for itself",
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
    checks.expect("a network without a way to it is told", nowhere.last["event"] == "done" and not nowhere.devices
                  and nowhere.last["problems"] and nowhere.last["probed"] == nowhere.last["total"], nowhere)
    for words, what in ((["10.0.0.0/19"], "a large network needs a yes"), (["10.0.0.0/8", "--large"], "a huge one gets none"),
                        (["fe80::/64"], "one of IPv6 cannot be scanned"), (["10.0.0.0/24 "], "what is none is refused")):
        refused = world.search("--scan", *words)
        checks.expect(what, refused.last["event"] == "error" and refused.last["next"], refused)
    yes = world.check("range", "10.0.0.0/19", "--large")
    yes.process.wait(60)
    checks.same("with a yes it may be", [line.get("addresses") for line in yes.lines], [8190])
    # Nobody answers there, and each of them is waited for.
    broken_off = world.search("--scan", "10.77.0.128/25", "--no-multicast", "--cancel-after", "1",
                              "--ports", ",".join(map(str, range(1, 31))))
    checks.expect("a scan can be broken off", 0 < broken_off.last["total"] and broken_off.last["probed"] < broken_off.last["total"],
                  broken_off)


GROUPS = {"search": search, "announced": announced, "scan": scan}
