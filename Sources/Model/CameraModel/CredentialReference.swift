internal import Settings

/// `credential:NAME` in a camera's settings: the secret of that name, which the unit of the camera is given when it starts.
public enum CredentialReference {
    private static let prefix = "credential:"

    /// What the settings hold in place of the secret of this name.
    public static func to(_ name: String) -> String { "\(prefix)\(name)" }

    /// The name of the secret; nil for what is a path.
    public static func name(in text: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }
}

extension CameraConfiguration {
    /// The names of the secrets that these settings refer to.
    public var secretNames: Set<String> {
        var files = [relay.urlFile, kas.signingKeyFile]
        if case .file(let file) = kas.token { files.append(file) }
        if case .network(let network) = source { files.append(network.passwordFile) }
        return Set(files.compactMap { $0 }.compactMap { CredentialReference.name(in: $0) })
    }
}
