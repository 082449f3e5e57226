import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import KeyAccessServer
import Platform

struct KASCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kas",
        abstract: "The key access server: the one that this box encrypts for, and one that runs on this machine.",
        subcommands: [
            KASShowCommand.self, KASSetCommand.self, KASTestCommand.self, KASKeyCommand.self, KASTokenCommand.self,
            KASGrantCommand.self, KASRevokeCommand.self, KASListCommand.self, KASDeviceCommand.self,
            KASBackupCommand.self,
            KASRestoreCommand.self,
        ])
}

struct KASShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract:
            "The KAS of this box's configuration; with --state the keys of one on this machine, never a key itself.",
        discussion: """
              watchboxctl kas show
              watchboxctl kas show --state /var/lib/private/watchbox-kas
            """)

    @Option(help: "State directory of a KAS on this machine: list its keys by identifier, purpose and age.")
    var state: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let state else {
            let document = try await output.client.get(
                KeyAccessDocument.self, APIPath.keyAccess(), or: "the KAS cannot be shown")
            return output.show(document) { style in
                [
                    style.paint(document.url ?? "none is set", .strong),
                    "  token       \(document.hasToken ? "stored" : "MISSING")"
                        + (document.tokenEndsAt.map { ", ends \(KASAccessDocument.date($0))" } ?? "")
                        + (document.code.map { " (\($0))" } ?? ""),
                    "  defined in  \(style.paint(document.origin, .plain))",
                ]
            }
        }
        try output.box.requireThisMachine()
        let keys: [KeyDescription]
        do {
            keys = try KeyStore(directory: state, now: Clocks.wallSeconds).descriptions
        } catch {
            throw CommandFailure(
                what: "the keys cannot be listed", why: "\(error)",
                hint: "use the --state directory of the KAS, as a user who may read it", status: .notPermitted)
        }
        KASKeyListCommand.show(keys, output)
    }
}
