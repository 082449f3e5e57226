/// An HTTP answer as far as a search reads it.
struct HTTPAnswer: Equatable {
    var status: Int
    var body: [UInt8]

    enum Progress: Equatable {
        case incomplete
        case notHTTP
        case complete(HTTPAnswer)
    }

    /// - Parameters:
    ///   - isComplete: the connection has ended, or no more is read.
    ///   - interim: answers such as "100 Continue" that may come before this one.
    static func parse(_ bytes: [UInt8], isComplete: Bool, interim: Int = 2) -> Progress {
        let expected = Array("HTTP/1.".utf8)
        guard bytes.starts(with: expected) else {
            return expected.starts(with: bytes) && !isComplete ? .incomplete : .notHTTP
        }
        guard let end = headEnd(bytes) else { return isComplete ? .notHTTP : .incomplete }
        let lines = bytes[..<end].split(whereSeparator: { $0 == 10 || $0 == 13 }).map {
            String(decoding: $0, as: UTF8.self)
        }
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count > 1, words[1].utf8.count == 3, let status = Int(words[1]), status >= 100 else {
            return .notHTTP
        }
        if status < 200 {
            return interim > 0 ? parse(Array(bytes[end...]), isComplete: isComplete, interim: interim - 1) : .notHTTP
        }
        let rest = bytes[end...]
        if header("transfer-encoding", in: lines)?.contains("chunked") == true {
            guard let body = dechunked(rest, isComplete: isComplete) else { return .incomplete }
            return .complete(HTTPAnswer(status: status, body: body))
        }
        if let length = header("content-length", in: lines).flatMap({ Int($0) }), length >= 0, rest.count >= length {
            return .complete(HTTPAnswer(status: status, body: Array(rest.prefix(length))))
        }
        return isComplete ? .complete(HTTPAnswer(status: status, body: Array(rest))) : .incomplete
    }

    /// The first index after the empty line.
    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        var lineLength = 0
        for (index, byte) in bytes.enumerated() {
            if byte == 10 {
                if lineLength == 0 { return index + 1 }
                lineLength = 0
            } else if byte != 13 {
                lineLength += 1
            }
        }
        return nil
    }

    private static func header(_ name: String, in lines: [String]) -> String? {
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return parts[1].filter { !$0.isWhitespace }.lowercased()
        }
        return nil
    }

    /// Nil when more has to come.
    private static func dechunked(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> [UInt8]? {
        var body: [UInt8] = []
        var rest = bytes
        while let lineEnd = rest.firstIndex(of: 10) {
            let digits = rest[..<lineEnd].prefix { $0 != UInt8(ascii: ";") && $0 != 13 && $0 != 32 }
            guard digits.count <= 8, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size > 0 else {
                return body
            }
            rest = rest[(lineEnd + 1)...]
            guard rest.count >= size else { break }
            body += rest.prefix(size)
            rest = rest.dropFirst(size)
            if rest.first == 13 { rest = rest.dropFirst() }
            if rest.first == 10 { rest = rest.dropFirst() }
        }
        return isComplete ? body + rest : nil
    }
}
