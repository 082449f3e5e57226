internal import Media
internal import Wire

/// Makes access units of the payloads of H.264 (RFC 6184) or H.265 (RFC 7798), which come in order of their sequence
/// numbers. The payloads' structures are read in `H264Payload.swift` and `HEVCPayload.swift`.
///
/// A picture ends with the marker bit, or where its parts' timestamp ends; which of the two a camera means is learned.
struct PictureAssembler: Sendable {
    static let byteLimit = 16 << 20
    static let unitLimit = 4096
    /// A picture that may be whole waits this long for more of it: 250 ms, in nanoseconds.
    static let timeout: UInt64 = 250_000_000

    let codec: VideoCodec
    let hasDecodingOrder: Bool
    private var formats: PictureFormats

    /// The picture's units behind their lengths. Kept from picture to picture, so that packets allocate nothing.
    private var buffer: [UInt8] = []
    /// Where the length of the unit stands of which fragments are being collected.
    private var fragment: Int?
    private var units = 0
    private var slices = 0
    private var isKeyFrame = false
    private var isRecoveryPoint = false
    private var isDamaged = false
    /// Something of a picture is here.
    private var isOpen = false
    private var timestamp: UInt32 = 0
    private var arrival: UInt64 = 0
    private var lastDelivered: UInt32?

    private var ends = PictureEnds()
    private var refresh = IntraRefresh()
    /// The camera marks the last fragment of a unit.
    private var marksFragments = false
    /// Units without that mark, one behind the other, though no packet is missing.
    private var cutUnits = 0
    private static let maxCutUnits = 3
    /// It marks those of some units only: the mark says nothing of the others.
    private var marksAtWill = false

    /// Nothing is delivered until one comes.
    private(set) var needsKeyFrame = true
    private var hasDelivered = false
    private(set) var damaged: UInt64 = 0
    private(set) var skipped: UInt64 = 0

    init(codec: VideoCodec, parameterSets: [[UInt8]], hasDecodingOrder: Bool = false) {
        self.codec = codec
        self.hasDecodingOrder = hasDecodingOrder
        formats = PictureFormats(codec: codec, described: parameterSets)
    }

    mutating func received(_ packet: RTPPacket, at now: UInt64, into output: inout [EncodedUnit]) {
        if isOpen, packet.timestamp != timestamp { timestampChanged(into: &output) }
        timestamp = packet.timestamp
        arrival = now
        isOpen = true
        if !isDamaged {
            switch codec {
            case .h264: takeH264(packet.payload)
            case .hevc: takeHEVC(packet.payload)
            }
        }
        if packet.isMarked {
            breakFragment()
            // A marker behind parameter sets or supplemental information alone ends nothing.
            if slices > 0 || isDamaged, ends.markerEnds() { deliver(into: &output) }
        } else if fragment == nil, !isDamaged, ends.isLast(slice: slices) {
            deliver(into: &output)
        }
    }

    private mutating func timestampChanged(into output: inout [EncodedUnit]) {
        breakFragment()
        if slices > 0 || isDamaged {
            if !isDamaged { ends.endedByTimestamp(slices: slices) }
            deliver(into: &output)
        } else if units > 64 || buffer.count > 65536 {
            // What stands before a picture goes with it, but there are bounds.
            clear()
        }
    }

    /// Packets are missing before the next one.
    mutating func lost() {
        needsKeyFrame = true
        lastDelivered = nil
        cutUnits = 0
        if isOpen { damage() }
    }

    /// A picture that was delivered is not shown.
    mutating func requireKeyFrame() {
        needsKeyFrame = true
        formats.repeatFormat()
    }

    /// Another source.
    mutating func restart() {
        clear()
        isOpen = false
        isDamaged = false
        lastDelivered = nil
        needsKeyFrame = true
        hasDelivered = false
        cutUnits = 0
        marksAtWill = false
        refresh = IntraRefresh()
    }

    /// Delivers a picture without marker when nothing followed it.
    mutating func ticked(at now: UInt64, into output: inout [EncodedUnit]) {
        guard isOpen, slices > 0, fragment == nil, !isDamaged, ends.mayEndByTime, now &- arrival >= Self.timeout,
            now > arrival
        else { return }
        deliver(into: &output)
    }

    private mutating func deliver(into output: inout [EncodedUnit]) {
        defer {
            clear()
            isOpen = false
            isDamaged = false
            lastDelivered = timestamp
        }
        guard !isDamaged else {
            needsKeyFrame = true
            // Whoever comes in the middle of a picture did not damage it.
            if hasDelivered { damaged += 1 }
            return
        }
        var format: VideoFormat?
        let beginsHere = refresh.passed(isKeyFrame: isKeyFrame, isRecoveryPoint: isRecoveryPoint, at: arrival)
        if isKeyFrame || beginsHere {
            let (isKnown, change) = formats.atKeyFrame()
            format = change
            if isKnown { needsKeyFrame = false }
        }
        guard !needsKeyFrame else {
            skipped += 1
            return
        }
        hasDelivered = true
        // A copy of the exact size: the buffer stays here.
        let data = unsafe buffer.withUnsafeBytes { unsafe Array($0) }
        output.append(
            EncodedUnit(
                timestamp: timestamp, arrival: arrival, data: data, isKeyFrame: isKeyFrame || beginsHere,
                isRecoveryPoint: beginsHere, format: format))
    }

    private mutating func clear() {
        // One monstrous picture must not hold memory for ever.
        buffer.removeAll(keepingCapacity: buffer.capacity <= 4 << 20)
        fragment = nil
        units = 0
        slices = 0
        isKeyFrame = false
        isRecoveryPoint = false
    }
}

extension PictureAssembler {
    /// What has come of the picture cannot be used any more.
    mutating func damage() {
        clear()
        isDamaged = true
        needsKeyFrame = true
    }

