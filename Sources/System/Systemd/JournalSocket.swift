internal import CSystemd
internal import Glibc
internal import Platform
internal import Synchronization

/// The way to the journal: one datagram socket for the process. Never waits: what the journal cannot take now is
/// dropped and counted, and the next entry that arrives says how many were lost.
final class JournalSocket: Sendable {
    static let systemPath = "/run/systemd/journal/socket"
    static let system = JournalSocket(path: systemPath)

    private let address: UnixAddress?
    private let descriptor: CInt
    private let dropped = Mutex(0)

    init(path: String) {
        address = UnixAddress(path)
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func send(_ fields: JournalFields) {
        var fields = fields
        let lost = dropped.withLock { count in
            defer { count = 0 }
            return count
        }
        if lost > 0 { fields.append("WATCHBOX_DROPPED", "\(lost)") }
        if !send(fields.bytes) { dropped.withLock { $0 += lost + 1 } }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        guard let address, descriptor >= 0 else { return false }
        return bytes.withUnsafeBytes { bytes in
            address.withSocketAddress {
                watchbox_send_datagram(
                    descriptor, $0, $1, bytes.baseAddress, bytes.count, -1, CInt(MSG_DONTWAIT))
            }
        } == 0
    }
}
