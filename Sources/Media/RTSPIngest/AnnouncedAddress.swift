internal import Wire

/// Which announced addresses are worth a look: anyone on the camera's network can announce any.
enum AnnouncedAddress {
    /// Whether a host is the one that is known, or the literal address of a neighbour: private (RFC 1918), unique local
    /// (RFC 4193) or link-local. A name never is: who answers for it may be anywhere.
    ///
    /// - Parameter known: hosts of the camera until now. With a loopback address among them, others of that kind count.
    static func mayBeAsked(_ host: String, known: [String]) -> Bool {
        guard let address = address(host) else { return false }
        if known.contains(where: { self.address($0) == address }) { return true }
        // Mapped into IPv6, an address of IPv4 is not a neighbour's.
        guard address.bytes.count == 16 || !host.contains(":") else { return false }
        if address.isLoopback { return known.contains { self.address($0)?.isLoopback == true } }
        let bytes = address.bytes
        guard bytes.count == 4 else {
            return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
        }
        return bytes[0] == 10 || (bytes[0] == 172 && bytes[1] & 0xF0 == 16) || (bytes[0] == 192 && bytes[1] == 168)
            || (bytes[0] == 169 && bytes[1] == 254)
    }

    /// Of a literal address, with or without a zone; nil for anything else.
    private static func address(_ host: String) -> NetworkAddress? { NetworkAddress(String(host.prefix { $0 != "%" })) }
}

/// Addresses that were announced, and where the camera was not: not asked again before a pause is over, which doubles
/// from ten minutes to a day, and from a minute where there was no answer, as of a camera that still starts. By address,
/// since a port or a path is made up in no time; and since addresses can be made up as well, only so many are asked
/// within an hour in all: no one can make this box knock at others' doors. No input or output.
struct RefusedAddresses: Equatable, Sendable {
    private struct Refusal: Equatable, Sendable {
        var address: String
        var until: UInt64
        var pause: UInt64
    }

    private var refusals: [Refusal] = []
    /// Of the newest ones, whatever the address.
    private var newest: [UInt64] = []

    static let maxCount = 64
    static let maxPerHour = 8
    static let firstPause: UInt64 = 600_000_000_000
    static let silentPause: UInt64 = 60_000_000_000
    static let maxPause: UInt64 = 86_400_000_000_000
    private static let hour: UInt64 = 3_600_000_000_000

    /// - Parameter now: CLOCK_MONOTONIC, nanoseconds.
    func permits(_ address: String, at now: UInt64) -> Bool {
        let key = address.lowercased()
        guard newest.count(where: { now < $0 &+ Self.hour }) < Self.maxPerHour else { return false }
        return refusals.first { $0.address == key }.map { now >= $0.until } ?? true
    }

    /// - Parameter isSilent: there was no answer.
    mutating func refused(_ address: String, at now: UInt64, isSilent: Bool = false) {
        let key = address.lowercased()
        newest.append(now)
        if newest.count > Self.maxPerHour { newest.removeFirst() }
        if let place = refusals.firstIndex(where: { $0.address == key }) {
            let pause = min(refusals[place].pause * 2, Self.maxPause)
            refusals[place] = Refusal(address: key, until: now &+ pause, pause: pause)
            return
        }
        if refusals.count >= Self.maxCount,
            let soonest = refusals.indices.min(by: { refusals[$0].until < refusals[$1].until })
        {
            refusals.remove(at: soonest)
        }
        let pause = isSilent ? Self.silentPause : Self.firstPause
        refusals.append(Refusal(address: key, until: now &+ pause, pause: pause))
    }

    /// It is the camera after all.
    mutating func proven(_ address: String) {
        let key = address.lowercased()
        refusals.removeAll { $0.address == key }
    }
}
