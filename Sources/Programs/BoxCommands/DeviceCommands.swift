import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract:
            "The box's device key: it signs what the box registers at the KAS, so that a stolen token publishes nothing.",
        discussion: """
            Make it here, and register it where the KAS runs; from then on the KAS takes nothing of this box that the key has \
            not signed, and viewers can demand it with watchboxctl play --publisher. No command shows the private key.

              watchboxctl device make
              watchboxctl device key > box.pem
              watchboxctl kas device add --state DIR --subject box --key box.pem    (at the KAS)
            """,
        subcommands: [
            DeviceKeyCommand.self, DeviceMakeCommand.self, DeviceNextCommand.self, DeviceSwitchCommand.self,
            DeviceRemoveCommand.self,
        ])
}

private enum DeviceAPI {
    static func reported(_ document: DeviceKeyDocument, next: Bool = false) -> String {
        ((next ? document.nextPublicKey : document.publicKey) ?? "").split(separator: "\n").joined(separator: "\n")
    }
}

struct DeviceKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "The public key, for the KAS; its fingerprint is for viewers.",
        discussion: """
              watchboxctl device key > box.pem
              watchboxctl device key --fingerprint
            """)

    @Flag(help: "Print only the fingerprint, sha256//….")
    var fingerprint = false

    @Flag(help: "Of the key that takes over with device switch.")
    var next = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            DeviceKeyDocument.self, APIPath.device(), or: "the device key cannot be shown")
        guard let key = next ? document.nextFingerprint : document.fingerprint else {
            throw CommandFailure(
                what: "there is no \(next ? "next " : "")device key", why: "none was made on this box",
                hint: next ? "make it: watchboxctl device next" : "make it: watchboxctl device make", status: .notFound)
        }
        output.show(document) { _ in [fingerprint ? key : DeviceAPI.reported(document, next: next)] }
    }
}

struct DeviceMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Make the device key. Cameras begin again, and sign what they register.",
        discussion: "  watchboxctl device make")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.send(
            .post, APIPath.device(), as: DeviceKeyDocument.self, or: "no device key was made")
        output.show(document) { _ in
            [
                "The device key is \(document.fingerprint ?? "").",
                "Register it at the KAS: watchboxctl device key > box.pem, then kas device add --key box.pem there.",
            ]
        }
    }
}

struct DeviceNextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Make the key that is to take over, for the KAS to know it first.",
        discussion: """
              watchboxctl device next
              watchboxctl device key --next > next.pem     (kas device add --key next.pem at the KAS)
              watchboxctl device switch
            """)

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.send(
            .post, APIPath.device("next"), as: DeviceKeyDocument.self, or: "no next device key was made")
        output.show(document) { _ in ["The next device key is \(document.nextFingerprint ?? ""); it signs nothing yet."]
        }
    }
}

struct DeviceSwitchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch", abstract: "Let the next key take over. The KAS has to know it by now.",
        discussion: "  watchboxctl device switch")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.send(
            .post, APIPath.device("switch"), as: DeviceKeyDocument.self, or: "the device key was not changed")
        output.show(document) { _ in
            [
                "The device key is \(document.fingerprint ?? ""); cameras begin again with it.",
                "Remove the old one at the KAS: watchboxctl kas device remove.",
            ]
        }
    }
}

struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Destroy the device key: cameras sign nothing any more.",
        discussion: """
            A KAS that has the key registered takes nothing of this box then, until kas device remove there.

              watchboxctl device remove --yes
            """)

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try Question.confirm("The device key is destroyed. Go on?", flag: "--yes", isConfirmed: yes)
        try await output.client.send(.delete, APIPath.device(), or: "the device key was not removed")
        output.report("The box signs nothing any more.", Done(object: "device", action: "removed"))
    }
}
