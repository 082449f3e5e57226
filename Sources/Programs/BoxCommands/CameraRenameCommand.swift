import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import ErrorCatalog
import Glibc

struct CameraRenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a camera another ID; all that it has goes along.",
        discussion: """
            Its settings, its place, its password and whether it runs stay. So does its stream's name at relay and KAS, which \
            is written down when it was the ID; --stream gives the stream another name, and what names it elsewhere has to \
            follow. Its process starts again under the new ID, and learns again what it knew of the camera; no other \
            camera notices. Where systemd encrypts the secrets, only systemd can open the password: it is asked for, \
            or comes from --password-file. Events of before keep the former ID. A camera that a file defines is renamed \
            there, by hand.

              watchboxctl camera rename front porch
              watchboxctl camera rename front porch --stream porch
              watchboxctl camera rename front porch --password-file /root/front.password
              watchboxctl camera rename front porch --dry-run
            """)

    @OptionGroup var camera: CameraArgument

    @Argument(help: "The new ID: a-z, 0-9 and single hyphens, at most 24 characters.")
    var newID: String

    @Option(help: "The stream gets this name at relay and KAS, too; without it, it keeps the one that it has.")
    var stream: String?

    @Option(
        help: ArgumentHelp(
            "File that holds the password of the camera's login and nothing else; - for standard input.",
            valueName: "file"))
    var passwordFile: String?

    @Flag(help: "Say what would happen, and do nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let what = "\(camera.id) was not renamed"
        let (former, tag) = try await output.client.getTagged(CameraDocument.self, camera.path, or: what)
        var request = CameraRenameRequest(id: newID, stream: stream)
        request.password = try Secret.given(file: passwordFile)
        if dryRun {
            let requested = request
            let diff = try await output.client.send(
                .post, camera.path + "/rename", body: requested, query: [("dryRun", "1")], ifMatch: tag,
                as: ConfigurationDiff.self, or: "\(camera.id) cannot be renamed")
            return output.show(diff) { ConfigurationView.lines(diff, style: $0) }
        }
        let renamed = try await rename(request, tag, what)
        let place = await output.environment(of: renamed)
        output.show(renamed) { CameraRenameView.lines(renamed, formerly: former, at: place, style: $0) }
    }

    /// Asks for the password where it is needed and somebody is there to type it.
    private func rename(
        _ request: CameraRenameRequest, _ tag: String?, _ what: String
    ) async throws(CommandFailure) -> CameraDocument {
        do throws(ControlClientError) {
            return try await output.client.send(
                .post, camera.path + "/rename", body: request, ifMatch: tag, as: CameraDocument.self)
        } catch {
            guard case .problem(let problem) = error, problem.code == .missingSecret, request.password == nil,
                isatty(STDIN_FILENO) == 1
            else { throw CommandFailure(error, what: what) }
        }
        var complete = request
        complete.password = try Secret.typed("Password of \(camera.id), which only systemd can open")
        let requested = complete
        return try await output.client.send(
            .post, camera.path + "/rename", body: requested, ifMatch: tag, as: CameraDocument.self, or: what)
    }
}
