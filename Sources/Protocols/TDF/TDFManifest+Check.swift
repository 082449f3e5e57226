internal import KeyAccess
internal import Wire

extension TDFManifest {
    /// Characters of a policy's base64: room for a thousand attributes.
    public static let maxPolicyLength = 64 << 10
    static let keyAccessCounts = 1...16
    /// Bytes of one text of a `keyAccess` entry: it is shown, and goes to the KAS.
    static let maxTextLength = 4096

    /// Whether it is one of profile S, without its segments.
    func checkMembers() throws(TDFError) {
        try Self.checkVersion(schemaVersion)
        try Self.require("payload.type", payload.type, "reference")
        try Self.require("payload.url", payload.url, TDFContainer.payloadName)
        try Self.require("payload.protocol", payload.protocol, "zip")
        guard payload.isEncrypted else {
            throw .manifest(path: "payload.isEncrypted", .unsupported(found: "false", expected: "true"))
        }
        let encryption = encryptionInformation
        let path = "encryptionInformation"
        try Self.require("\(path).type", encryption.type, "split")
        try Self.require("\(path).method.algorithm", encryption.method.algorithm, "AES-256-GCM")
        let integrity = encryption.integrityInformation
        try Self.require(
            "\(path).integrityInformation.rootSignature.alg", integrity.rootSignature.algorithm, "HS256")
        try Self.require("\(path).integrityInformation.segmentHashAlg", integrity.segmentHashAlgorithm, "GMAC")
        try Self.check(encryption.keyAccess, policy: encryption.policy, path: path)
    }

    /// What every profile has of keys.
    ///
    /// - Parameter path: of both, in the manifest.
    static func check(_ keyAccess: [KeyAccessObject], policy: String, path: String) throws(TDFError) {
        guard policy.utf8.count <= maxPolicyLength else {
            throw .manifest(
                path: "\(path).policy", .count(policy.utf8.count, 0...maxPolicyLength))
        }
        guard keyAccessCounts.contains(keyAccess.count) else {
            throw .manifest(path: "\(path).keyAccess", .count(keyAccess.count, keyAccessCounts))
        }
        for (index, object) in keyAccess.enumerated() {
            let texts = [
                object.type, object.url, object.protocol, object.wrappedKey, object.policyBinding?.hash, object.kid,
                object.sid,
                object.ephemeralPublicKey,
            ]
            // A key of 4096 bits has 684 characters.
            if let count = texts.compactMap({ $0?.utf8.count }).max(), count > maxTextLength {
                throw .manifest(path: "\(path).keyAccess.[\(index)]", .count(count, 0...maxTextLength))
            }
        }
        // Objects of one share are ways to the same key; of several, all of them are needed.
        let shares = Set(keyAccess.map { $0.sid ?? "" }).count
        guard shares == 1 else { throw .manifest(path: "\(path).keyAccess", .splitKey(shares: shares)) }
    }

    /// 4.3.0 and later of its kind; before, hashes are hexadecimal.
    private static func checkVersion(_ text: String?) throws(TDFError) {
        let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false).map { UInt16($0) }
        guard parts.count == 3, parts[0] == 4, let minor = parts[1], minor >= 3, parts[2] != nil else {
            throw .manifest(
                path: "schemaVersion", .unsupported(found: shown(text ?? ""), expected: "\(version) or a later 4"))
        }
    }

    private static func require(_ path: String, _ found: String, _ expected: String) throws(TDFError) {
        guard found == expected else {
            throw .manifest(path: path, .unsupported(found: shown(found), expected: expected))
        }
    }

    private static func shown(_ text: String) -> String { ShownText.ascii(text, limit: 40, replacing: "?") }
}
