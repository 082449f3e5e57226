internal import CSystemd
internal import Glibc
internal import Platform

/// What a service reports to PID 1 about itself (sd_notify(3)). Nothing happens when the process is not under systemd. All
/// calls are cheap and may come from any thread.
public struct Notifier: Sendable {
    /// `$NOTIFY_SOCKET` of this process, read once.
    public static let environment = Notifier(socketPath: getenv("NOTIFY_SOCKET").map { String(cString: $0) })

    private let address: UnixAddress?

    /// - Parameter socketPath: a path, or an abstract name with `@` in front; nil, or neither, for a notifier that does
    ///   nothing.
    public init(socketPath: String?) {
        address = socketPath.flatMap { UnixAddress($0) }
    }

    /// Whether there is a receiver.
    public var isActive: Bool { address != nil }

    /// The service does its work from now on.
    public func ready(status: String? = nil) {
        send(lines("READY=1", status), mayWait: true)
    }

    /// What `systemctl status` shows: one line, control characters replaced, at most 256 bytes.
    public func status(_ text: String) {
        send("STATUS=" + text.oneLine(limit: 256))
    }

    /// The last status of a process that cannot go on; PID 1 keeps it until the unit is started again. One line of at
    /// most 512 bytes. Waits up to a second for PID 1, since it cannot be said again.
    public func lastStatus(_ text: String) {
        send("STATUS=" + text.oneLine(limit: 512), mayWait: true)
    }

    /// The service made progress: the watchdog's time starts again.
    public func watchdog() {
        send("WATCHDOG=1")
    }

    /// Starting, or stopping, takes this much longer, counted from now.
    public func extendTimeout(_ time: Duration) {
        send("EXTEND_TIMEOUT_USEC=\(time.microseconds)")
    }

    /// The service ends.
    public func stopping(status: String? = nil) {
        send(lines("STOPPING=1", status), mayWait: true)
    }

    /// The service reads its settings again; `ready` says that it has.
    public func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Clocks.monotonic / 1000)", mayWait: true)
    }

    /// Leaves a copy of `descriptor` with PID 1, which hands it over at the next start (`HandedOver`). The unit needs
    /// `FileDescriptorStoreMax=`; PID 1 drops the copy when the other end hangs up.
    ///
    /// - Parameter name: 1 to 255 printable ASCII characters without ":".
    /// - Throws: `.invalid` for such a name, `.system` when the datagram cannot be sent.
    public func store(descriptor: CInt, name: String) throws(SystemdError) {
        guard Self.isDescriptorName(name) else { throw .invalid("name \"\(name.oneLine(limit: 64))\" of a descriptor") }
        let number = send("FDSTORE=1\nFDNAME=\(name)", passing: descriptor, mayWait: true)
        if number != 0 { throw .system(call: "sendmsg", errno: number) }
    }

    /// PID 1 forgets all stored descriptors of this name.
    public func removeStored(name: String) {
        guard Self.isDescriptorName(name) else { return }
        send("FDSTOREREMOVE=1\nFDNAME=\(name)", mayWait: true)
    }

    /// How often PID 1 wants to hear `watchdog` at least; nil without a watchdog, or when it watches another process.
    ///
    /// - Parameter environment: where `WATCHDOG_USEC` and `WATCHDOG_PID` are.
    public static func watchdogInterval(environment: [String: String], processIdentifier: Int32) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        if let watched = environment["WATCHDOG_PID"], Int32(watched) != processIdentifier { return nil }
        return .microseconds(microseconds)
    }

    private func lines(_ first: String, _ status: String?) -> String {
        status.map { "\(first)\nSTATUS=\($0.oneLine(limit: 256))" } ?? first
    }

    private static func isDescriptorName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x3A }
    }

    /// - Parameter mayWait: up to a second when PID 1 is behind with reading. Only for what is said once: a ping or a
    ///   status that is lost is said again, and the frame path must not wait for it.
    /// - Returns: 0 or an `errno`.
    @discardableResult
    private func send(_ text: String, passing descriptor: CInt = -1, mayWait: Bool = false) -> CInt {
        guard let address else { return 0 }
        let socket = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return errno }
        defer { close(socket) }
        if mayWait {
            var limit = timeval(tv_sec: 1, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let flags = mayWait ? 0 : CInt(MSG_DONTWAIT)
        var text = text
        return text.withUTF8 { bytes in
            address.withSocketAddress {
                watchbox_send_datagram(socket, $0, $1, bytes.baseAddress, bytes.count, descriptor, flags)
            }
        }
    }
}

extension Duration {
    /// Whole microseconds, 0 for what lies in the past.
    var microseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000_000)
    }
}
