import Glibc
import Systemd
import Testing

@Suite(.timeLimit(.minutes(15)))
struct NotifierTests {
    @Test(arguments: [false, true])
    func `PID 1 gets each message as a datagram of its own`(abstract: Bool) throws {
        let socket = try ReceivingSocket(abstract: abstract)
        let notifier = Notifier(socketPath: socket.path)
        #expect(notifier.isActive)
        notifier.ready()
        #expect(try socket.receiveText() == "READY=1")
        notifier.ready(status: "25.0 fps, ack 0.4 s")
        #expect(try socket.receiveText() == "READY=1\nSTATUS=25.0 fps, ack 0.4 s")
        notifier.status("waiting for the camera")
        #expect(try socket.receiveText() == "STATUS=waiting for the camera")
        notifier.watchdog()
        #expect(try socket.receiveText() == "WATCHDOG=1")
        notifier.extendTimeout(.milliseconds(1500))
        #expect(try socket.receiveText() == "EXTEND_TIMEOUT_USEC=1500000")
        notifier.stopping(status: "last frames")
        #expect(try socket.receiveText() == "STOPPING=1\nSTATUS=last frames")
        notifier.removeStored(name: "relay")
        #expect(try socket.receiveText() == "FDSTOREREMOVE=1\nFDNAME=relay")
    }

    @Test func `reloading carries the monotonic time`() throws {
        let socket = try ReceivingSocket()
        Notifier(socketPath: socket.path).reloading()
        let lines = try socket.receiveText().split(separator: "\n")
        #expect(lines.first == "RELOADING=1")
        let time = try #require(lines.last?.split(separator: "=").last.flatMap { UInt64($0) })
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        #expect(lines.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect(time > 0 && time <= (UInt64(now.tv_sec) + 1) * 1_000_000)
    }

    @Test func `a status can neither add a line nor grow without limit`() throws {
        let socket = try ReceivingSocket()
        let notifier = Notifier(socketPath: socket.path)
        notifier.status("fine\nWATCHDOG=trigger\r\u{1b}[2J\u{85}")
        #expect(try socket.receiveText() == "STATUS=fine WATCHDOG=trigger  [2J ")
        notifier.status(String(repeating: "ä", count: 200))
        #expect(try socket.receiveText() == "STATUS=" + String(repeating: "ä", count: 128))
        notifier.status("a" + String(repeating: "ä", count: 200))
        #expect(try socket.receiveText() == "STATUS=a" + String(repeating: "ä", count: 127))
        notifier.ready(status: "a\nb\u{202E}c")
        #expect(try socket.receiveText() == "READY=1\nSTATUS=a b c")
    }

    @Test func `the last status is one line, and longer`() throws {
        let socket = try ReceivingSocket()
        let notifier = Notifier(socketPath: socket.path)
        notifier.lastStatus("cannot run\nREADY=1")
        #expect(try socket.receiveText() == "STATUS=cannot run READY=1")
        notifier.lastStatus(String(repeating: "ä", count: 400))
        #expect(try socket.receiveText() == "STATUS=" + String(repeating: "ä", count: 256))
    }

    @Test func `a stored descriptor travels with its name`() throws {
        let socket = try ReceivingSocket()
        var pipe: [CInt] = [-1, -1]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { close(pipe[0]) }
        try Notifier(socketPath: socket.path).store(descriptor: pipe[1], name: "relay")
        close(pipe[1])
        let (bytes, descriptor) = try socket.receive()
        #expect(String(decoding: bytes, as: UTF8.self) == "FDSTORE=1\nFDNAME=relay")
        let copy = try #require(descriptor)
        try #require(write(copy, "x", 1) == 1)
        close(copy)
        var byte: UInt8 = 0
        #expect(read(pipe[0], &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
    }

    @Test(arguments: ["", "a:b", "a\nREADY=1", "ä", String(repeating: "a", count: 256)])
    func `a name that PID 1 would not take is refused`(name: String) throws {
        let socket = try ReceivingSocket()
        let notifier = Notifier(socketPath: socket.path)
        #expect(throws: SystemdError.self) { try notifier.store(descriptor: 0, name: name) }
        notifier.removeStored(name: name)
        notifier.watchdog()
        #expect(try socket.receiveText() == "WATCHDOG=1")
    }

    @Test func `an invalid descriptor is an error`() throws {
        let socket = try ReceivingSocket()
        #expect(throws: SystemdError.system(call: "sendmsg", errno: EBADF)) {
            try Notifier(socketPath: socket.path).store(descriptor: 1_000_000, name: "relay")
        }
    }

    @Test(arguments: [nil, "", "@", "relative", "vsock:2:1234", "/" + String(repeating: "a", count: 107)])
    func `without PID 1 nothing happens`(path: String?) throws {
        let notifier = Notifier(socketPath: path)
        #expect(!notifier.isActive)
        notifier.ready()
        notifier.watchdog()
        try notifier.store(descriptor: 0, name: "relay")
    }

    @Test func `a PID 1 that does not read holds up no ping`() throws {
        let socket = try ReceivingSocket()
        let notifier = Notifier(socketPath: socket.path)
        // Far more than the kernel queues for a datagram socket; would block for ever if a ping could wait.
        for _ in 0..<20_000 { notifier.watchdog() }
        #expect(try socket.receiveText() == "WATCHDOG=1")
    }

    @Test func `a socket that is gone is not an error`() throws {
        let notifier = Notifier(socketPath: "/tmp/watchbox-\(getpid())-nobody")
        #expect(notifier.isActive)
        notifier.ready()
        notifier.watchdog()
        #expect(throws: SystemdError.system(call: "sendmsg", errno: ENOENT)) {
            try notifier.store(descriptor: 0, name: "relay")
        }
    }

    @Test func `the watchdog's interval`() {
        func interval(_ environment: [String: String]) -> Duration? {
            Notifier.watchdogInterval(environment: environment, processIdentifier: 42)
        }
        #expect(interval(["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "42"]) == .seconds(20))
        #expect(interval(["WATCHDOG_USEC": "1500"]) == .microseconds(1500))
        #expect(interval(["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "43"]) == nil)
        #expect(interval(["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "x"]) == nil)
        #expect(interval([:]) == nil)
        #expect(interval(["WATCHDOG_USEC": "0"]) == nil)
        #expect(interval(["WATCHDOG_USEC": "-5"]) == nil)
        #expect(interval(["WATCHDOG_USEC": "soon"]) == nil)
        #expect(interval(["WATCHDOG_USEC": "99999999999999999999"]) == nil)
    }
}
