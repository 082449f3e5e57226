internal import RTSP

/// What stands between two parts of a multipart message (RFC 2046 §5.1), as cameras write it: many put the two dashes
/// into the parameter as well, some leave them out before the parts.
struct PartBoundary: Equatable, Sendable {
    /// Without dashes in front; empty when the camera does not say.
    let core: [UInt8]

    /// RFC 2046 allows 70.
    static let maxLength = 256
    private static let maxDashes = 8
    private static let maxBreaks = 4
    private static let minCore = 6
    private static let dash = UInt8(ascii: "-")

    /// - Parameter parameter: of Content-Type, without its quotes; nil: none.
    init(_ parameter: String?) {
        var bytes = Array(CameraText.trimmed(parameter ?? "").utf8.prefix(Self.maxLength))[...]
        while bytes.first == Self.dash { bytes.removeFirst() }
        core = Array(bytes)
    }

    /// Whether a line, without its end, is one.
    ///
    /// - Parameter isLenient: any line with two dashes in front is, as for other clients.
    func matches(_ line: ArraySlice<UInt8>, isLenient: Bool) -> Bool {
        var rest = line
        while let last = rest.last, CameraText.isBlank(last) { rest.removeLast() }
        let whole = rest
        while rest.first == Self.dash { rest.removeFirst() }
        let dashes = whole.count - rest.count
        if isLenient || core.isEmpty, dashes >= 2 { return true }
        guard !core.isEmpty, rest.starts(with: core) else { return false }
        // Behind the last part there are two more.
        return rest.dropFirst(core.count).allSatisfy { $0 == Self.dash }
    }

    /// Whether one stands at this place, behind a line break or none.
    ///
    /// - Parameter needsBreak: there must be one.
    /// - Returns: nil when there are too few bytes to tell.
    func follows(_ bytes: [UInt8], at place: Int, needsBreak: Bool) -> Bool? {
        var index = place
        func skip(_ most: Int, while isTaken: (UInt8) -> Bool) {
            let end = min(index + most, bytes.count)
            while index < end, isTaken(bytes[index]) { index += 1 }
        }
        skip(Self.maxBreaks) { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        if index == bytes.count, index < place + Self.maxBreaks { return nil }
        if needsBreak, index == place { return false }
        let line = index
        skip(Self.maxDashes) { $0 == Self.dash }
        if core.isEmpty {
            guard index - line < 2 else { return true }
            return index == bytes.count ? nil : false
        }
        if index == bytes.count, index < line + Self.maxDashes { return nil }
        // A few letters alone are in any frame.
        if core.count < Self.minCore, index - line < 2 { return false }
        for byte in core {
            guard index < bytes.count else { return nil }
            guard bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }
}
