internal import Media

/// One RTP stream, from packet to unit (RFC 3550). Never throws: what is not of this stream, or malformed, is counted.
///
/// Units come out with their last packet. Of video, nothing comes out before the first key frame, nothing damaged, and
/// after a loss nothing before the next key frame: a viewer must not see smear. Where no key frames come for seconds,
/// recovery points stand in for them (`IntraRefresh`); then the first frames are only partly right.
public struct RTPTrack: Sendable {
    public struct Configuration: Equatable, Sendable {
        public var format: PayloadFormat
        /// 0…127; packets of another type are discarded.
        public var payloadType: UInt8
        /// Ticks per second of the RTP timestamps.
        public var clockRate: Int
        /// The SSRC of the Transport header; a hint: nothing waits for it, and it takes over when it comes.
        public var source: UInt32?
        /// The first sequence number by RTP-Info; a hint, used only to wait for packets that were overtaken at the
        /// start.
        public var firstSequence: UInt16?
        /// Packets can overtake each other, as with UDP; they are put into order within 200 ms.
        public var reorders: Bool
        /// Our own SSRC, random.
        public var ownSource: UInt32
        /// CNAME of our reports: random, at most 255 bytes; says nothing of the box.
        public var name: String
        /// Of JPEG, by the session description (`a=x-dimensions`): of images whose packets do not say their size.
        public var dimensions: FrameDimensions?

        public init(
            format: PayloadFormat, payloadType: UInt8, clockRate: Int, source: UInt32? = nil,
            firstSequence: UInt16? = nil, reorders: Bool = false, ownSource: UInt32, name: String
        ) {
            self.format = format
            self.payloadType = payloadType
            self.clockRate = clockRate
            self.source = source
            self.firstSequence = firstSequence
            self.reorders = reorders
            self.ownSource = ownSource
            self.name = name
        }
    }

    private enum Kind: Sendable {
        case pictures, frames, samples, files
    }

    private let configuration: Configuration
    private let kind: Kind
    private var selection: SourceSelection
    private var order: PacketOrder
    private var reception: Reception
    private var pictures: PictureAssembler
    private var frames: AACFrames
    private var files: JPEGAssembler

    private var counts = RTPStatistics()
    private var beginsSource = false

