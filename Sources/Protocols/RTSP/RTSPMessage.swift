/// The first lines of a message from a camera, or all of it when it has no body (RFC 2326 §4). Those of HTTP are
/// written the same way, but for the protocol's name.
package struct RTSPMessage: Equatable, Sendable {
    package enum Start: Equatable, Sendable {
        case response(status: Int, reason: String)
        case request(method: String, url: String)
    }

    package struct Header: Equatable, Sendable {
        /// In lower case.
        var name: String
        var value: String
    }

    package static let maxHeadLength = 16 << 10
    static let maxHeaders = 100
    static let maxBodyLength = SessionDescription.maxLength

    package var start: Start
    package var headers: [Header] = []
    var body: ArraySlice<UInt8> = []

    /// The value of the first header of this name, which is in lower case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    package func headers(_ name: String) -> [String] {
        headers.filter { $0.name == name }.map(\.value)
    }

    /// Bytes of the body; a length that is not a number counts as none.
    func bodyLength() throws(RTSPFailure) -> Int {
        guard let text = header("content-length"), let length = CameraText.number(text, as: UInt64.self) else {
            return 0
        }
        guard length <= UInt64(Self.maxBodyLength) else {
            throw .tooLong(what: "bytes of a description", limit: Self.maxBodyLength)
        }
        return Int(length)
    }
}

extension RTSPMessage {
    /// Reads the first lines, up to the empty one or without it.
    /// - Parameter position: where they begin in the connection.
    package static func parse(head bytes: ArraySlice<UInt8>, at position: Int) throws(RTSPFailure) -> RTSPMessage {
        var rest = bytes
        guard let first = nextLine(&rest) else { throw .malformed(position: position, reason: "an empty message") }
        var message = RTSPMessage(start: try startLine(first, at: position))
        while let line = nextLine(&rest), !line.isEmpty { try message.add(line) }
        return message
    }

    /// Behind the empty line; lines may end with LF alone. Nil: it is not there, or behind the longest head.
    package static func headEnd(of input: ArraySlice<UInt8>) -> Int? {
        var index = input.startIndex
        let end = min(input.endIndex, input.startIndex + maxHeadLength + 4)
        while index < end {
            guard input[index] == UInt8(ascii: "\n") else {
                index += 1
                continue
            }
            index += 1
            guard index < end else { return nil }
            if input[index] == UInt8(ascii: "\n") { return index + 1 }
            if input[index] == UInt8(ascii: "\r"), index + 1 < end, input[index + 1] == UInt8(ascii: "\n") {
                return index + 2
            }
        }
        return nil
    }

    /// Up to the next LF, without it and a CR before it; nil at the end.
    private static func nextLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        var line = rest[rest.startIndex..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[rest.endIndex...]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        return line
    }

    private static func startLine(_ line: ArraySlice<UInt8>, at position: Int) throws(RTSPFailure) -> Start {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true)
        if line.starts(with: Array("RTSP/".utf8)) || line.starts(with: Array("HTTP/".utf8)) {
            // 200OK was seen, too.
            let digits = words.count < 2 ? [] : words[1].prefix { (0x30...0x39).contains($0) }
            guard digits.count == 3, let status = Int(String(decoding: digits, as: UTF8.self)), status >= 100 else {
                throw .malformed(position: position, reason: "an answer without a status")
            }
            let reason = words.count > 2 ? String(decoding: words[2], as: UTF8.self) : ""
            return .response(status: status, reason: CameraText.printable(reason, limit: 80))
        }
        guard words.count == 3, words[2].starts(with: Array("RTSP/".utf8)) else {
            throw .malformed(position: position, reason: "a line that begins no message")
        }
        return .request(
            method: CameraText.printable(String(decoding: words[0], as: UTF8.self), limit: 24),
            url: String(decoding: words[1], as: UTF8.self))
    }

    private mutating func add(_ line: ArraySlice<UInt8>) throws(RTSPFailure) {
        if let first = line.first, CameraText.isBlank(first), !headers.isEmpty {
            // A folded line (RFC 2616 §2.2).
            headers[headers.count - 1].value += " " + CameraText.trimmed(String(decoding: line, as: UTF8.self))
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        guard headers.count < Self.maxHeaders else { throw .tooLong(what: "headers", limit: Self.maxHeaders) }
        let name = CameraText.trimmed(String(decoding: line[line.startIndex..<colon], as: UTF8.self)).lowercased()
        let value = CameraText.trimmed(String(decoding: line[(colon + 1)...], as: UTF8.self))
        headers.append(Header(name: name, value: value))
    }
}

/// A request of ours before it gets its number and its login.
struct OutgoingRequest: Equatable, Sendable {
    var method: String
    var url: String
    /// As they are written.
    var headers: [RTSPMessage.Header] = []

    func encoded(cseq: UInt32, userAgent: String, session: String?, authorization: String?) -> [UInt8] {
        var text = "\(method) \(url) RTSP/1.0\r\nCSeq: \(cseq)\r\nUser-Agent: \(userAgent)\r\n"
        if let session { text += "Session: \(session)\r\n" }
        if let authorization { text += "Authorization: \(authorization)\r\n" }
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