    /// A whole unit.
    mutating func append(unit: ArraySlice<UInt8>) {
        breakFragment()
        guard !unit.isEmpty, !isDamaged else { return }
        let begin = buffer.count
        guard appendLengthField(), appendBytes(unit) else { return }
        finishUnit(at: begin)
    }

    /// The first part of a unit whose header was rebuilt.
    mutating func beginFragment(header: UInt8, _ second: UInt8? = nil, _ bytes: ArraySlice<UInt8>) {
        breakFragment()
        guard !isDamaged else { return }
        let begin = buffer.count
        guard appendLengthField() else { return }
        buffer.append(header)
        if let second { buffer.append(second) }
        if appendBytes(bytes) { fragment = begin }
    }

    mutating func continueFragment(_ bytes: ArraySlice<UInt8>) {
        guard fragment != nil else {
            damage()
            return
        }
        _ = appendBytes(bytes)
    }

    /// The last fragment of a unit came, marked as such.
    mutating func endFragment() {
        marksFragments = true
        cutUnits = 0
        closeFragment()
    }

    mutating func closeFragment() {
        guard let begin = fragment else { return }
        fragment = nil
        finishUnit(at: begin)
    }

    /// Something else follows the fragments, though no packet is missing. Where a camera marks the last one, the rest
    /// was never sent, and the unit is cut; where it never does, or leaves the mark out again and again, this is the
    /// end.
    private mutating func breakFragment() {
        guard fragment != nil else { return }
        guard marksFragments, !marksAtWill else {
            closeFragment()
            return
        }
        cutUnits += 1
        marksAtWill = cutUnits >= Self.maxCutUnits
        if marksAtWill { closeFragment() } else { damage() }
    }

    /// False when the picture would become too large: it is damaged then.
    private mutating func appendBytes(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count <= Self.byteLimit - buffer.count else {
            damage()
            return false
        }
        buffer.append(contentsOf: bytes)
        return true
    }

    private mutating func appendLengthField() -> Bool {
        guard buffer.count < Self.byteLimit - 8 else {
            damage()
            return false
        }
        buffer.appendUInt32(0)
        return true
    }

    /// Writes the length at `begin`, or takes the unit out again when it is not part of an access unit.
    private mutating func finishUnit(at begin: Int) {
        let body = begin + 4
        if let code = StartCode.first(in: buffer, from: body) {
            split(from: begin, at: code)
            return
        }
        let length = buffer.count - body
        guard length > 0, keeps(unitAt: body, length: length) else {
            if !isDamaged { buffer.removeLast(buffer.count - begin) }
            return
        }
        units += 1
        guard units <= Self.unitLimit else {
            damage()
            return
        }
        let size = UInt32(length)
        buffer[begin] = UInt8(truncatingIfNeeded: size >> 24)
        buffer[begin + 1] = UInt8(truncatingIfNeeded: size >> 16)
        buffer[begin + 2] = UInt8(truncatingIfNeeded: size >> 8)
        buffer[begin + 3] = UInt8(truncatingIfNeeded: size)
    }

    /// A byte stream where one unit should be (`scottlamb/retina#68`): start codes cannot stand inside of a unit.
    private mutating func split(from begin: Int, at code: Int) {
        let bytes = unsafe buffer.withUnsafeBytes { unsafe Array($0[(begin + 4)...]) }
        buffer.removeLast(buffer.count - begin)
        var start = 0
        var next: Int? = code - begin - 4
        while !isDamaged {
            var end = next ?? bytes.count
            while end > start, bytes[end - 1] == 0 { end -= 1 }
            append(unit: bytes[start..<end])
            guard let found = next else { return }
            start = found + 3
            next = StartCode.first(in: bytes, from: start)
        }
    }

    /// Whether the unit belongs into the access unit; learns from it what the picture is.
    private mutating func keeps(unitAt body: Int, length: Int) -> Bool {
        let header = buffer[body]
        if codec == .hevc {
            // Units of another layer mean nothing to decoders of the base layer.
            guard length >= 3, header & 1 == 0, buffer[body + 1] >> 3 == 0 else { return false }
        }
        let kind = codec.kind(ofHeader: header)
        switch kind {
        case .accessUnitDelimiter, .filler: return false
        case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet:
            formats.found(buffer[body...])
            return false
        case .supplementalInformation:
            if !isRecoveryPoint { isRecoveryPoint = codec.holdsRecoveryPoint(buffer[body...]) }
            return true
        case .other: return isSpecified(header)
        case .keyPicture, .picture: return keeps(sliceAt: body, length: length, isKey: kind == .keyPicture)
        }
    }

    private func isSpecified(_ header: UInt8) -> Bool {
        switch codec {
        case .h264: header & 0x1F != 0 && header & 0x1F < 22
        case .hevc: header >> 1 & 0x3F < 41
        }
    }

    private mutating func keeps(sliceAt body: Int, length: Int, isKey: Bool) -> Bool {
        if slices == 0 {
            isKeyFrame = isKey
            if !beginsPicture(sliceAt: body, length: length) {
                // The rest of a picture that was delivered: its end was taken for known too early.
                if lastDelivered == timestamp { ends.endedTooEarly() }
                damage()
                return false
            }
        }
        slices += 1
        return true
    }

    /// first_mb_in_slice is 0, or first_slice_segment_in_pic_flag is set: each the first bit behind the unit's header.
    private func beginsPicture(sliceAt body: Int, length: Int) -> Bool {
        switch codec {
        // Data partitions B and C have no such field, and come behind A.
        case .h264: length >= 2 && buffer[body + 1] & 0x80 != 0
        case .hevc: buffer[body + 2] & 0x80 != 0
        }
    }
}
