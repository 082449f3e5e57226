/// RFC 7798 §4.4: single units, aggregates and fragments.
extension PictureAssembler {
    mutating func takeHEVC(_ payload: ArraySlice<UInt8>) {
        guard payload.count >= 2 else { return }
        let header = payload[payload.startIndex]
        switch header >> 1 & 0x3F {
        case 48: takeHEVCAggregate(payload.dropFirst(2))
        case 49: takeHEVCFragment(payload)
        case 50...63: return  // PACI, and types that do not exist
        default: takeHEVCUnit(payload)
        }
    }

    private mutating func takeHEVCUnit(_ payload: ArraySlice<UInt8>) {
        guard hasDecodingOrder else {
            append(unit: payload)
            return
        }
        // DONL stands behind the header.
        let second = payload[payload.startIndex + 1]
        beginFragment(header: payload[payload.startIndex], second, payload.dropFirst(4))
        closeFragment()
    }

    private mutating func takeHEVCAggregate(_ payload: ArraySlice<UInt8>) {
        // DONL before the first unit's size, DOND before the others'.
        var rest = hasDecodingOrder ? payload.dropFirst(2) : payload
        while rest.count >= 2 {
            let size = Int(rest.bigEndian16(at: rest.startIndex))
            rest = rest.dropFirst(2)
            guard size <= rest.count else {
                damage()
                return
            }
            append(unit: rest.prefix(size))
            rest = rest.dropFirst(hasDecodingOrder ? size + 1 : size)
        }
    }

    private mutating func takeHEVCFragment(_ payload: ArraySlice<UInt8>) {
        guard payload.count >= 3 else {
            damage()
            return
        }
        let start = payload.startIndex
        let header = payload[start + 2]
        if header & 0x80 != 0 {
            let body = payload.dropFirst(hasDecodingOrder ? 5 : 3)
            beginFragment(header: payload[start] & 0x81 | (header & 0x3F) << 1, payload[start + 1], body)
        } else {
            continueFragment(payload.dropFirst(3))
        }
        if header & 0x40 != 0 { endFragment() }
    }
}
