internal import RTSP

/// Takes the body of one answer out of a connection's bytes (RFC 9112 §6, §7).
struct BodyReader: Equatable, Sendable {
    private enum State: Equatable {
        /// - Parameter left: of a body whose length is known.
        case counted(left: UInt64)
        case chunkSize, chunkEnd, trailers
        case chunk(left: UInt64)
        case untilClose
        case over
    }

    private static let maxLineLength = 1 << 10
    private static let maxTrailersLength = 8 << 10
    private static let maxSizeDigits = 15

    private var state: State
    private var line: [UInt8] = []
    private var trailers = 0

    /// Nothing of it comes any more.
    var isOver: Bool { state == .over }
    /// It ends with the connection.
    var isUntilClose: Bool { state == .untilClose }

    /// - Parameters:
    ///   - isStream: goes on for as long as the camera likes. Some write a length that means nothing.
    init(_ head: RTSPMessage, isStream: Bool) {
        let codings = head.headers("transfer-encoding").joined(separator: ",").lowercased()
        if codings.contains("chunked") {
            state = .chunkSize
        } else if !isStream, let text = head.header("content-length"),
            let length = CameraText.number(text, as: UInt64.self)
        {
            state = length == 0 ? .over : .counted(left: length)
        } else {
            state = .untilClose
        }
    }

    /// The next bytes of the body, taken off `input`; nil when all of `input` is consumed, or the body is over.
    ///
    /// - Parameter position: of `input` in the connection.
    mutating func next(_ input: inout ArraySlice<UInt8>, at position: Int) throws(RTSPFailure) -> ArraySlice<UInt8>? {
        let start = input.startIndex
        while !input.isEmpty {
            switch state {
            case .over: return nil
            case .untilClose:
                defer { input = [] }
                return input
            case .counted(let left):
                let taken = Self.take(left, of: &input)
                state = UInt64(taken.count) == left ? .over : .counted(left: left - UInt64(taken.count))
                return taken
            case .chunk(let left):
                let taken = Self.take(left, of: &input)
                state = UInt64(taken.count) == left ? .chunkEnd : .chunk(left: left - UInt64(taken.count))
                return taken
            case .chunkSize, .chunkEnd, .trailers:
                let place = position + (input.startIndex - start)
                guard let whole = try takeLine(&input, at: place) else { return nil }
                try took(whole, at: place)
            }
        }
        return nil
    }

    private static func take(_ count: UInt64, of input: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let taken = input.prefix(Int(clamping: count))
        input = input[taken.endIndex...]
        return taken
    }

    /// Without its end; nil before that.
    private mutating func takeLine(
        _ input: inout ArraySlice<UInt8>, at position: Int
    ) throws(RTSPFailure) -> [UInt8]? {
        let end = input.firstIndex(of: UInt8(ascii: "\n"))
        line += input[..<(end ?? input.endIndex)]
        guard line.count <= Self.maxLineLength else {
            throw .malformed(
                position: position, reason: "a line of chunked coding with more than \(Self.maxLineLength) bytes")
        }
        guard let end else {
            input = []
            return nil
        }
        input = input[(end + 1)...]
        defer { line = [] }
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    private mutating func took(_ line: [UInt8], at position: Int) throws(RTSPFailure) {
        switch state {
        case .chunkEnd:
            guard line.isEmpty else {
                throw .malformed(position: position, reason: "a chunk that is longer than it says")
            }
            state = .chunkSize
        case .trailers:
            trailers += line.count
            guard trailers <= Self.maxTrailersLength else {
                throw .tooLong(what: "bytes of trailers", limit: Self.maxTrailersLength)
            }
            if line.isEmpty { state = .over }
        default:
            let digits = CameraText.trimmed(String(decoding: line.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self))
            guard (1...Self.maxSizeDigits).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.isDigit),
                let size = UInt64(digits, radix: 16)
            else { throw .malformed(position: position, reason: "a chunk whose size is not a number") }
            state = size == 0 ? .trailers : .chunk(left: size)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}
