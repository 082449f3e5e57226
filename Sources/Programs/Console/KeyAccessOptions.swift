public import ArgumentParser
public import Settings

/// Which KAS, with which token; the same for boxes and viewers.
public struct KeyAccessOptions: ParsableArguments {
    /// Of a KAS on this machine.
    public static let defaultURL = "http://127.0.0.1:9443/kas"

    @Option(
        name: .customLong("kas"),
        help: ArgumentHelp(
            "Base URL of the key access server; http on this machine only. Default: \(Self.defaultURL)",
            valueName: "kas"))
    var namedURL: String?

    @Option(name: .customLong("kas-token-file"), help: "File that holds the access token; read again when it changes.")
    public var tokenFile: String?

    @Option(
        name: .customLong("kas-ca"), help: "PEM file of the authorities to trust for the KAS instead of the system's.")
    public var certificateAuthorityFile: String?

    @Option(
        name: .customLong("kas-pin"),
        help: ArgumentHelp(
            "The only public key of the KAS that is accepted, beside its certificates.", valueName: "sha256//…"))
    public var publicKeyPin: String?

    @Option(
        name: .customLong("kas-public-key-cache"),
        help: "File that keeps the KAS's public key, so that a camera can start while the KAS is away.")
    public var publicKeyCacheFile: String?

    public init() {}

    public var url: String { namedURL ?? Self.defaultURL }

    /// Whether any of these was given.
    public var isNamed: Bool { named != nil }

    /// The first of them that was given, as it is written.
    public var named: String? {
        let options = [
            ("--kas", namedURL), ("--kas-token-file", tokenFile), ("--kas-ca", certificateAuthorityFile),
            ("--kas-pin", publicKeyPin), ("--kas-public-key-cache", publicKeyCacheFile),
        ]
        return options.first { $0.1 != nil }?.0
    }

    public var configuration: KASConfiguration {
        KASConfiguration(
            url: url, token: tokenFile.map { .file($0) } ?? .none, certificateAuthorityFile: certificateAuthorityFile,
            publicKeyPin: publicKeyPin, publicKeyCacheFile: publicKeyCacheFile)
    }
}
