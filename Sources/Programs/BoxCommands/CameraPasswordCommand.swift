import ArgumentParser
import Console
import ControlAPI
import ControlClient

struct CameraPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Give a camera's password; it is encrypted for this box, and never shown.",
        discussion: """
            Asks without showing what is typed; a script gives a file, or - for standard input.

              watchboxctl camera password front --file /root/front.password
              watchboxctl camera password front --remove
            """)

    @OptionGroup var camera: CameraArgument

    @Option(help: "File that holds the password and nothing else; - for standard input.")
    var file: String?

    @Flag(help: "Forget the password.")
    var remove = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        if remove {
            try await output.client.send(.delete, camera.path + "/password", or: "the password was not removed")
            return output.report("Forgotten.", Done(object: "camera.\(camera.id)", action: "password-removed"))
        }
        let secret = try Secret.given(file: file) ?? Secret.typed("Password of \(camera.id)")
        try await output.client.send(
            .put, camera.path + "/password", body: SecretRequest(secret: secret), or: "the password was not stored")
        output.report(
            "Stored, encrypted for this box.", Done(object: "camera.\(camera.id)", action: "password-stored"))
    }
}
