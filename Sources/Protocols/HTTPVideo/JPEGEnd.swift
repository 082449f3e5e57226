/// Finds where a JPEG image ends (ITU-T T.81, annex B): by its own segments, whatever was said of its length.
///
/// It looks at markers and lengths alone, at each byte once.
struct JPEGEnd: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// The two bytes of a marker come next.
        case marker
        /// Entropy-coded data, up to the next marker that is not part of it.
        case scan
        /// The bytes before this place are the frame.
        case done(Int)
        /// Another frame begins at this place: the rest of this one is missing.
        case cut(Int)
        /// What is there is not a known kind of JPEG.
        case lost
    }

    private(set) var state = State.marker
    /// Of the next byte to look at; behind the end of the bytes while a segment is skipped.
    private(set) var position = 2
    /// Samples have begun.
    private(set) var hasScan = false

    /// Bytes with which every frame begins: SOI, and the first byte of the next marker.
    static let beginning: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// - Parameters:
    ///   - bytes: the frame from its first byte, the same as before and more.
    ///   - limit: how many of them may be looked at.
    mutating func advance(_ bytes: ArraySlice<UInt8>, limit: Int) {
        let limit = min(limit, bytes.count)
        while position < limit {
            switch state {
            case .marker: guard takeMarker(bytes, limit) else { return }
            case .scan: guard takeScan(bytes, limit) else { return }
            case .done, .cut, .lost: return
            }
        }
    }

    /// False when more bytes are needed.
    private mutating func takeMarker(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> Bool {
        let place = bytes.startIndex + position
        guard bytes[place] == 0xFF else {
            state = .lost
            return true
        }
        guard position + 1 < limit else { return false }
        switch bytes[place + 1] {
        case 0xFF: position += 1  // fill
        case 0xD8: state = .cut(position)
        case 0xD9: state = .done(position + 2)
        case 0x01, 0xD0...0xD7: position += 2
        case 0x00, 0x02...0xBF: state = .lost
        case let marker:
            guard position + 3 < limit else { return false }
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            guard length >= 2 else {
                state = .lost
                return true
            }
            position += 2 + length
            if marker == 0xDA {
                state = .scan
                hasScan = true
            }
        }
        return true
    }

    private mutating func takeScan(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> Bool {
        let begin = bytes.startIndex
        guard let found = bytes[(begin + position)..<(begin + limit)].firstIndex(of: 0xFF) else {
            position = limit
            return false
        }
        position = found - begin
        guard position + 1 < limit else { return false }
        switch bytes[found + 1] {
        case 0xFF: position += 1  // fill
        case 0xD8, 0xD9, 0xC4, 0xDA...0xDD, 0xE0...0xEF, 0xFE: state = .marker
        // A stuffed zero, a restart, and what only damage makes.
        default: position += 2
        }
        return true
    }
}
