internal import Wire

/// Adobe's authentication of publishers (`authmod=adobe`), in three connections: the server refuses, then names salt
/// and challenge, then checks the response. The servers wrap the parts in different texts, so they are searched for.
/// No specification; bluenviron/gortmplib `server_conn.go` and HaishinKit's `RTMPAuthenticator.swift` agree on it.
public enum AdobeAuthentication {
    /// What the description of a refused `connect` asks for.
    public enum Demand: Equatable, Sendable {
        /// `code=403 need auth`: name the user.
        case user
        /// `reason=needauth`: answer the challenge.
        case response(Challenge)
        /// `reason=authfailed`, or a mode other than Adobe's: final.
        case failed
    }

    public struct Challenge: Equatable, Sendable {
        public var salt: String
        public var challenge: String
        public var opaque: String?

        public init(salt: String, challenge: String, opaque: String? = nil) {
            self.salt = salt
            self.challenge = challenge
            self.opaque = opaque
        }
    }

    /// Nil when the text does not speak of authentication.
    public static func demand(in description: String) -> Demand? {
        guard let start = firstIndex(of: "reason=", in: description) else {
            guard firstIndex(of: "code=403", in: description) != nil,
                let mode = firstIndex(of: "authmod=", in: description)
            else { return nil }
            return description[mode...].hasPrefix("authmod=adobe") ? .user : .failed
        }
        let query = description[start...].prefix { !$0.isWhitespace && $0 != "]" && $0 != "\"" }
        var fields: [Substring: String] = [:]
        for field in query.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[parts[0]] = parts.count > 1 ? String(parts[1]) : ""
        }
        guard fields["reason"] == "needauth", let salt = fields["salt"], let challenge = fields["challenge"] else {
            return fields["reason"] == "needauth" || fields["reason"] == "authfailed" ? .failed : nil
        }
        return .response(Challenge(salt: salt, challenge: challenge, opaque: fields["opaque"]))
    }

    /// R = b64(md5(b64(md5(user ‖ salt ‖ password)) ‖ (opaque, else challenge) ‖ client challenge)).
    public static func response(
        to challenge: Challenge, credentials: RTMPURL.Credentials, clientChallenge: String, digests: RTMPDigests
    ) -> String {
        let inner = digests.md5(Array((credentials.user + challenge.salt + credentials.password).utf8))
        let outer = Base64.encode(inner) + (challenge.opaque ?? challenge.challenge) + clientChallenge
        return Base64.encode(digests.md5(Array(outer.utf8)))
    }

    /// First step: what to append to `app` and `tcUrl`, without its `?` or `&`.
    static func userQuery(_ credentials: RTMPURL.Credentials) -> String {
        "authmod=adobe&user=\(PercentEncoding.encode(credentials.user))"
    }

    /// Second step. `+`, `/` and `=` of the response are sent as they are: servers compare the raw text.
    static func responseQuery(
        _ challenge: Challenge, credentials: RTMPURL.Credentials, clientChallenge: String, digests: RTMPDigests
    ) -> String {
        let response = response(
            to: challenge, credentials: credentials, clientChallenge: clientChallenge, digests: digests)
        let opaque = challenge.opaque.map { "&opaque=\($0)" } ?? ""
        return "\(userQuery(credentials))&challenge=\(clientChallenge)&response=\(response)\(opaque)"
    }

    private static func firstIndex(of word: String, in text: String) -> String.Index? {
        var rest = text[...]
        while !rest.isEmpty {
            if rest.hasPrefix(word) { return rest.startIndex }
            rest = rest.dropFirst()
        }
        return nil
    }
}
