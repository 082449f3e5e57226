import ArgumentParser
import BoxView
import Console
import FoundationEssentials
import KeyAccessServer
import Platform

struct KASKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The keys of a KAS on this machine: which serve, which are over, and when the next one takes over.",
        discussion: """
            A KAS makes a new key for streams each day, and destroys the old one a week later: whoever takes the KAS then \
            opens no older stream. A running KAS notices within seconds what these commands do.
            """,
        subcommands: [
            KASKeyListCommand.self, KASKeyRolloverCommand.self, KASKeyImportCommand.self, KASKeyRetireCommand.self,
        ])
}

/// The state directory, and how a command says that it could not use it.
struct KASStateOptions: ParsableArguments {
    @Option(help: "State directory of a KAS on this machine.")
    var state: String

    func store() throws -> KeyStore {
        try changing { try KeyStore(directory: state, now: Clocks.wallSeconds) }
    }

    func changing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw CommandFailure(
                what: "the keys were not changed", why: "\(error)",
                hint: "use the --state directory of the KAS, as a user who may write it", status: .notPermitted)
        }
    }
}

/// A key's purpose by a short name.
enum KASKeyPurpose: String, CaseIterable, ExpressibleByArgument {
    case stream
    case archive

    var purpose: KeyDescription.Purpose {
        switch self {
        case .stream: .p256
        case .archive: .rsa2048
        }
    }
}

struct KASKeyListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The keys by identifier, purpose and state; never a key itself.",
        discussion: "  watchboxctl kas key list --state /var/lib/private/watchbox-kas")

    @OptionGroup var directory: KASStateOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.box.requireThisMachine()
        Self.show(try directory.store().descriptions, output)
    }

    static func show(_ keys: [KeyDescription], _ output: OutputOptions) {
        output.show(KASKeysDocument(keys: keys)) { style in
            keys.map { key in
                let since = day(key.createdAt)
                let state =
                    switch key.state {
                    case .current: style.paint("current", .good) + " since \(since)"
                    case .retired: "retired, opens what was sealed for it since \(since)"
                    case .destroyed: "destroyed on \(day(key.destroyedAt ?? 0)), opens nothing"
                    }
                return "\(key.kid)  \(key.purpose.rawValue)  \(state)"
            }
        }
    }

    private static func day(_ seconds: Int64) -> String {
        String(Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).prefix(10))
    }
}

/// What every command about keys prints as JSON.
struct KASKeysDocument: Encodable {
    var schema = "watchbox.kas.keys/1"
    var keys: [KeyDescription]
}

struct KASKeyRolloverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollover", abstract: "Let a new key take over now. The old one opens what was sealed for it.",
        discussion: """
            Cameras notice within five minutes and begin a new collection; nothing is interrupted.

              watchboxctl kas key rollover --state /var/lib/private/watchbox-kas
            """)

    @OptionGroup var directory: KASStateOptions

    @Option(help: "stream, or archive (RSA-2048, for TDF files).")
    var purpose = KASKeyPurpose.stream

    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.box.requireThisMachine()
        let store = try directory.store()
        let key = try directory.changing { try store.rollOver(purpose.purpose, now: Clocks.wallSeconds) }
        output.report("\(key.kid) is the current key of \(key.purpose.rawValue).", KASKeysDocument(keys: [key]))
    }
}

struct KASKeyImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take over a key that was in service at another KAS, as the current one.",
        discussion: "  watchboxctl kas key import --state /var/lib/private/watchbox-kas --file old-kas.pem --kid e7")

    @OptionGroup var directory: KASStateOptions

    @Option(
        help: "PEM file of the private key: P-256 for streams, RSA-2048 for archives. It may be removed afterwards.")
    var file: String

    @Option(help: "Name of the key: 1 to 32 letters, digits, - or _. Headers that name it open again.")
    var kid: String?

    @Option(help: "stream, or archive (RSA-2048, for TDF files).")
    var purpose = KASKeyPurpose.stream

    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.box.requireThisMachine()
        let store = try directory.store()
        let key = try directory.changing {
            try store.importKey(
                pem: String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self),
                purpose: purpose.purpose, kid: kid, now: Clocks.wallSeconds)
        }
        output.report("\(key.kid) is the current key of \(key.purpose.rawValue).", KASKeysDocument(keys: [key]))
    }
}

struct KASKeyRetireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Destroy a key that another one has replaced. What was sealed for it opens no more.",
        discussion: """
            There is no way back, but a backup of the KAS.

              watchboxctl kas key retire e4 --state /var/lib/private/watchbox-kas --yes
            """)

    @Argument(help: "The key's identifier, as kas key list shows it.")
    var kid: String

    @OptionGroup var directory: KASStateOptions

    @Flag(help: "Do it: streams and recordings under this key are lost.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        try output.box.requireThisMachine()
        guard yes else {
            throw CommandFailure(
                what: "\(kid) was not destroyed", why: "streams and recordings under it could never be opened again",
                hint: "add --yes if that is what you want", status: .usage)
        }
        let store = try directory.store()
        try directory.changing { try store.retire(kid: kid, now: Clocks.wallSeconds) }
        output.report("\(kid) is destroyed.", KASKeysDocument(keys: store.descriptions.filter { $0.kid == kid }))
    }
}
