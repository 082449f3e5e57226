public import Wire

/// WS-UsernameToken (OASIS WSS 1.0): who asks, inside the message.
public struct UsernameToken: Equatable, Sendable {
    let user: String
    let password: String
    let isDigest: Bool
    let nonce: String
    let created: String

    /// With PasswordDigest = Base64(SHA-1(nonce ‖ created ‖ password)).
    ///
    /// - Parameters:
    ///   - nonce: 16 random bytes, fresh for every transmission: devices refuse a token that they saw before.
    ///   - milliseconds: since 1970 by the device's clock; sent as UTC without a fraction.
    public init(
        user: String, password: String, nonce: [UInt8], milliseconds: Int64, sha1: ([UInt8]) -> [UInt8]
    ) {
        let created = CivilTime(secondsSince1970: milliseconds.floorSeconds).zulu
        self.init(
            user: user, password: Base64.encode(sha1(nonce + Array(created.utf8) + Array(password.utf8))),
            isDigest: true,
            nonce: Base64.encode(nonce), created: created)
    }

    /// With PasswordText: everybody on the way can read it.
    public init(plainUser user: String, password: String, nonce: [UInt8], milliseconds: Int64) {
        self.init(
            user: user, password: password, isDigest: false, nonce: Base64.encode(nonce),
            created: CivilTime(secondsSince1970: milliseconds.floorSeconds).zulu)
    }

    private init(user: String, password: String, isDigest: Bool, nonce: String, created: String) {
        self.user = user
        self.password = password
        self.isDigest = isDigest
        self.nonce = nonce
        self.created = created
    }

    var header: String {
        let profile = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0"
        let encoding = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary"
        return "<wsse:Security><wsse:UsernameToken>"
            + "<wsse:Username>\(XMLText.escaped(user))</wsse:Username>"
            + "<wsse:Password Type=\"\(profile)#\(isDigest ? "PasswordDigest" : "PasswordText")\">"
            + "\(XMLText.escaped(password))</wsse:Password>"
            + "<wsse:Nonce EncodingType=\"\(encoding)\">\(nonce)</wsse:Nonce>"
            + "<wsu:Created>\(created)</wsu:Created></wsse:UsernameToken></wsse:Security>"
    }
}

extension UsernameToken: Concealed {
    public var description: String { "token of \(user)" }
}

extension Int64 {
    /// Of milliseconds: whole seconds, never after them.
    fileprivate var floorSeconds: Int64 { self >= 0 ? self / 1000 : (self + 1) / 1000 - 1 }
}
