#!/usr/bin/env python3
"""A publisher with an encoder that costs nothing, over one TCP connection, whose bitrate follows the rule of another project; and who takes
its frames.

  rules.py take PORT OUT                       rows of JSON: captured, arrived, bytes (CLOCK_MONOTONIC, seconds)
  rules.py give HOST PORT RULE SECONDS OUT     frames that were captured, as JSON

30 frames a second, at most 3.5 Mbit/s, a key frame of four times the size each two seconds. The rules are written anew from what the
projects publish of them, and are not the projects: obs (dynamic bitrate of OBS Studio), haishin (HaishinKit's HKStreamBitRateStrategy),
belacoder (BELABOX; the backlog of TCP in the place of SRT's buffer), fixed (none).
"""
import collections, json, select, socket, struct, sys, time

RATE, GROUP, KEY = 30, 60, 4
MOST, LEAST = 3_500_000, 150_000
HEAD = struct.Struct("!Id")
NOTSENT_LOWAT, INFO = 25, 11


class Rule:
    # Bytes that the kernel takes in advance; 0: as many as it likes.
    in_advance = 0
    # Seconds between two looks; 0: each time.
    period = 0.0

    def __init__(self):
        self.rate, self.looked = MOST, 0.0

    def look(self, now, state):
        if now - self.looked >= self.period:
            self.looked = now
            self.decide(now, state)
            self.rate = min(MOST, max(LEAST, self.rate))

    def decide(self, now, state):
        pass


class Fixed(Rule):
    pass


class OBS(Rule):
    """From 200 ms of queue on the rate is what was sent in the last two seconds, rounded down to 100 kbit/s; a tenth of the maximum more
    every four seconds, and back when that fails."""

    def __init__(self):
        super().__init__()
        self.former, self.raises = 0, None

    def decide(self, now, state):
        if self.raises is not None and now >= self.raises:
            self.former, self.rate = self.rate, min(MOST, self.rate + MOST / 10)
            self.raises = now + 4 if self.rate < MOST else None
        if state["span"] < 0.2 or state["frames"] < 5:
            return
        wanted = self.former
        if 0 < state["sent"] < self.rate:
            wanted = max(50_000, state["sent"] // 100_000 * 100_000)
            state["forget"]()
        if wanted and wanted != self.rate:
            self.former, self.rate, self.raises = 0, wanted, now + 4


class Haishin(Rule):
    """Each second: a queue that grew three times makes the rate what was sent in the last one; after fifteen good ones a tenth of the
    maximum more."""
    period = 1.0

    def __init__(self):
        super().__init__()
        self.queues, self.good = [], 0

    def decide(self, now, state):
        self.queues = [*self.queues, state["waiting"]][-3:]
        if len(self.queues) == 3 and self.queues[0] < self.queues[1] < self.queues[2]:
            self.queues, self.good = [], 0
            if state["sent_second"]:
                self.rate = state["sent_second"]
        else:
            self.good += 1
            if self.good >= 15 and self.rate < MOST:
                self.rate, self.good = self.rate + MOST / 10, 0


class Belacoder(Rule):
    """Small steps up each half second, larger ones down by how long what waits will take."""
    in_advance = 16384

    def __init__(self):
        super().__init__()
        self.up = self.down = 0.0

    def decide(self, now, state):
        delay = state["delay"]
        if now > self.down and delay > 0.15:
            self.rate = LEAST * 2 if delay > 0.6 else self.rate - 100_000 - (self.rate / 10 if delay > 0.3 else 0)
            self.down = now + (0.25 if 0.3 < delay <= 0.6 else 0.2)
        elif now > self.up and delay < 0.06:
            self.rate, self.up = self.rate + 30_000 + self.rate / 30, now + 0.5


RULES = {"fixed": Fixed, "obs": OBS, "haishin": Haishin, "belacoder": Belacoder}


class Recent:
    """Amounts of the last seconds."""

    def __init__(self, seconds):
        self.seconds, self.kept = seconds, collections.deque()

    def add(self, now, amount):
        self.kept.append((now, amount))
        while self.kept[0][0] < now - self.seconds:
            self.kept.popleft()

    def total(self, now):
        return sum(amount for at, amount in self.kept if at >= now - self.seconds)

    @property
    def span(self):
        return self.kept[-1][0] - self.kept[0][0] if len(self.kept) > 1 else 0


def information(connection):
    """Of struct tcp_info (linux/tcp.h): round trip, the least one, bytes that are not sent, bytes that arrived."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, INFO, 232)
    return (struct.unpack_from("=I", raw, 68)[0] / 1e6, struct.unpack_from("=I", raw, 148)[0] / 1e6,
            struct.unpack_from("=I", raw, 144)[0], struct.unpack_from("=Q", raw, 120)[0])


def connect(host, port, rule):
    deadline = time.monotonic() + 20
    while True:
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if rule.in_advance:
            connection.setsockopt(socket.IPPROTO_TCP, NOTSENT_LOWAT, rule.in_advance)
        try:
            connection.connect((host, port))
            return connection
        except OSError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def give(host, port, name, seconds, out):
    rule = RULES[name]()
    connection = connect(host, port, rule)
    connection.setblocking(False)
    queue, current, waiting = collections.deque(), b"", 0
    sent, second, arrived = Recent(2), Recent(1), Recent(0.6)
    begin, frames, last = time.monotonic(), 0, 0
    while (now := time.monotonic()) < begin + seconds:
        while (captured := begin + frames / RATE) <= now:
            weight = KEY if frames % GROUP == 0 else 1
            size = int(rule.rate / 8 / RATE * GROUP / (GROUP - 1 + KEY) * weight)
            queue.append((captured, HEAD.pack(size, captured) + bytes(size)))
            waiting += HEAD.size + size
            frames += 1
        pause = min(0.02, max(0, begin + frames / RATE - time.monotonic()))
        if select.select([], [connection] if queue or current else [], [], pause)[1]:
            current = current or queue.popleft()[1]
            try:
                count = connection.send(current)
            except BlockingIOError:
                count = 0
            current, waiting = current[count:], waiting - count
            now = time.monotonic()
            sent.add(now, count)
            second.add(now, count)
        trip, least, unsent, delivered = information(connection)
        now = time.monotonic()
        arrived.add(now, delivered - last)
        last = delivered
        backlog = waiting + unsent
        rate = max(100_000, arrived.total(now) * 8 / 0.6)
        age = now - queue[0][0] if queue else 0
        rule.look(now, {
            "span": queue[-1][0] - queue[0][0] if len(queue) > 1 else 0, "frames": len(queue), "waiting": waiting,
            "sent": sent.total(now) * 8 / sent.span if sent.span >= 1 else 0, "sent_second": second.total(now) * 8,
            "forget": sent.kept.clear, "delay": max(age, backlog * 8 / rate if backlog > 20_000 else 0) + max(0, trip - least)})
    connection.close()
    with open(out, "w") as file:
        json.dump({"frames": frames, "begin": begin}, file)


def take(port, out):
    server = socket.create_server(("0.0.0.0", port))
    stream = server.accept()[0].makefile("rb")
    with open(out, "w") as file:
        while len(head := stream.read(HEAD.size)) == HEAD.size:
            size, captured = HEAD.unpack(head)
            if len(stream.read(size)) < size:
                break
            file.write(json.dumps([captured, time.monotonic(), size]) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["take"] and len(sys.argv) == 4:
        take(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ["give"] and len(sys.argv) == 7:
        give(sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5]), sys.argv[6])
    else:
        sys.exit(__doc__)
