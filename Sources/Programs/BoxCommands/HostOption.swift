import ArgumentParser
import Console
import ControlClient
import FoundationEssentials

/// Which box is asked: this machine, or another one over SSH.
struct HostOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask this box over SSH, as its user; --socket is the box's then. Else WATCHBOX_HOST, else this machine.",
            valueName: "[user@]host[:port]"))
    var host: String?

    func validate() throws {
        _ = try Self.read(host, "--host")
        _ = try Self.read(Self.environmentHost, "WATCHBOX_HOST")
    }

    /// Nil: this machine.
    var chosen: SSHHost? { (host ?? Self.environmentHost).flatMap { try? SSHHost($0) } }

    /// - Parameter socket: on the box; nil: that of control.
    func client(socket: String?) -> ControlClient {
        let socket = socket ?? variable("WATCHBOX_SOCKET") ?? ControlClient.defaultSocketPath
        var client = ControlClient(socketPath: socket)
        if let chosen { client.forward = Forwards.forward(to: chosen, socket: socket) }
        return client
    }

    /// For what reads files, devices or state of the machine that it runs on.
    func requireThisMachine() throws(CommandFailure) {
        guard let chosen else { return }
        let name = host == nil ? "WATCHBOX_HOST" : "--host"
        throw CommandFailure(
            what: "nothing was done",
            why: "this command is about the machine that it runs on, and \(name) names another: \(chosen)",
            hint: "run it there: \(chosen.command) \(Self.commandLine)"
                + (host == nil ? "; or for this machine: env -u WATCHBOX_HOST \(Self.commandLine)" : ""),
            status: .usage)
    }

    static var environmentHost: String? { variable("WATCHBOX_HOST") }

    /// As it was typed, without the host; without what another shell would read differently.
    private static var commandLine: String {
        var words = ["watchboxctl"]
        var isValue = false
        for word in CommandLine.arguments.dropFirst() {
            defer { isValue = word == "--host" }
            if isValue || word == "--host" || word.hasPrefix("--host=") { continue }
            let isPlain = word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_./:=,@%+".utf8.contains(byte)
                }
            }
            guard isPlain, !word.isEmpty, words.count < 32 else { return "watchboxctl …" }
            words.append(word)
        }
        return words.joined(separator: " ")
    }

    private static func read(_ text: String?, _ name: String) throws -> SSHHost? {
        guard let text else { return nil }
        do throws(SSHHost.Invalid) {
            return try SSHHost(text)
        } catch {
            throw ValidationError("\(name) \(error).")
        }
    }
}

/// A variable of the environment; nil when it is empty.
func variable(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
}
