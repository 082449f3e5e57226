import ArgumentParser
import Console
import ControlAPI
import ControlClient
import Systemd

/// Control may seal secrets and open none, where systemd encrypts them. To renew the box's token it needs the one that
/// there is: this process gets the box's secrets from systemd, hands them to control, and ends. A secret that cannot be
/// opened so ends this process, and never control.
struct HandOverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-over",
        abstract: "Give control the secrets of the box that systemd opened for this process.",
        discussion: """
            Runs as watchbox-hand-over.service whenever control starts.

              watchboxd hand-over
            """)

    @Option(help: ArgumentHelp("Socket of the control daemon.", valueName: "path"))
    var socket = "/run/watchbox/api.sock"

    private static let prefix = "box_"
    /// Less than its unit may take (`TimeoutStartSec=`).
    private static let timeout = Duration.seconds(20)

    func run() async throws {
        let directory = CredentialDirectory.environment
        var secrets: [String: String] = [:]
        for name in directory.names where name.hasPrefix(Self.prefix) {
            guard let bytes = try? directory.read(name), let text = String(validating: bytes, as: UTF8.self) else {
                continue
            }
            secrets[String(name.dropFirst(Self.prefix.count))] = text
        }
        guard !secrets.isEmpty else { return }
        let deadline = ContinuousClock.now + Self.timeout
        while true {
            do {
                return try await ControlClient(socketPath: socket).send(
                    .post, APIPath.keyAccess("handed-over"), body: HandOverRequest(secrets: secrets))
            } catch {
                // Control may be on its way up, or go down this moment: its next start asks for the secrets again.
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(
                        what: "control was not given the box's secrets", why: "\(error)",
                        hint: "check that watchbox-control runs", status: .failed)
                }
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }
}
