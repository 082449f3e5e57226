internal import Media

/// What becomes of an encoder's packets: events for the stream, a key frame to be asked for, or another opening.
///
/// Governs the parameter sets, which some encoders report when they are opened, some with the first key frame and never
/// again, and some in a packet of their own; the matching of packets with frames; and the distance of key frames.
struct EncoderOutput {
    /// What a decoder must know; nil until an encoder has reported it.
    private(set) var format: VideoFormat?
    private(set) var ledger = EncoderLedger()
    var clock: KeyFrameClock
    /// Key frames that were asked for, but for the first of each opening.
    private(set) var forcedKeyFrames: UInt64 = 0
    /// The encoder returns key frames and never reported the parameter sets.
    private(set) var isReopeningNeeded = false

    private var codec: VideoCodec
    private var frameRate: Double
    private var parameterSets: ParameterSets
    /// Whether `format` is of the encoder that is open.
    private var isFormatKnown = false
    private var isFormatDelivered = false
    private var isFirstFrame = true
    /// Packets in a row of which nothing could be made.
    private var fruitless = 0

    static let maxFruitless = 64

    init(codec: VideoCodec, frameRate: Double, keyFrameInterval: MediaTime) {
        self.codec = codec
        self.frameRate = frameRate
        parameterSets = ParameterSets(codec: codec)
        clock = KeyFrameClock(interval: keyFrameInterval)
    }

    /// - Parameter extradata: parameter sets as a byte stream; empty when the encoder does not report them yet.
    mutating func opened(codec: VideoCodec, frameRate: Double, extradata: [UInt8]) throws(VideoCodecError) {
        self.codec = codec
        self.frameRate = frameRate
        parameterSets = ParameterSets(codec: codec)
        isFormatKnown = false
        isReopeningNeeded = false
        try update(with: AnnexB.lengthPrefixed(extradata[...]))
    }

    /// A frame goes in.
    ///
    /// - Parameter tick: greater than all before.
    /// - Returns: whether it must be a key frame.
    mutating func sending(_ frame: EncoderLedger.Frame, at tick: Int64) -> Bool {
        let isKeyFrame = clock.sending(at: frame.presentationTime)
        if isKeyFrame, !isFirstFrame { forcedKeyFrames += 1 }
        isFirstFrame = false
        ledger.sent(frame, at: tick)
        return isKeyFrame
    }

    /// A packet came out.
    ///
    /// - Parameter tick: as the encoder gives it, which may be that of no frame.
    /// - Parameter isFlagged: the encoder says that the packet is damaged.
    /// - Parameter extradata: what the encoder reported again with this packet, as a byte stream.
    /// - Throws: when nothing can be made of a long row of packets.
    mutating func received(
        _ packet: EncodedPacket, at tick: Int64, isFlagged: Bool, extradata: [UInt8] = []
    ) throws(VideoCodecError) -> [MediaEvent] {
        var condition = isFlagged ? EncoderLedger.Condition.flagged : .intact
        if !extradata.isEmpty { _ = tryUpdate(with: AnnexB.lengthPrefixed(extradata[...])) }
        if condition == .intact, packet.isKeyFrame || !packet.hasFrame {
            if !tryUpdate(with: packet.data) { condition = .unreadable }
            // Some drivers give the parameter sets in a packet of their own, before the first frame.
            if condition == .intact, !packet.hasFrame, !packet.data.isEmpty { return [] }
            if !packet.hasFrame { condition = .unreadable }
        }
        let isKeyFrame = packet.isKeyFrame && condition == .intact
        switch ledger.received(tick: tick, isKeyFrame: isKeyFrame, condition) {
        case .deliver(let frame):
            clock.received(at: frame.presentationTime, isKeyFrame: isKeyFrame)
            return try deliver(packet, frame)
        case .giveUp(let frame):
            clock.received(at: frame.presentationTime, isKeyFrame: false)
            if condition != .intact { clock.request() }
            try countFruitless(condition == .intact ? "no key frame" : "damaged")
        case .ignore:
            if condition == .flagged { clock.request() }
            try countFruitless("of no frame that was sent")
        }
        return []
    }

    /// The encoder is closed.
    mutating func ended() {
        ledger.ended()
        clock.restart()
        isFirstFrame = true
    }

    private mutating func deliver(
        _ packet: EncodedPacket, _ frame: EncoderLedger.Frame
    ) throws(VideoCodecError) -> [MediaEvent] {
        guard let format, isFormatKnown else {
            // Nothing can be made of a frame without parameter sets, and a driver gives them once.
            if packet.isKeyFrame { isReopeningNeeded = true }
            ledger.gaveUp()
            try countFruitless("no parameter sets")
            return []
        }
        fruitless = 0
        let unit = AccessUnit(
            track: .video(codec), isKeyFrame: packet.isKeyFrame, presentationTime: frame.presentationTime,
            decodeTime: frame.presentationTime, data: packet.data, captureInstant: frame.captureInstant)
        defer { isFormatDelivered = true }
        return isFormatDelivered ? [.accessUnit(unit)] : [.videoFormat(format), .accessUnit(unit)]
    }

    private mutating func countFruitless(_ reason: String) throws(VideoCodecError) {
        fruitless += 1
        guard fruitless >= Self.maxFruitless else { return }
        throw .malformedOutput("\(fruitless) packets in a row are of no use, the last one for this: \(reason)")
    }

    private mutating func tryUpdate(with data: [UInt8]) -> Bool {
        do {
            try update(with: data)
            return true
        } catch {
            return false
        }
    }

    /// Takes the parameter sets that precede the first slice of `data`.
    private mutating func update(with data: [UInt8]) throws(VideoCodecError) {
        let found: VideoFormat?
        do {
            found = try parameterSets.update(with: data[...])
        } catch {
            throw .malformedOutput("\(error)")
        }
        guard var found else { return }
        isFormatKnown = true
        found.frameRate = frameRate
        guard found != format else { return }
        format = found
        isFormatDelivered = false
    }
}
