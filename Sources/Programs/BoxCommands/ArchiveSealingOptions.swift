import Archive
import ArgumentParser
import Console
import KeyAccess
import KeyAccessClient
import NanoTDF
import Platform
import Settings
import TDF
import Wire

/// For whom an archive is sealed.
struct ArchiveSealingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of the public RSA key of the KAS, instead of asking it for one.", valueName: "file"),
        completion: .file())
    var kasKey: String?

    @OptionGroup var keyAccess: KeyAccessOptions

    @Option(help: "Stream that the film of --file is of: only who may see that may open it.")
    var stream: String?

    @Option(help: "Attribute URI that viewers must hold; may be repeated. Of recordings: beside those of theirs.")
    var attribute: [String] = []

    @Option(
        help: """
            Subject that may open it; may be repeated; none: every one with a token of this KAS for viewers. Of recordings: \
            instead of those of theirs.
            """)
    var dissem: [String] = []

    func validate() throws {
        // An empty variable of a shell would make an archive that nobody can open.
        for (name, texts) in [
            ("--dissem", dissem), ("--attribute", attribute), ("--stream", stream.map { [$0] } ?? []),
        ]
        where texts.contains(where: \.isEmpty) {
            throw ValidationError("\(name) is empty: leave it out, or name one.")
        }
        if let other = attribute.first(where: { !Self.isAttribute($0) }) {
            throw ValidationError(
                "--attribute \(ShownText.ascii(other, limit: 80)) is not the URI of an attribute: https://example.net/attr/role/value/family"
            )
        }
        guard keyAccess.url.hasPrefix("https://") || keyAccess.url.hasPrefix("http://") else {
            throw ValidationError("--kas is the base URL of a key access server: https://kas.example.net/kas")
        }
    }

    /// The first of its options that was given.
    var named: String? {
        if kasKey != nil { return "--kas-key" }
        if let option = keyAccess.named { return option }
        if stream != nil { return "--stream" }
        if !attribute.isEmpty { return "--attribute" }
        return dissem.isEmpty ? nil : "--dissem"
    }

    /// `https://AUTHORITY/attr/NAME/value/VALUE`, as OpenTDF's SDKs write them.
    private static func isAttribute(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 7 && ["https:", "http:"].contains(parts[0]) && parts[1].isEmpty && parts[3] == "attr"
            && parts[5] == "value" && [parts[2], parts[4], parts[6]].allSatisfy { !$0.isEmpty }
    }

    /// The key that the archive's is wrapped for.
    ///
    /// - Parameter what: what does not happen without it.
    func recipient(or what: String) async throws(CommandFailure) -> TDFRecipient {
        let configuration = keyAccess.configuration
        guard let kasKey else {
            do throws(KeyAccessError) {
                let key = try await KASArchiveKey.fetch(configuration)
                return TDFRecipient(url: key.url, kid: key.kid, publicKeyPEM: key.publicKeyPEM)
            } catch {
                throw CommandFailure(error, what: what)
            }
        }
        do throws(SmallFile.Failure) {
            let bytes = try SmallFile.whole(kasKey, limit: 8192)
            return TDFRecipient(url: configuration.base, publicKeyPEM: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw CommandFailure(
                what: what, why: "\(kasKey): \(error)", hint: "check the file and its permissions", status: .usage)
        }
    }

    /// Of a film in a file.
    var policy: PlaintextPolicy {
        PlaintextPolicy(stream: stream, dataAttributes: attribute, dissemination: dissem)
    }

    /// Of what was recorded under a policy.
    func policy(from recorded: AccessPolicy) -> PlaintextPolicy {
        let names = recorded.body.dataAttributes.map(\.name)
        return PlaintextPolicy(
            stream: recorded.stream, dataAttributes: names + attribute.filter { !names.contains($0) },
            dissemination: dissem.isEmpty ? recorded.body.dissem : dissem)
    }
}
