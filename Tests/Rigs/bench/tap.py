#!/usr/bin/env python3
"""tap.py ADDRESS PORT RELAY OUT: in front of an RTMP relay on 127.0.0.1:RELAY; notes when frames come, and writes that to OUT as JSON when it
is ended with SIGTERM. Says "ready" when it listens, and "frames" when there are thirty. As a module: for a bench in the same process.
"""
import json, signal, socket, sys, threading, time


class Tap:
    """Passes RTMP connections on to a relay on loopback, and notes of each video message of the publisher (time stamp, CLOCK_MONOTONIC in
    nanoseconds when its last byte came, bytes)."""

    def __init__(self, relay, address="127.0.0.1", port=0):
        self.target, self.seen = relay, []
        self.listener = socket.create_server((address, port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            relay = socket.create_connection(("127.0.0.1", self.target))
            for end in (client, relay):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.back, args=(relay, client), daemon=True).start()
            threading.Thread(target=self.forth, args=(client, relay), daemon=True).start()

    @staticmethod
    def back(relay, client):
        try:
            while data := relay.recv(1 << 16):
                client.sendall(data)
        except OSError:
            pass
        client.close()

    def forth(self, client, relay):
        reader = Chunks(self.seen)
        try:
            while data := client.recv(1 << 18):
                now = time.monotonic_ns()
                relay.sendall(data)
                reader.feed(data, now)
            relay.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


class Chunks:
    """RTMP's chunks (RTMP 1.0, section 5.3), as far as a publisher writes them."""

    HANDSHAKE = 1 + 1536 + 1536

    def __init__(self, seen):
        self.seen, self.buffer, self.left, self.size, self.streams = seen, b"", self.HANDSHAKE, 128, {}

    def feed(self, data, now):
        if self.left:
            cut = min(self.left, len(data))
            self.left, data = self.left - cut, data[cut:]
        self.buffer += data
        position = 0
        while (end := self.chunk(position, now)) is not None:
            position = end
        self.buffer = self.buffer[position:]

    def chunk(self, at, now):
        buffer = self.buffer
        if at >= len(buffer):
            return None
        kind, stream = buffer[at] >> 6, buffer[at] & 63
        at += 1 + {0: 1, 1: 2}.get(stream, 0)
        length = (11, 7, 3, 0)[kind]
        if at + length > len(buffer):
            return None
        header = buffer[at:at + length]
        at += length
        state = dict(self.streams.get(stream, {"got": 0}))
        if kind < 3:
            time_field = int.from_bytes(header[:3], "big")
            state["extended"] = time_field == 0xFFFFFF
        if kind < 2:
            state["length"], state["type"] = int.from_bytes(header[3:6], "big"), header[6]
        if state["extended"]:
            if at + 4 > len(buffer):
                return None
            time_field = int.from_bytes(buffer[at:at + 4], "big")
            at += 4
        if state["got"] == 0:
            if kind == 0:
                state["time"], state["delta"] = time_field, 0
            else:
                if kind < 3:
                    state["delta"] = time_field
                state["time"] += state["delta"]
        part = min(self.size, state["length"] - state["got"])
        if at + part > len(buffer):
            return None
        if state["got"] == 0:
            state["head"] = buffer[at:at + 2]
        state["got"] += part
        if state["got"] == state["length"]:
            state["got"] = 0
            if state["type"] == 1:
                self.size = int.from_bytes(buffer[at:at + 4], "big")
            # A sequence header, or whatever else comes with the frames, is small.
            if state["type"] == 9 and not (len(state["head"]) > 1 and state["head"][1] == 0) and state["length"] > 64:
                self.seen.append((state["time"], now, state["length"]))
        self.streams[stream] = state
        return at + part


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    tap = Tap(int(sys.argv[3]), sys.argv[1], int(sys.argv[2]))

    def end(*_):
        with open(sys.argv[4], "w") as file:
            json.dump(list(tap.seen), file)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    while len(tap.seen) < 30:
        time.sleep(0.05)
    print("frames", flush=True)
    while True:
        signal.pause()
