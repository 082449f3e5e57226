import UplinkRate

/// A camera with 30 frames a second, whose encoder follows ``UplinkRate``, over a virtual link: key frames of four
/// times the size each two seconds, a queue, and a kernel that takes 16 KiB in advance.
struct VirtualPublisher {
    struct Outcome {
        /// Of 100.
        var frames = 0.0
        /// Of what the link or the encoder could do, of 100: for each step of the link.
        var use: [Double] = []
        /// From capture to arrival, milliseconds.
        var p95 = 0.0
        var longest = 0.0
        /// Seconds after the last change of the link for the better until a second of capture has 85 % of what it
        /// could, and all of it arrives within half a second; nil: never.
        var back: Double?
        /// Bits a second that arrived: of the whole, and of the second half.
        var mean = 0.0
        var later = 0.0
        /// The lowest that the encoder ever had, bits a second.
        var least = 0
        /// Changes of the encoder's bitrate, and the shortest time from one to a raise, seconds.
        var changes = 0
        var shortestToRaise = Double.infinity
    }

    static let limits = UplinkRate.Limits(least: 150_000, most: 3_500_000)
    /// Seconds.
    private static let group = 2.0
    private static let keyWeight = 4.0
    private static let kernel = 16_384

    private struct Arrival {
        var captured: Double
        var at: Double
        var bytes: Int
    }

    /// What it sends.
    struct Media {
        /// Frames a second.
        var frameRate = 30.0
        /// Bits a second that an encoder needs for what moves; key frames are as large as the bitrate allows.
        var scene = Int.max
        /// Bits a second, 50 packets.
        var audio = 0
        var kind = EncoderPace.Kind.live
    }

    private let link: VirtualLink
    private let media: Media
    private var tcp: VirtualTCP
    private var rate = UplinkRate(limits)
    /// What the encoder has, bits a second.
    private var bitrate = Int(limits.most)
    private var changedAt = 0.0
    private var queue: [(captured: Double, bytes: Int, isVideo: Bool)] = []
    /// Bytes of a frame that is being written.
    private var current = 0
    private var ends: [(place: Int, captured: Double, bytes: Int)] = []
    private var arrivals: [Arrival] = []
    private var offered = 0
    private var offeredAudio = 0
    private var sentAudio = 0
    private var sinceKey = Int.max
    private var needsKey = false
    private var outcome = Outcome()

    static func outcome(
        over link: VirtualLink, _ congestion: any VirtualCongestion, _ media: Media = Media()
    ) -> Outcome {
        together(over: link, [(congestion, media)])[0]
    }

    /// Of several over the same link, each with a connection of its own.
    static func together(over link: VirtualLink, _ all: [(any VirtualCongestion, Media)]) -> [Outcome] {
        let bottleneck = Bottleneck(link)
        var publishers = all.map { VirtualPublisher(link, VirtualTCP($0, over: bottleneck), $1) }
        for millisecond in 0..<Int(link.duration * 1000) {
            for index in publishers.indices { publishers[index].advance(to: millisecond) }
        }
        for index in publishers.indices { publishers[index].assess() }
        return publishers.map(\.outcome)
    }

    private init(_ link: VirtualLink, _ tcp: VirtualTCP, _ media: Media) {
        self.link = link
        self.tcp = tcp
        self.media = media
        rate.use(media.kind)
        outcome.least = bitrate
    }

    private mutating func advance(to millisecond: Int) {
        let now = Double(millisecond) / 1000
        while Double(offered) / media.frameRate <= now { encode() }
        while media.audio > 0, Double(offeredAudio) / 50 <= now {
            queue.append((Double(offeredAudio) / 50, media.audio / 400, false))
            offeredAudio += 1
        }
        write()
        tcp.advance(to: now)
        while let end = ends.first, tcp.received >= end.place {
            arrivals.append(Arrival(captured: end.captured, at: now, bytes: end.bytes))
            ends.removeFirst()
        }
        if millisecond % 100 == 0 { look(at: now, UInt64(millisecond) * 1_000_000) }
    }

