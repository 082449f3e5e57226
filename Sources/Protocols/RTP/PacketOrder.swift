/// Which packet is next, late or too early by its sequence number (RFC 3550 A.1), and those that wait for earlier ones.
struct PacketOrder: Sendable {
    enum Place: Equatable {
        case next
        /// `count` packets before this one are missing, and nothing is waited for.
        case behindGap(count: UInt64)
        /// To be held until the packets before it have come.
        case early
        /// It was here already, or was given up.
        case late
        /// Late like the ones before it, so many in a row that the numbers may have begun again: what comes next does
        /// not follow from what came before.
        case lateInRow
        /// So far away that it is believed only when its successor comes too.
        case unconfirmed
        /// The numbers began again.
        case restarted
    }

    private struct Held: Sendable {
        var packet: RTPPacket
        var arrival: UInt64
    }

    static let heldLimit = 512
    /// 200 ms, in nanoseconds.
    static let timeout: UInt64 = 200_000_000
    /// MAX_DROPOUT and MAX_MISORDER of RFC 3550.
    private static let dropoutLimit = 3000
    private static let misorderLimit = 100
    /// So many late packets in a row, with consecutive numbers, are a loss. Over a connection none is late; datagrams
    /// can come twice.
    private static let (lateLimit, lateDatagramLimit) = (2, 8)
    /// How many packets may be overtaken at the very start.
    private static let startLimit = 32

    private let reorders: Bool
    private let firstSequence: UInt16?
    private var expected: UInt16?
    private var afterUnconfirmed: UInt16?
    private var afterLate: UInt16?
    private var lateCount = 0
    /// Late packets in a row that are of no time from which packets came.
    private var unplacedCount = 0
    private var recent = RecentTimestamps()
    private var hasDelivered = false
    /// By sequence number, from `expected` on.
    private var held: [Held] = []
    private var waitingSince: UInt64 = 0

    init(reorders: Bool, firstSequence: UInt16?) {
        self.reorders = reorders
        // Zero is what cameras write that do not know it.
        self.firstSequence = firstSequence == 0 ? nil : firstSequence
    }

    var isWaiting: Bool { !held.isEmpty }

    /// Classifies a packet; one that is to be delivered is counted as delivered.
    mutating func classify(_ sequence: UInt16, timestamp: UInt32) -> Place {
        guard let expected else { return begin(sequence, timestamp) }
        let distance = Int(Int16(bitPattern: sequence &- expected))
        if distance == 0 {
            delivered(sequence, timestamp)
            return .next
        }
        if distance > 0, distance < Self.dropoutLimit {
            if reorders { return .early }
            delivered(sequence, timestamp)
            return .behindGap(count: UInt64(distance))
        }
        if distance < 0, distance >= -Self.misorderLimit {
            return classify(late: sequence, timestamp, by: -distance)
        }
        guard sequence == afterUnconfirmed else {
            afterUnconfirmed = sequence &+ 1
            return .unconfirmed
        }
        return began(anew: sequence, timestamp)
    }

    /// A packet that was overtaken is of a time around which packets came; an encoder that begins again a few numbers
    /// further down is not.
    private mutating func classify(late sequence: UInt16, _ timestamp: UInt32, by distance: Int) -> Place {
        if sequence != afterLate { (lateCount, unplacedCount) = (0, 0) }
        afterLate = sequence &+ 1
        lateCount += 1
        // What was sent before the first packet that came can be of any time.
        let isOlder = reorders && distance > recent.count
        unplacedCount = isOlder || recent.covers(timestamp) ? 0 : unplacedCount + 1
        if unplacedCount >= 2 { return began(anew: sequence, timestamp) }
        return lateCount == (reorders ? Self.lateDatagramLimit : Self.lateLimit) ? .lateInRow : .late
    }

    private mutating func began(anew sequence: UInt16, _ timestamp: UInt32) -> Place {
        held = []
        recent = RecentTimestamps()
        delivered(sequence, timestamp)
        return .restarted
    }

    private mutating func begin(_ sequence: UInt16, _ timestamp: UInt32) -> Place {
        if reorders, let first = firstSequence {
            let distance = Int(Int16(bitPattern: sequence &- first))
            if distance > 0, distance <= Self.startLimit {
                expected = first
                return .early
            }
        }
        delivered(sequence, timestamp)
        return .next
    }

    private mutating func delivered(_ sequence: UInt16, _ timestamp: UInt32) {
        expected = sequence &+ 1
        afterUnconfirmed = nil
        afterLate = nil
        recent.insert(timestamp)
        hasDelivered = true
    }

    /// Keeps an early packet.
    ///
    /// - Returns: false when it is here already.
    mutating func hold(_ packet: RTPPacket, at now: UInt64) -> Bool {
        let distance = self.distance(packet)
        let index = held.lastIndex { self.distance($0.packet) <= distance }
        if let index, held[index].packet.sequence == packet.sequence { return false }
        if held.isEmpty { waitingSince = now }
        var copy = packet
        // The caller reads into the same memory again.
        copy.payload = unsafe packet.payload.withUnsafeBytes { unsafe ArraySlice($0) }
        held.insert(Held(packet: copy, arrival: now), at: index.map { $0 + 1 } ?? 0)
        return true
    }

    /// The packet that was waiting for the one just delivered.
    mutating func takeNext() -> RTPPacket? {
        guard let first = held.first, first.packet.sequence == expected else { return nil }
        held.removeFirst()
        delivered(first.packet.sequence, first.packet.timestamp)
        waitingSince = held.first?.arrival ?? 0
        return first.packet
    }

    /// Gives up what is missing before the first packet that waits, when that has waited for too long or too many do.
    ///
    /// - Returns: how many packets are lost; the next one then comes from `takeNext()`.
    mutating func giveUp(at now: UInt64) -> UInt64? {
        guard let first = held.first, held.count > Self.heldLimit || now &- waitingSince >= Self.timeout else {
            return nil
        }
        let count = hasDelivered ? UInt64(max(0, distance(first.packet))) : 0
        expected = first.packet.sequence
        return count
    }

    /// Another source: nothing of the old one counts.
    mutating func restart() {
        self = PacketOrder(reorders: reorders, firstSequence: nil)
    }

    private func distance(_ packet: RTPPacket) -> Int {
        Int(Int16(bitPattern: packet.sequence &- (expected ?? packet.sequence)))
    }
}
