/// Who may ask the relay's API at all.
///
/// A page in a browser on the operator's machine reaches loopback too. What gives it away is the `Origin` that browsers
/// send with everything that changes something, and, when it made its own name point here, the `Host`.
struct RelayAPIGate: Sendable {
    /// Of the configuration.
    let host: String
    let token: RelayAPIToken?

    /// - Parameters:
    ///   - host: of the request; nil: it named none, or several.
    ///   - local: the address that the client reached.
    func refusal(host: String?, hasOrigin: Bool, authorization: String?, local: String?) -> RelayProblem? {
        guard !hasOrigin else {
            return RelayProblem(
                403, what: "the request was refused", why: "it comes from a web page",
                next: "use watchboxctl relay, or a client that sends no Origin")
        }
        guard let host, isOurs(Self.name(host), local) else {
            return RelayProblem(
                403, what: "the request was refused", why: "its Host is not the address that this relay listens on",
                next: "ask by that address, or by localhost")
        }
        guard let token else { return nil }
        let words = authorization?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        guard words.count == 2, words[0].lowercased() == "bearer", token.matches(words[1]) else {
            return RelayProblem(
                401, what: "the request was refused", why: "it shows no token, or a wrong one",
                next: "name the file that holds api_token: --token-file FILE")
        }
        return nil
    }

    private func isOurs(_ name: Substring, _ local: String?) -> Bool {
        let name = name.lowercased()
        return name == "localhost" || name == host.lowercased() || name == local?.lowercased()
    }

    /// Without the port, and without the brackets of an IPv6 address.
    private static func name(_ host: String) -> Substring {
        if host.first == "[" {
            return host.dropFirst().prefix { $0 != "]" }
        }
        return host.prefix { $0 != ":" }
    }
}
