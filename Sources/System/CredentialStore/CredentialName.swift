internal import Wire

/// Where a secret belongs and how it is called there. Both become file names and parts of a credential's name.
struct CredentialName: Equatable {
    let scope: String
    let name: String

    static let secretLimit = 4096

    init(_ name: String, scope: String) throws(CredentialError) {
        try Self.check(scope: scope)
        guard Names.isHyphenated(name, limit: 32) else {
            throw .invalid(
                field: "name of the secret",
                why: "it has a-z, 0-9 and single hyphens between them, at most 32 characters")
        }
        self.scope = scope
        self.name = name
    }

    /// The name that systemd seals into a credential and gives to the service.
    var credential: String { "\(scope)_\(name)" }

    /// `box` or `camera-ID`; an ID has up to 24 letters and digits, and 23 hyphens.
    static func check(scope: String) throws(CredentialError) {
        guard Names.isHyphenated(scope, limit: 64) else {
            throw .invalid(
                field: "scope of the secret",
                why: "it has a-z, 0-9 and single hyphens between them, such as box or camera-front")
        }
    }
}
