/// RFC 6184 §5.4 to §5.8: single units, aggregates and fragments, the interleaved ones too (their decoding order
/// numbers are passed over: cameras send in decoding order).
extension PictureAssembler {
    mutating func takeH264(_ payload: ArraySlice<UInt8>) {
        guard let header = payload.first else { return }
        switch header & 0x1F {
        case 1...23: append(unit: payload)
        case 24: takeH264Aggregate(payload.dropFirst(), unitPrefix: 0)
        case 25: takeH264Aggregate(payload.dropFirst(3), unitPrefix: 0)
        // DOND and the distance in time stand between the size and the unit.
        case 26: takeH264Aggregate(payload.dropFirst(3), unitPrefix: 3)
        case 27: takeH264Aggregate(payload.dropFirst(3), unitPrefix: 4)
        case 28: takeH264Fragment(payload, numberSize: 0)
        case 29: takeH264Fragment(payload, numberSize: 2)
        // A byte stream begins like this; `append` splits it. Anything else is of no type.
        default: if header == 0 { append(unit: payload) }
        }
    }

    private mutating func takeH264Aggregate(_ payload: ArraySlice<UInt8>, unitPrefix: Int) {
        var rest = payload
        while !rest.isEmpty {
            guard rest.count >= 2 else { return }
            let size = Int(rest.bigEndian16(at: rest.startIndex))
            rest = rest.dropFirst(2 + unitPrefix)
            guard size <= rest.count else {
                damage()
                return
            }
            append(unit: rest.prefix(size))
            rest = rest.dropFirst(size)
        }
    }

    /// The type in later fragments is wrong with some cameras (`scottlamb/moonfire-nvr#344`): only the first one's counts.
    private mutating func takeH264Fragment(_ payload: ArraySlice<UInt8>, numberSize: Int) {
        guard payload.count >= 2 + numberSize else {
            damage()
            return
        }
        let indicator = payload[payload.startIndex]
        let header = payload[payload.startIndex + 1]
        let body = payload.dropFirst(2 + numberSize)
        if header & 0x80 != 0 {
            beginFragment(header: indicator & 0xE0 | header & 0x1F, nil, body)
        } else {
            continueFragment(body)
        }
        if header & 0x40 != 0 { endFragment() }
    }
}