    /// The newest of the source that is followed.
    public private(set) var senderReport: SenderReport?

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        selection = SourceSelection(hint: configuration.source)
        order = PacketOrder(reorders: configuration.reorders, firstSequence: configuration.firstSequence)
        reception = Reception(clockRate: configuration.clockRate)
        pictures = PictureAssembler(codec: .h264, parameterSets: [])
        frames = AACFrames(configuration: [], sizeLength: 0, indexLength: 0, indexDeltaLength: 0, clockRate: 1)
        files = JPEGAssembler(dimensions: configuration.dimensions)
        switch configuration.format {
        case .h264(let sets):
            kind = .pictures
            pictures = PictureAssembler(codec: .h264, parameterSets: sets)
        case .hevc(let sets, let hasDecodingOrder):
            kind = .pictures
            pictures = PictureAssembler(codec: .hevc, parameterSets: sets, hasDecodingOrder: hasDecodingOrder)
        case .aac(let audio, let sizeLength, let indexLength, let indexDeltaLength):
            kind = .frames
            frames = AACFrames(
                configuration: audio, sizeLength: sizeLength, indexLength: indexLength,
                indexDeltaLength: indexDeltaLength, clockRate: configuration.clockRate)
        case .pcmu, .pcma, .packets: kind = .samples
        case .jpeg: kind = .files
        }
    }

    public var statistics: RTPStatistics {
        var statistics = counts
        statistics.damaged = pictures.damaged + frames.damaged + files.damaged
        statistics.skipped = pictures.skipped
        statistics.jitterNanoseconds = reception.jitterNanoseconds
        return statistics
    }

    /// The source said that it ends (BYE).
    public var hasLeft: Bool { selection.hasLeft }

    /// H.264 and H.265: nothing is delivered until a key frame comes. A camera can be asked for one.
    public var needsKeyFrame: Bool { kind == .pictures && pictures.needsKeyFrame }

    /// H.264 and H.265: a frame that was delivered could not be used (`StreamClock.place` gave it no time), and what
    /// refers to it must not be shown. Nothing more comes out before the next key frame, which brings its format again.
    /// Units that were returned already are the caller's to leave out, up to the next key frame among them.
    public mutating func requireKeyFrame() {
        pictures.requireKeyFrame()
    }

    /// Takes one data packet. What waits for packets before it is copied; nothing else is kept of `bytes`.
    public mutating func received(_ bytes: ArraySlice<UInt8>, at now: UInt64) -> [EncodedUnit] {
        guard !ControlMessage.isControl(bytes) else {
            receivedControl(bytes, at: now)
            return []
        }
        guard let packet = try? RTPPacket.parse(bytes), packet.payloadType == configuration.payloadType else {
            counts.discarded += 1
            return []
        }
        switch selection.classify(packet.source, at: now) {
        case .followed: break
        case .chosen(let replaces): if replaces { sourceChanged() }
        case .other:
            counts.discarded += 1
            return []
        }
        counts.lastPacket = now
        var units: [EncodedUnit] = []
        place(packet, at: now, into: &units)
        if order.isWaiting { release(at: now, into: &units) }
        return units
    }

    private mutating func place(_ packet: RTPPacket, at now: UInt64, into units: inout [EncodedUnit]) {
        switch order.classify(packet.sequence, timestamp: packet.timestamp) {
        case .next:
            if order.isWaiting { counts.reordered += 1 }
            deliver(packet, at: now, into: &units)
        case .behindGap(let count):
            counts.lost += count
            lost()
            deliver(packet, at: now, into: &units)
        case .early:
            if !order.hold(packet, at: now) { counts.discarded += 1 }
        case .late, .unconfirmed:
            counts.discarded += 1
        case .lateInRow:
            counts.discarded += 1
            lost()
        case .restarted:
            reception.restart()
            lost()
            deliver(packet, at: now, into: &units)
        }
    }

    /// Takes one compound control packet.
    public mutating func receivedControl(_ bytes: ArraySlice<UInt8>, at now: UInt64) {
        for message in ControlMessage.parse(bytes) {
            switch message {
            case .senderReport(let source, let ntp, let timestamp):
                guard selection.concerns(source) else { continue }
                senderReport = SenderReport(ntp: ntp, timestamp: timestamp, arrival: now)
            case .goodbye(let source):
                selection.left(source, at: now)
            }
        }
    }

    /// To be called now and then, at least every 100 ms where packets can overtake each other: what waited long enough
    /// comes out.
    public mutating func ticked(at now: UInt64) -> [EncodedUnit] {
        var units: [EncodedUnit] = []
        if order.isWaiting { release(at: now, into: &units) }
        if kind == .pictures {
            pictures.ticked(at: now, into: &units)
            mark(&units, from: 0)
        }
        return units
    }

    /// A compound packet to send: receiver report and source description.
    public mutating func receiverReport(at now: UInt64) -> [UInt8] {
        var block: [UInt8]?
        if let source = selection.current {
            block = reception.block(source: source, lastReport: senderReport, at: now)
        }
        return ReceiverReport(ownSource: configuration.ownSource, name: configuration.name, block: block).encoded
    }

    /// Packets that waited, as far as nothing is missing before them any more.
    private mutating func release(at now: UInt64, into units: inout [EncodedUnit]) {
        while true {
            while let packet = order.takeNext() {
                deliver(packet, at: now, into: &units)
            }
            guard let missing = order.giveUp(at: now) else { return }
            counts.lost += missing
            lost()
        }
    }

    private mutating func deliver(_ packet: RTPPacket, at now: UInt64, into units: inout [EncodedUnit]) {
        counts.packets += 1
        reception.delivered(sequence: packet.sequence, timestamp: packet.timestamp, arrival: now)
        let count = units.count
        switch kind {
        case .pictures: pictures.received(packet, at: now, into: &units)
        case .frames: frames.received(packet, at: now, into: &units)
        case .files: files.received(packet, at: now, into: &units)
        case .samples:
            guard !packet.payload.isEmpty else { return }
            let data = unsafe packet.payload.withUnsafeBytes { unsafe Array($0) }
            units.append(EncodedUnit(timestamp: packet.timestamp, arrival: now, data: data, isKeyFrame: true))
        }
        mark(&units, from: count)
    }

    private mutating func mark(_ units: inout [EncodedUnit], from index: Int) {
        guard beginsSource, index < units.count else { return }
        units[index].beginsSource = true
        beginsSource = false
    }

    private mutating func lost() {
        switch kind {
        case .pictures: pictures.lost()
        case .frames: frames.lost()
        case .files: files.lost()
        case .samples: break
        }
    }

    private mutating func sourceChanged() {
        order.restart()
        reception = Reception(clockRate: configuration.clockRate)
        senderReport = nil
        beginsSource = true
        pictures.restart()
        frames.lost()
        files.lost()
    }
}
