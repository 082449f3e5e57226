import Glibc
import Synchronization
import Testing

/// A bus with PID 1 behind it, over a real socket and spoken to by the real sd-bus: greets, and lets the test answer.
/// The real PID 1 is in another rig; here are the answers that it gives rarely or at bad moments.
/// `ResetFailedUnit` is answered like `Subscribe`, unless the test wants it.
final class StandInBus: Sendable {
    /// A method call that came in.
    struct Call: Sendable {
        var serial: UInt32
        var flags: UInt8
        var destination: String
        var path: String
        var interface: String
        var member: String
        /// Those at the front of the body that are strings.
        var arguments: [String]
    }

    static let systemd = ":1.1"

    let address: String
    private let path: String
    private let listener: CInt
    private let seen = Mutex<[Call]>([])
    private let isStopped = Mutex(false)
    private let answer: @Sendable (Call, Peer) -> Void

    private let answersReset: Bool

    /// - Parameters:
    ///   - answersReset: `ResetFailedUnit` is answered by `answer`.
    ///   - answer: called on the connection's thread, for calls other than Hello, AddMatch and Subscribe.
    init(answersReset: Bool = false, answer: @escaping @Sendable (Call, Peer) -> Void) throws {
        self.answer = answer
        self.answersReset = answersReset
        path = "/tmp/watchbox-bus-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        address = "unix:path=\(path)"
        listener = socket(AF_UNIX, 1 | 0o2000000, 0)  // SOCK_STREAM | SOCK_CLOEXEC
        var socketAddress = TestAddress(path)
        let (bound, listener) = (socketAddress.with { [listener] in bind(listener, $0, $1) }, listener)
        try #require(listener >= 0 && bound == 0 && listen(listener, 16) == 0)
        startThread { [self] in
            while true {
                let peer = accept(listener, nil, nil)
                guard peer >= 0 else { break }
                if isStopped.withLock({ $0 }) {
                    close(peer)
                    break
                }
                startThread { [self] in serve(Peer(descriptor: peer)) }
            }
            close(listener)
        }
    }

    /// Every call so far, the greeting too.
    var calls: [Call] { seen.withLock { $0 } }

    /// No one is let in any more.
    func stop() {
        isStopped.withLock { $0 = true }
        unlink(path)
        shutdown(listener, CInt(SHUT_RDWR))
    }

    private func serve(_ peer: Peer) {
        defer { peer.close() }
        guard peer.authenticate() else { return }
        while let call = peer.nextCall() {
            seen.withLock { $0.append(call) }
            switch call.member {
            case "Hello":
                var body = BusBytes()
                body.string(":1.42")
                peer.reply(call, "s", body, sender: "org.freedesktop.DBus")
            case "AddMatch": peer.reply(call, sender: "org.freedesktop.DBus")
            case "Subscribe": peer.reply(call)
            case "ResetFailedUnit" where !answersReset: peer.reply(call)
            default: answer(call, peer)
            }
        }
    }
}

/// Bytes as D-Bus marshals them, little endian.
struct BusBytes {
    var bytes: [UInt8] = []

    mutating func align(_ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }
    mutating func uint32(_ value: UInt32) {
        align(4)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func uint64(_ value: UInt64) {
        align(8)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func string(_ value: String) {
        uint32(UInt32(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
    }
    mutating func signature(_ value: String) {
        bytes.append(UInt8(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
    }
    /// An array: its length, padding for its elements, and what `body` appends.
    mutating func array(alignment: Int, _ body: (inout BusBytes) -> Void) {
        uint32(0)
        let length = bytes.count - 4
        align(alignment)
        let start = bytes.count
        body(&self)
        let count = UInt32(bytes.count - start)
        withUnsafeBytes(of: count.littleEndian) { bytes.replaceSubrange(length..<(length + 4), with: $0) }
    }
    /// One `{sv}`.
    mutating func property(_ name: String, _ type: String, _ body: (inout BusBytes) -> Void) {
        align(8)
        string(name)
        signature(type)
        body(&self)
    }
}
