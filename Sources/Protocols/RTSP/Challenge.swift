/// One login that a camera offers: a challenge of WWW-Authenticate (RFC 7235 §2.1, RFC 7616 §3.3).
package struct Challenge: Equatable, Sendable {
    /// Weakest first.
    package enum Scheme: Int, Comparable, Sendable {
        case basic, md5Session, md5, sha256Session, sha256

        package static func < (left: Scheme, right: Scheme) -> Bool { left.rawValue < right.rawValue }

        var algorithm: DigestAlgorithm { self == .sha256 || self == .sha256Session ? .sha256 : .md5 }

        var isSession: Bool { self == .md5Session || self == .sha256Session }

        /// As a person reads it.
        package var name: String {
            switch self {
            case .basic: "Basic"
            case .md5, .md5Session: "Digest MD5"
            case .sha256, .sha256Session: "Digest SHA-256"
            }
        }
    }

    static let maxValueLength = 1024
    static let maxCount = 16

    /// Nil: one that we do not know, or that lacks what it needs.
    package var scheme: Scheme?
    /// For a person: `Digest SHA-256`, `Basic`, `Bearer`, …
    var name: String
    var realm = ""
    var nonce = ""
    var opaque: String?
    /// As the camera writes it; nil when it names none, which means MD5.
    var algorithm: String?
    /// `qop=auth` is offered.
    var protectsQuality = false
    var isStale = false

    /// All challenges of all headers, several in one or each in its own, in the camera's order.
    static func parse(_ headers: [String]) -> [Challenge] {
        var found: [Raw] = []
        for header in headers {
            let before = found.count
            for item in HeaderParameters.split(header, at: UInt8(ascii: ",")) {
                // `Digest realm="x"`, `Basic`, or a parameter of the challenge before: the first token shows which.
                let text = CameraText.trimmed(item)
                if text.isEmpty { continue }
                let word = text.prefix { $0 != "=" && $0 != " " && $0 != "\t" }
                let behind = CameraText.trimmed(text[word.endIndex...])
                if behind.hasPrefix("=") {
                    if found.count > before { found[found.count - 1].add(name: word, value: behind.dropFirst()) }
                    continue
                }
                guard found.count < maxCount else { return found.map(\.challenge) }
                found.append(Raw(scheme: String(word)))
                let name = behind.prefix { $0 != "=" }
                if name.endIndex < behind.endIndex {
                    found[found.count - 1].add(name: name, value: behind[name.endIndex...].dropFirst())
                }
            }
        }
        return found.map(\.challenge)
    }

    /// A challenge as it is read.
    private struct Raw {
        var scheme: String
        var parameters: [String: String] = [:]

        mutating func add(name: some StringProtocol, value: some StringProtocol) {
            guard parameters.count < HeaderParameters.maxCount else { return }
            let key = CameraText.trimmed(name).lowercased()
            if parameters[key] == nil { parameters[key] = HeaderParameters.unquoted(CameraText.trimmed(value)) }
        }

        var challenge: Challenge {
            var result = Challenge(name: CameraText.printable(scheme, limit: 24))
            result.realm = parameters["realm"] ?? ""
            guard result.realm.utf8.count <= maxValueLength else { return result }
            if scheme.lowercased() == "basic" {
                result.scheme = .basic
                result.name = Scheme.basic.name
                return result
            }
            guard scheme.lowercased() == "digest" else { return result }
            result.nonce = parameters["nonce"] ?? ""
            result.opaque = parameters["opaque"]
            result.algorithm = parameters["algorithm"].flatMap { $0.isEmpty ? nil : $0 }
            result.isStale = parameters["stale"]?.lowercased() == "true"
            let algorithm = (result.algorithm ?? "MD5").uppercased()
            result.name = "Digest " + CameraText.printable(algorithm, limit: 24)
            var scheme: Scheme?
            switch algorithm {
            case "MD5": scheme = .md5
            case "MD5-SESS": scheme = .md5Session
            case "SHA-256", "SHA256": scheme = .sha256
            case "SHA-256-SESS": scheme = .sha256Session
            default: break
            }
            let qualities = (parameters["qop"] ?? "").split(separator: ",").map { CameraText.trimmed($0).lowercased() }
            result.protectsQuality = qualities.contains("auth")
            // auth-int alone would need the body of every answer; no camera was seen that asks for it.
            let isUsable = qualities.isEmpty || result.protectsQuality
            let isBounded =
                result.nonce.utf8.count <= maxValueLength && (result.opaque ?? "").utf8.count <= maxValueLength
            if isUsable, isBounded, !result.nonce.isEmpty { result.scheme = scheme }
            return result
        }
    }
}
