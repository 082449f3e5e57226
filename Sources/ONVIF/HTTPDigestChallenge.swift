/// A demand for HTTP Digest with `qop=auth` (RFC 7616), and the answer to it.
///
/// For logins by which a device has to prove itself: an answer without `qop` is the same each time that the device names
/// the same nonce, and would tell it which of several logins have the same password.
public struct HTTPDigestChallenge: Equatable, Sendable {
    public enum Algorithm: Sendable {
        case md5
        case sha256
    }

    public var algorithm: Algorithm
    private var realm: String
    private var nonce: String
    private var opaque: String?
    private var namesAlgorithm: Bool

    /// The strongest one among these values of WWW-Authenticate; nil when none has `qop=auth` and a known algorithm.
    public init?(_ headers: [String]) {
        var best: HTTPDigestChallenge?
        for header in headers.prefix(8) where header.utf8.count <= 4096 {
            for parameters in Self.challenges(header) {
                guard let challenge = HTTPDigestChallenge(parameters) else { continue }
                if best == nil || challenge.algorithm == .sha256 && best?.algorithm == .md5 { best = challenge }
            }
        }
        guard let best else { return nil }
        self = best
    }

    private init?(_ parameters: [String: String]) {
        guard let realm = parameters["realm"], let nonce = parameters["nonce"], !nonce.isEmpty,
            let qop = parameters["qop"]?.lowercased(),
            qop.split(whereSeparator: { $0 == "," || $0 == " " }).contains("auth")
        else { return nil }
        namesAlgorithm = parameters["algorithm"] != nil
        switch parameters["algorithm"]?.lowercased() {
        case nil, "md5": algorithm = .md5
        case "sha-256": algorithm = .sha256
        default: return nil
        }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
    }

    /// The value of Authorization.
    ///
    /// - Parameters:
    ///   - uri: of the request's first line.
    ///   - clientNonce: random, never used before; letters and digits.
    ///   - hash: of one of the algorithms.
    public func authorization(
        user: String, password: String, method: String, uri: String, clientNonce: String,
        hash: (Algorithm, [UInt8]) -> [UInt8]
    ) -> String {
        func digest(_ text: String) -> String {
            let digits = Array("0123456789abcdef".utf8)
            let bytes = hash(algorithm, Array(text.utf8))
            return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }
        let secret = digest("\(user):\(realm):\(password)")
        let request = digest("\(method):\(uri)")
        let response = digest("\(secret):\(nonce):00000001:\(clientNonce):auth:\(request)")
        var value = "Digest username=\(Self.quoted(user)), realm=\(Self.quoted(realm)), nonce=\(Self.quoted(nonce))"
        value += ", uri=\(Self.quoted(uri)), response=\"\(response)\", qop=auth, nc=00000001, cnonce=\"\(clientNonce)\""
        if namesAlgorithm { value += ", algorithm=\(algorithm == .md5 ? "MD5" : "SHA-256")" }
        if let opaque { value += ", opaque=\(Self.quoted(opaque))" }
        return value
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    /// The parameters of each Digest challenge in one header, which may hold several of several schemes.
    private static func challenges(_ header: String) -> [[String: String]] {
        var result: [[String: String]] = []
        var current: [String: String]?
        let bytes = Array(header.utf8)
        var index = 0
        func skip(_ separators: [UInt8]) {
            while index < bytes.count, separators.contains(bytes[index]) { index += 1 }
        }
        while index < bytes.count {
            skip([0x20, 0x09, 0x2C])
            let begin = index
            while index < bytes.count, ![0x20, 0x09, 0x2C, 0x3D].contains(bytes[index]) { index += 1 }
            let word = String(decoding: bytes[begin..<index], as: UTF8.self).lowercased()
            skip([0x20, 0x09])
            guard index < bytes.count, bytes[index] == 0x3D else {
                // A scheme's name begins a challenge.
                if let current { result.append(current) }
                current = word == "digest" ? [:] : nil
                if begin == index { index += 1 }
                continue
            }
            index += 1
            skip([0x20, 0x09])
            let value = value(bytes, &index)
            // A parameter that is named twice is nobody's intention.
            if current?[word] == nil { current?[word] = value }
        }
        if let current { result.append(current) }
        return result
    }

    private static func value(_ bytes: [UInt8], _ index: inout Int) -> String {
        var value: [UInt8] = []
        guard index < bytes.count, bytes[index] == 0x22 else {
            while index < bytes.count, ![0x20, 0x09, 0x2C].contains(bytes[index]) {
                value.append(bytes[index])
                index += 1
            }
            return String(decoding: value, as: UTF8.self)
        }
        index += 1
        while index < bytes.count, bytes[index] != 0x22 {
            if bytes[index] == 0x5C, index + 1 < bytes.count { index += 1 }
            value.append(bytes[index])
            index += 1
        }
        index += 1
        return String(decoding: value, as: UTF8.self)
    }
}
