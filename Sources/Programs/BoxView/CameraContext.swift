public import ControlAPI
internal import ErrorCatalog

/// What of the box a camera's card has to know: where its stream goes, and who gives viewers the key.
public struct CameraContext: Sendable {
    /// Of the name that the camera publishes to; nil: there is no such relay.
    public var relay: RelayDocument?
    public var keyAccess: KeyAccessDocument

    public init(relay: RelayDocument?, keyAccess: KeyAccessDocument) {
        self.relay = relay
        self.keyAccess = keyAccess
    }

    /// The command that plays a stream, for whoever has a token of the KAS; nil while there is no relay or no KAS.
    func playCommand(_ stream: String) -> String? {
        guard let relay, let kas = keyAccess.url else { return nil }
        var words = ["watchboxctl play"]
        if let url = relay.url {
            words.append(ShellWord.quoted(Self.address(url, stream)))
        } else {
            // Whoever may view must get the URL some other way: it is a secret.
            words.append("--url-file FILE")
            words.append("--stream \(ShellWord.quoted(stream))")
        }
        // The box's own files: a viewer elsewhere has the authorities' certificates somewhere else.
        if relay.certificateAuthorityFile != nil { words.append("--relay-ca FILE") }
        if let pin = relay.publicKeyPin { words.append("--relay-pin \(ShellWord.quoted(pin))") }
        for host in relay.redirectHosts ?? [] { words.append("--relay-redirect-host \(ShellWord.quoted(host))") }
        words.append("--kas \(ShellWord.quoted(kas))")
        if keyAccess.certificateAuthorityFile != nil { words.append("--kas-ca FILE") }
        if let pin = keyAccess.publicKeyPin { words.append("--kas-pin \(ShellWord.quoted(pin))") }
        words.append("--kas-token-file FILE")
        return words.joined(separator: " ")
    }

    /// Of a stream at a relay: what is played.
    static func address(_ url: String, _ stream: String) -> String {
        url + (url.hasSuffix("/") ? "" : "/") + stream
    }
}

/// The key access server as text; the same on every screen.
enum KeyAccessText {
    static func line(_ keyAccess: KeyAccessDocument) -> String {
        let kas = keyAccess.url ?? "none is set"
        guard keyAccess.hasToken else { return "\(kas), without a token" }
        return kas
            + (keyAccess.code.map {
                $0 == .tokenEnded ? ", its token has ended (\($0))" : ", its token ends within a week (\($0))"
            }
                ?? "")
    }
}
