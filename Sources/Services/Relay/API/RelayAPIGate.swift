internal import Wire

/// Who may ask the relay's API at all.
///
/// A page in a browser on the operator's machine reaches loopback too. What gives it away is the `Origin` that browsers
/// send with everything that changes something, and, when it made its own name point here, the `Host`.
struct RelayAPIGate: Sendable {
    /// Of the configuration.
    let host: String
    let token: RelayAPIToken?

    /// - Parameters:
    ///   - hosts: of the request. Who shows the token is not a web page, whatever they call us.
    ///   - local: the address that the client reached.
    func refusal(hosts: [String], hasOrigin: Bool, authorization: String?, local: String?) -> RelayProblem? {
        guard !hasOrigin else {
            return RelayProblem(
                403, what: "the request was refused", why: "it comes from a web page",
                hint: "use watchboxctl relay, or a client that sends no Origin")
        }
        guard hosts.count < 2 else {
            return RelayProblem(
                400, what: "the request was refused", why: "it names more than one Host", hint: "name one")
        }
        if let token, Self.shows(token, authorization) { return nil }
        guard let host = hosts.first, isOurs(Self.name(host), local) else {
            return RelayProblem(
                403, what: "the request was refused", why: "its Host is not the address that this relay listens on",
                hint: "ask by that address, or by localhost")
        }
        guard token != nil else { return nil }
        return RelayProblem(
            401, what: "the request was refused", why: "it shows no token, or a wrong one",
            hint: "name the file that holds api_token: --token-file FILE")
    }

    /// Who got through may not ask for everything while there is no token.
    func refusal(of order: RelayOrder) -> RelayProblem? {
        guard token == nil, order.needsToken else { return nil }
        return RelayProblem(
            403, what: "the request was refused",
            why: "this relay has no token for its API, so that any process of its machine could ask for this",
            hint:
                "set relay_server.api_token (--api-token FILE of watchboxd relay), then name the file: --token-file FILE"
        )
    }

    private static func shows(_ token: RelayAPIToken, _ authorization: String?) -> Bool {
        let words = authorization?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        return words.count == 2 && words[0].lowercased() == "bearer" && token.matches(words[1])
    }

    private func isOurs(_ name: Substring, _ local: String?) -> Bool {
        let name = name.lowercased()
        if name == "localhost" || name == host.lowercased() { return true }
        // A listener on [::] sees IPv4 clients at mapped addresses.
        guard let address = NetworkAddress(name) else { return false }
        return address == NetworkAddress(host) || address == NetworkAddress(String((local ?? "").prefix { $0 != "%" }))
    }

    /// Without the port, and without the brackets of an IPv6 address.
    private static func name(_ host: String) -> Substring {
        if host.first == "[" {
            return host.dropFirst().prefix { $0 != "]" }
        }
        return host.prefix { $0 != ":" }
    }
}
