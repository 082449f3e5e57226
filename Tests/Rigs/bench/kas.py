"""Group `kas` of the bench: 1,000 viewers ask for a key in the instant in which a stream's key changes.

Real HTTP over loopback, each viewer with a connection, an address, a client key and a request token of its own; every answer
is opened and checked. `KeyAccessLoad` makes the requests before the clock starts.
"""
import json, os, resource, socket, statistics, subprocess, time

VIEWERS = 1000
REGISTRATIONS = 1_000_000


def report(bench, name, value, unit, bar, met, **more):
    bench.rows.append({"name": name, "ours": round(value, 2), "unit": unit, "bar": bar, "met": met, **more})
    print(f"{name:<72} {value:9.1f} {unit:<4} (bar {bar}) {'ok' if met else 'MISSED'}", flush=True)


def restart(bench, state):
    """Time until it listens, and memory then, with a journal of a million registrations."""
    path = os.path.join(state, "collections.jsonl")
    with open(path) as file:
        entry = json.loads(file.readlines()[-1])
    with open(path, "w") as file:
        for number in range(REGISTRATIONS):
            entry.update(headerSha256=f"{number:064x}", stream=f"camera-{number % 16}")
            file.write(json.dumps(entry, separators=(",", ":"), sort_keys=True) + "\n")
    port, begin = bench.free_port(), time.monotonic()
    service = bench.start([f"{bench.PROGRAMS}/watchboxd", "kas", "--state", state, "--listen", f"127.0.0.1:{port}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.wait_for_port(port, service)
    seconds = time.monotonic() - begin
    with open(f"/proc/{service.pid}/status") as file:
        peak = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    name = "KAS starts with 10^6 lines of registrations"
    report(bench, f"{name}: time", seconds, "s", "≤ 10", seconds <= 10)
    # Its unit is slowed down at 192 MB.
    report(bench, f"{name}: peak RSS", peak, "MB", "≤ 192", peak <= 192)


def exhaustion(bench, state):
    """CPU of a service that has no descriptor left while 90 clients wait; then it serves again."""
    port = bench.free_port()
    service = bench.start([f"{bench.PROGRAMS}/watchboxd", "kas", "--state", state, "--listen", f"127.0.0.1:{port}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.wait_for_port(port, service)
    resource.prlimit(service.pid, resource.RLIMIT_NOFILE, (64, 64))

    def cpu():
        with open(f"/proc/{service.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    clients = []
    for number in range(90):
        client = socket.create_connection(("127.0.0.1", port), 10, (f"127.0.{1 + number // 60}.{1 + number % 60}", 0))
        client.send(b"GET ")
        clients.append(client)
    time.sleep(1)
    begin = cpu()
    time.sleep(3)
    used = (cpu() - begin) / 3
    for client in clients:
        client.close()
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        served = client.recv(64).startswith(b"HTTP/1.1 200 ")
    report(bench, "KAS without descriptors, 90 clients: share of a core", used, "", "≤ 0.1, then served", used <= 0.1 and served)
    service.terminate()
    service.wait(30)


def broken_requests(bench, port, service, tokens):
    """20 viewers per rotation, alone and beside 2,000 connections a second with broken HTTP."""
    tool, seconds = bench.relay_load(), bench.options.mutated

    def slowest():
        # A rotation every four seconds and a little, so that the noise lasts for all of them.
        output = subprocess.run(
            [f"{bench.PROGRAMS}/KeyAccessLoad", "--port", str(port), "--pid", str(service.pid), "--viewers", "20", "--rounds",
             str(max(seconds // 5, 2)), "--publish-token", tokens["kas.publish"], "--viewer-token", tokens["kas.rewrap"]],
            check=True, stdout=subprocess.PIPE).stdout
        return [r["max"] for r in json.loads(output)]

    alone = slowest()
    noise = bench.start([tool, "mutate", str(port), "-", "-", "2000", str(seconds), "http=1"], stdout=subprocess.PIPE)
    beside = slowest()
    rate = json.loads(noise.stdout.read())["per_second"]
    bench.finish(noise)
    # Of 20 viewers the slowest is their p99.
    bench.assess("KAS, 20 viewers beside broken HTTP: slowest", beside, alone, "ms", 2.0, False)
    bench.assess_value("  connections with broken HTTP", [rate], "per s", None)


def measure(bench):
    """`bench`: the names of `run`: PROGRAMS, WORK, ROUNDS, rows, start, free_port, wait_for_port."""
    port, state = bench.free_port(), os.path.join(bench.WORK, "kas-crowd")
    service = bench.start([f"{bench.PROGRAMS}/watchboxd", "kas", "--state", state, "--listen", f"127.0.0.1:{port}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.wait_for_port(port, service)
    tokens = {}
    for scope in ("kas.publish", "kas.rewrap"):
        tokens[scope] = os.path.join(bench.WORK, scope)
        with open(os.open(tokens[scope], os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            subprocess.run([f"{bench.PROGRAMS}/watchboxctl", "kas", "token", "--state", state, "--subject", "crowd", "--scope", scope,
                            "--stream", "bench"], check=True, stdout=file)
    for name, options in (("new connections", []), ("connections kept ready", ["--ahead"])):
        output = subprocess.run(
            [f"{bench.PROGRAMS}/KeyAccessLoad", "--port", str(port), "--pid", str(service.pid), "--viewers", str(VIEWERS), "--rounds",
             str(max(bench.ROUNDS, 3)), "--publish-token", tokens["kas.publish"], "--viewer-token", tokens["kas.rewrap"], *options],
            check=True, stdout=subprocess.PIPE).stdout
        rounds = json.loads(output)
        median = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
        worst = max(r["max"] for r in rounds)
        title = f"{VIEWERS} viewers in one rotation, {name}"
        report(bench, f"{title}: rewraps", median["perSecond"], "/s", "≥ 1000", median["perSecond"] >= 1000, rounds=rounds)
        report(bench, f"{title}: slowest", worst, "ms", "≤ 1000", worst <= 1000)
        print(f"  p50 {median['p50']:.1f} ms, p99 {median['p99']:.1f} ms, CPU of the KAS {median['serviceCPU'] / VIEWERS * 1e6:.0f} µs per rewrap, "
              f"of the viewers {median['ownCPU'] / VIEWERS * 1e6:.0f} µs", flush=True)
    broken_requests(bench, port, service, tokens)
    service.terminate()
    service.wait(30)
    exhaustion(bench, state)
    restart(bench, state)
