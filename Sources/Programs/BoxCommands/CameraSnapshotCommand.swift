import ArgumentParser
import Console
import ControlClient
import Glibc
import Platform

struct CameraSnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "The newest frame of a camera that publishes, as JPEG.",
        discussion: """
            The frame is what viewers see, masks and text burnt in. It comes over this machine's own socket and is not \
            encrypted: the file is for its owner only, and nothing is overwritten.

              watchboxctl camera snapshot front --output front.jpg
            """)

    @OptionGroup var camera: CameraArgument

    @Option(help: ArgumentHelp("File that is made; - for standard output.", valueName: "file"))
    var output: String

    // Not `output`, which is the file here.
    @OptionGroup var options: OutputOptions

    private struct Document: Encodable {
        var schema = "watchbox.snapshot/1"
        var camera: String
        var file: String
        var bytes: Int
    }

    func validate() throws {
        guard output == "-" else { return }
        if isatty(STDOUT_FILENO) == 1 { throw ValidationError("An image is nothing for a terminal: name a file.") }
        if options.chosen != .table { throw ValidationError("Standard output is for the image: name a file.") }
    }

    func run() async throws {
        var client = options.client
        // A camera that has just begun has no frame yet; the daemon waits for it, for 13 seconds.
        client.readTimeout = .seconds(16)
        let asked = client
        let image = try await asked.bytes("\(camera.path)/snapshot", or: "there is no image of \(camera.id)")
        if output == "-" { return try StandardOutputBytes.write(image) }
        do {
            try NewFile.write(image, to: output)
        } catch {
            throw CommandFailure(
                what: "the image was not written to \(output)", why: error.reason,
                hint: error.isThere
                    ? "choose another name; nothing is overwritten" : "choose a directory that you may write to",
                status: error.isThere ? .conflict : .failed)
        }
        options.report(
            "Wrote \(output), \(image.count) bytes.",
            Document(camera: camera.id, file: output, bytes: image.count))
    }
}

private enum StandardOutputBytes {
    static func write(_ bytes: [UInt8]) throws(CommandFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw CommandFailure(
                    what: "the image was not written", why: SystemMessage.text(errno),
                    hint: "name a file: --output front.jpg", status: .failed)
            }
            rest = rest.dropFirst(count)
        }
    }
}
