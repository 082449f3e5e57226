import ArgumentParser
import BoxConfiguration
import BoxView
import Console
import ControlAPI
import ControlClient
import ErrorCatalog
internal import Settings

/// One setting of the configuration that runs.
private struct RunningSetting {
    var path: SettingPath
    var settings: BoxSettings
    var generation: Int
    var origin: String?

    static func read(_ text: String, what: String, _ client: ControlClient) async throws -> RunningSetting {
        let document = try await client.get(ConfigurationDocument.self, APIPath.configuration(), or: what)
        return try coded(what) { () throws(CodedError) in
            let path = try SettingPath(text)
            // What it is set to is not known, and to write it anew would lose the rest of it.
            if let known = document.quarantined?.first(where: { $0.object == path.object }) {
                throw CodedError(
                    .objectQuarantined, "\(path.object) is quarantined", why: known.reason, hint: known.hint)
            }
            return RunningSetting(
                path: path, settings: try BoxSettings(exported: document.toml), generation: document.generation,
                origin: document.origins[path.object])
        }
    }

    static func coded<Value>(
        _ what: String, _ body: () throws(CodedError) -> Value
    ) throws(CommandFailure) -> Value {
        do { return try body() } catch {
            throw CommandFailure(
                what: what, why: error.why.map { "\(error.what): \($0)" } ?? error.what,
                hint: error.hint ?? error.code.entry?.hint ?? "watchboxctl explain \(error.code)",
                status: error.code == .notFound ? .notFound : .usage)
        }
    }
}

struct ConfigGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "One setting of the configuration that runs, defaults included.",
        discussion: """
            Prints the value alone, a list line by line, and nothing for what has no value.

              watchboxctl config get camera.front.bitrate
              watchboxctl config get relay_server.listen --json
            """)

    @Argument(help: "camera.ID.KEY, relay.NAME.KEY, kas.KEY, box.KEY, health.KEY, relay_server.KEY or kas_server.KEY.")
    var setting: String

    @OptionGroup var output: OutputOptions

    private struct Value: Codable {
        var schema = "watchbox.setting/1"
        var setting: String
        var value: SettingValue?
        /// `watchbox.toml`, `store`; nil: the object was never written.
        var origin: String?
    }

    func validate() throws {
        try output.refuseQuiet("config get")
    }

    func run() async throws {
        let what = "the setting cannot be shown"
        let running = try await RunningSetting.read(setting, what: what, output.client)
        let value = try RunningSetting.coded(what) { () throws(CodedError) in
            try running.settings.value(of: running.path)
        }
        output.show(Value(setting: setting, value: value, origin: running.origin)) { _ in
            guard let value else { return [] }
            return value.plain.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
    }
}

struct ConfigSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change one setting of what commands have made; never of an operator's file.",
        discussion: """
            With --default instead of a value its default holds again. A list is written ["one", "two"]. Refused when somebody
            else changes the configuration at the same time.

              watchboxctl config set camera.front.bitrate 2000000
              watchboxctl config set box.name "Front door"
              watchboxctl config set camera.front.bitrate --default --dry-run
            """)

    @Argument(help: "camera.ID.KEY, relay.NAME.KEY, kas.KEY, box.KEY, health.KEY, relay_server.KEY or kas_server.KEY.")
    var setting: String

    @Argument(help: "Its value.")
    var value: String?

    @Flag(name: .customLong("default"), help: "Back to the default, instead of a value.")
    var isDefault = false

    @Flag(help: "Say what would change, and change nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (value == nil) == isDefault else {
            throw ValidationError(
                isDefault ? "Give a value or --default, not both." : "Give a value, or --default to take it away.")
        }
    }

    func run() async throws {
        let what = "nothing was changed"
        let running = try await RunningSetting.read(setting, what: what, output.client)
        let text = try RunningSetting.coded(what) { () throws(CodedError) in
            try running.settings.toml(setting: running.path, to: value)
        }
        let diff = try await ConfigurationText.take(
            ImportRequest(toml: text, replace: true, ifGeneration: running.generation), isDryRun: dryRun, output.client,
            what: what)
        output.show(diff) { ConfigurationView.lines(diff, style: $0) }
    }
}