    private mutating func encode() {
        let group = max(1, Int(Self.group * media.frameRate))
        let isKey = sinceKey >= group || needsKey
        let mean = Double(group) / (Double(group - 1) + Self.keyWeight)
        let share = isKey ? Double(bitrate) * Self.keyWeight : Double(min(bitrate, media.scene))
        let bytes = max(1, Int(share * mean / 8 / media.frameRate))
        queue.append((Double(offered) / media.frameRate, bytes, true))
        sinceKey = isKey ? 1 : sinceKey + 1
        needsKey = false
        offered += 1
    }

    private mutating func write() {
        while tcp.unsent < Self.kernel, current > 0 || !queue.isEmpty {
            if current == 0 {
                let frame = queue.removeFirst()
                current = frame.bytes
                if frame.isVideo {
                    ends.append((tcp.written + frame.bytes, frame.captured, frame.bytes))
                } else {
                    sentAudio += frame.bytes
                }
            }
            let count = min(current, 2 * Self.kernel - tcp.unsent)
            current -= count
            tcp.write(count)
        }
    }

    private mutating func look(at now: Double, _ instant: UInt64) {
        let waiting = current + queue.reduce(0) { $0 + $1.bytes } + tcp.written - tcp.delivered
        let video = queue.filter(\.isVideo)
        let queued = (video.last?.captured ?? 0) - (video.first?.captured ?? 0)
        let decision = rate.take(
            LinkReading(
                instant: instant, queueDuration: UInt64(queued * 1e9), outstanding: UInt64(waiting),
                delivered: UInt64(tcp.delivered), roundTrip: UInt64(tcp.smoothed * 1e9),
                leastRoundTrip: UInt64(tcp.leastRoundTrip * 1e9), frames: UInt64(offered), audio: UInt64(sentAudio)))
        if let encoder = decision.encoder {
            if encoder > bitrate { outcome.shortestToRaise = min(outcome.shortestToRaise, now - changedAt) }
            changedAt = now
            bitrate = encoder
            // It begins anew.
            if rate.pace.kind == .reopened { needsKey = true }
            outcome.changes += 1
            outcome.least = min(outcome.least, encoder)
        }
        if decision.dropsQueue {
            queue.removeAll(where: \.isVideo)
            needsKey = true
        }
    }

    private mutating func assess() {
        outcome.frames = 100 * Double(arrivals.count) / Double(offered)
        outcome.mean = arrivals.reduce(0) { $0 + Double($1.bytes) * 8 } / link.duration
        let half = arrivals.filter { $0.at >= link.duration / 2 }
        outcome.later = half.reduce(0) { $0 + Double($1.bytes) * 8 } / (link.duration / 2)
        let latencies = arrivals.map { ($0.at - $0.captured) * 1000 }.sorted()
        guard let longest = latencies.last else { return }
        outcome.longest = longest
        outcome.p95 = latencies[latencies.count * 95 / 100]
        let ends = link.steps.dropFirst().map(\.from) + [link.duration]
        for (step, end) in zip(link.steps, ends) {
            let bits = arrivals.reduce(0) { $1.at >= step.from && $1.at < end ? $0 + Double($1.bytes) * 8 : $0 }
            outcome.use.append(100 * bits / (end - step.from) / possible(step.rate))
        }
        outcome.back = back()
    }

    private func back() -> Double? {
        let better = link.outages.last?.upperBound ?? link.steps[link.steps.count - 1].from
        let enough = 0.85 * possible(link.rate(at: link.duration))
        for begin in stride(from: better, through: link.duration - 1, by: 0.1) {
            let second = arrivals.filter { $0.captured >= begin && $0.captured < begin + 1 }
            if second.reduce(0, { $0 + Double($1.bytes) * 8 }) >= enough,
                second.allSatisfy({ $0.at - $0.captured < 0.5 })
            {
                return begin - better
            }
        }
        return nil
    }

    private func possible(_ rate: Double) -> Double { min(rate * 1000, Self.limits.most) }
}
