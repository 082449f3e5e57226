import Glibc

/// Viewers that all come at once, each over a connection and from an address of its own. One thread: next to the service it
/// costs little of the machine.
struct Crowd {
    struct Outcome {
        /// Seconds from the common start to each viewer's whole answer.
        var latencies: [Double] = []
        var bodies: [[UInt8]] = []
    }

    private struct Connection {
        var descriptor: Int32 = -1
        var isConnected = false
        var sent = 0
        var received: [UInt8] = []
        var bodyStart = 0
        var end = Int.max
    }

    let port: Int
    let requests: [PreparedRequest]
    private var connections: [Connection]
    private var watched: [pollfd]

    init(port: Int, requests: [PreparedRequest]) {
        self.port = port
        self.requests = requests
        connections = Array(repeating: Connection(), count: requests.count)
        watched = Array(repeating: pollfd(fd: -1, events: 0, revents: 0), count: requests.count)
    }

    /// Opens every connection and waits until all are, for a crowd that has them already when it starts.
    mutating func connectAll() throws {
        for index in requests.indices { try connect(index) }
        var left = requests.count
        try wait(until: { left == 0 }) { index, crowd in
            guard !crowd.connections[index].isConnected else { return }
            try crowd.finishConnecting(index)
            left -= 1
        }
    }

    /// Lets everybody ask at the same instant, and returns when the last one has its answer.
    mutating func run() throws -> Outcome {
        var outcome = Outcome(
            latencies: Array(repeating: 0, count: requests.count), bodies: Array(repeating: [], count: requests.count))
        var left = requests.count
        let start = Self.now
        for index in requests.indices {
            if connections[index].descriptor < 0 { try connect(index) } else { try send(index) }
        }
        try wait(until: { left == 0 }) { index, crowd in
            if !crowd.connections[index].isConnected { try crowd.finishConnecting(index) }
            if crowd.connections[index].sent < crowd.requests[index].bytes.count { return try crowd.send(index) }
            guard let body = try crowd.receive(index) else { return }
            outcome.latencies[index] = Self.now - start
            outcome.bodies[index] = body
            left -= 1
        }
        return outcome
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private mutating func wait(
        until isDone: () -> Bool, _ body: (Int, inout Crowd) throws -> Void
    ) throws {
        while !isDone() {
            let count = poll(&watched, nfds_t(watched.count), 30_000)
            guard count != 0 else { throw Failure("no answer for 30 s") }
            for index in watched.indices where watched[index].revents != 0 { try body(index, &self) }
            // Few at a time would cost the service's share of the machine more than half a millisecond is worth.
            if count < 32 { usleep(500) }
        }
    }

    private mutating func connect(_ index: Int) throws {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket: \(String(cString: strerror(errno)))") }
        // 127.1.0.1 and so on: an address for each, as viewers have.
        let number = UInt32(index)
        var own = Self.address(0x7F01_0001 + (number / 250) << 8 + number % 250, port: 0)
        var server = Self.address(0x7F00_0001, port: port)
        let isBound = Self.call(&own) { bind(descriptor, $0, $1) } == 0
        let result = Self.call(&server) { Glibc.connect(descriptor, $0, $1) }
        guard isBound, result == 0 || errno == EINPROGRESS else {
            throw Failure("connect: \(String(cString: strerror(errno)))")
        }
        connections[index].descriptor = descriptor
        watch(index, for: POLLOUT)
    }

    private mutating func finishConnecting(_ index: Int) throws {
        var problem: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(connections[index].descriptor, SOL_SOCKET, SO_ERROR, &problem, &length)
        guard problem == 0 else { throw Failure("connect: \(String(cString: strerror(problem)))") }
        connections[index].isConnected = true
        watch(index, for: isRunning ? POLLIN : 0)
        if connections[index].sent == 0, isRunning { try send(index) }
    }

    /// Connections that are made ahead wait for the start.
    private var isRunning = true

    mutating func holdBack() { isRunning = false }
    mutating func letGo() { isRunning = true }

    private mutating func send(_ index: Int) throws {
        let bytes = requests[index].bytes
        let sent = connections[index].sent
        let count = bytes[sent...].withUnsafeBytes {
            Glibc.send(connections[index].descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count >= 0 || errno == EAGAIN else { throw Failure("send: \(String(cString: strerror(errno)))") }
        connections[index].sent += max(count, 0)
        watch(index, for: connections[index].sent < bytes.count ? POLLOUT : POLLIN)
    }

    /// The body of a whole answer, nil while there is more to come.
    private mutating func receive(_ index: Int) throws -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 8192)
        let count = recv(connections[index].descriptor, &chunk, chunk.count, 0)
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return nil }
            throw Failure("the service closed a connection without an answer")
        }
        connections[index].received += chunk[..<count]
        let received = connections[index].received
        if connections[index].end == .max, let head = received.firstRange(of: [13, 10, 13, 10]) {
            let text = String(decoding: received[..<head.lowerBound], as: UTF8.self)
            guard text.hasPrefix("HTTP/1.1 200 ") else {
                throw Failure(String(text.prefix { $0 != "\r" && $0 != "\r\n" }))
            }
            let length = text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) }
            connections[index].bodyStart = head.upperBound
            connections[index].end = head.upperBound + (length ?? 0)
        }
        guard received.count >= connections[index].end else { return nil }
        close(connections[index].descriptor)
        watched[index].fd = -1
        return Array(received[connections[index].bodyStart..<connections[index].end])
    }

    private mutating func watch(_ index: Int, for events: Int32) {
        watched[index] = pollfd(fd: connections[index].descriptor, events: Int16(events), revents: 0)
    }

    private static func address(_ address: UInt32, port: Int) -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port).bigEndian
        place.sin_addr.s_addr = address.bigEndian
        return place
    }

    private static func call(
        _ place: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
