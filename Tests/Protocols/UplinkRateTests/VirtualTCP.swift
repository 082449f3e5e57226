/// A TCP connection over a virtual link: selective acknowledgements, retransmission after three later packets or a
/// timeout.
struct VirtualTCP {
    private struct Packet {
        var bytes: Int
        var sentAt = 0.0
        /// Of the connection when it was sent.
        var delivered = 0
        var deliveredAt = 0.0
        var isLimited = false
        var isLost = false
        var isAcknowledged = false
        var isSentAgain = false
    }

    /// At the other end, or back with its time stamp.
    private struct Passage {
        var at: Double
        var packet: Int
        var sentAt: Double
        /// Of an answer: all before this one are there.
        var expected = 0
    }

    /// Bytes that wait to be sent.
    private(set) var unsent = 0
    /// Bytes that the other end has, in whatever order.
    private(set) var delivered = 0
    /// Bytes that it has without a gap.
    private(set) var received = 0
    private(set) var leastRoundTrip = 10.0
    /// Bytes that were given to the link, or wait.
    private(set) var written = 0

    private var congestion: any VirtualCongestion
    private let bottleneck: Bottleneck
    private var packets: [Packet] = []
    /// The first that is not acknowledged.
    private var first = 0
    private var newest = -1
    private var inFlight = 0
    private var recovery = -1
    private var roundAt = 0
    private var limitedUntil = -1
    private var deliveredAt = 0.0
    private var nextSend = 0.0
    private(set) var smoothed = 0.0
    private var variance = 0.0
    private var backoff = 1.0
    private var timeoutAt = Double.infinity
    private var arrivals: [Passage] = []
    private var answers: [Passage] = []
    private var out: Set<Int> = []
    private var expected = 0

    static let segment = 1448
    private static let header = 52

    init(_ congestion: any VirtualCongestion, over bottleneck: Bottleneck) {
        self.congestion = congestion
        self.bottleneck = bottleneck
    }

    mutating func write(_ bytes: Int) {
        unsent += bytes
        written += bytes
    }

    /// All that happens up to then; to be called each millisecond.
    mutating func advance(to now: Double) {
        let arrived = arrivals.prefix { $0.at <= now }
        arrivals.removeFirst(arrived.count)
        for passage in arrived { receive(passage) }
        let answered = answers.prefix { $0.at <= now }
        answers.removeFirst(answered.count)
        for passage in answered { acknowledge(passage, at: now) }
        if first < packets.count, now >= timeoutAt { timeOut(at: now) }
        send(at: now)
    }

    private mutating func receive(_ passage: Passage) {
        let (packet, time) = (passage.packet, passage.at)
        if packet >= expected { out.insert(packet) }
        while out.remove(expected) != nil {
            received += packets[expected].bytes
            expected += 1
        }
        // What an answer would have said the next one says.
        if !bottleneck.link.isOut(at: time) {
            answers.append(
                Passage(
                    at: time + bottleneck.link.delay(at: time), packet: packet, sentAt: passage.sentAt,
                    expected: expected))
        }
    }

    private mutating func acknowledge(_ answer: Passage, at now: Double) {
        let packet = answer.packet
        let before = delivered
        let isNew = !packets[packet].isAcknowledged
        mark(packet)
        for index in first..<max(first, min(answer.expected, packets.count)) { mark(index) }
        while first < packets.count, packets[first].isAcknowledged { first += 1 }
        guard delivered > before else { return }
        deliveredAt = now
        backoff = 1
        newest = max(newest, packet)
        var sample: VirtualSample?
        if isNew {
            measure(now - answer.sentAt)
            if !packets[packet].isSentAgain { sample = self.sample(of: packet, at: now) }
        }
        timeoutAt = first < packets.count ? now + timeout : .infinity
        let hasLost = markLost()
        if hasLost, first > recovery {
            recovery = packets.count - 1
            congestion.lost(inFlight: Double(inFlight), at: now)
        } else {
            let count = Double(delivered - before) / Double(Self.segment)
            congestion.acknowledged(count, sample, inFlight: Double(inFlight), at: now)
        }
    }

    private mutating func mark(_ index: Int) {
        guard !packets[index].isAcknowledged else { return }
        packets[index].isAcknowledged = true
        if !packets[index].isLost { inFlight -= 1 }
        delivered += packets[index].bytes
    }

    private mutating func measure(_ roundTrip: Double) {
        leastRoundTrip = min(leastRoundTrip, roundTrip)
        variance = smoothed == 0 ? roundTrip / 2 : 0.75 * variance + 0.25 * abs(smoothed - roundTrip)
        smoothed = smoothed == 0 ? roundTrip : 0.875 * smoothed + 0.125 * roundTrip
    }

    private mutating func sample(of index: Int, at now: Double) -> VirtualSample {
        let packet = packets[index]
        let roundTrip = now - packet.sentAt
        let isRound = packet.delivered >= roundAt
        if isRound { roundAt = delivered }
        let time = max(now - packet.deliveredAt, roundTrip, 0.001)
        return VirtualSample(
            roundTrip: roundTrip, rate: Double(delivered - packet.delivered) / Double(Self.segment) / time,
            isLimited: packet.isLimited, isRound: isRound)
    }

    private mutating func markLost() -> Bool {
        var hasLost = false
        guard newest - 3 >= first else { return false }
        for index in first...(newest - 3)
        where !packets[index].isAcknowledged && !packets[index].isLost
            && packets[index].sentAt < packets[newest].sentAt
        {
            packets[index].isLost = true
            inFlight -= 1
            hasLost = true
        }
        return hasLost
    }

    private var timeout: Double { (smoothed == 0 ? 1 : max(0.2, smoothed + max(0.05, 4 * variance))) * backoff }

    private mutating func timeOut(at now: Double) {
        backoff = min(64, backoff * 2)
        for index in first..<packets.count where !packets[index].isAcknowledged && !packets[index].isLost {
            packets[index].isLost = true
            inFlight -= 1
        }
        congestion.timedOut(at: now)
        recovery = packets.count - 1
        timeoutAt = now + timeout
    }

    private mutating func send(at now: Double) {
        while Double(inFlight) < congestion.window {
            if congestion.pace != nil, now < nextSend { return }
            let index: Int
            if let lost = packets[first...].firstIndex(where: { $0.isLost && !$0.isAcknowledged }) {
                packets[lost].isSentAgain = true
                index = lost
            } else if unsent > 0 {
                let bytes = min(Self.segment, unsent)
                unsent -= bytes
                packets.append(Packet(bytes: bytes))
                index = packets.count - 1
            } else {
                limitedUntil = delivered + inFlight * Self.segment
                return
            }
            transmit(index, at: now)
            if let pace = congestion.pace { nextSend = max(nextSend, now - 0.001) + 1 / max(1, pace) }
        }
    }

    private mutating func transmit(_ index: Int, at now: Double) {
        packets[index].isLost = false
        packets[index].sentAt = now
        packets[index].delivered = delivered
        // A pause in which nothing was on its way is not the link's (tcp_rate.c: tcp_rate_skb_sent).
        if inFlight == 0 { deliveredAt = now }
        packets[index].deliveredAt = deliveredAt
        packets[index].isLimited = delivered <= limitedUntil
        inFlight += 1
        if timeoutAt == .infinity { timeoutAt = now + timeout }
        if let arrival = bottleneck.departure(of: packets[index].bytes + Self.header, at: now) {
            arrivals.append(Passage(at: arrival, packet: index, sentAt: now))
        }
    }
}
