import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "The keys of the streams, as far as they may be shown: no command prints one.",
        subcommands: [KeyListCommand.self, KeyShowCommand.self, KeyRotateCommand.self])
}

struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Collection, use of its counter and registration of every stream.",
        discussion: "  watchboxctl key list")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            KeyListDocument.self, APIPath.keys(), or: "the keys cannot be listed")
        output.show(document, rows: document.keys) { KeyView.table(document) }
    }
}

struct KeyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The same of one stream.",
        discussion: "  watchboxctl key show front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            KeyDocument.self, APIPath.keys(camera.id), or: "the key of \(camera.id) cannot be shown")
        output.show(document, rows: [document]) { KeyView.table(KeyListDocument(keys: [document])) }
    }
}

struct KeyRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Begin a new key at the next key frame, which is asked for.",
        discussion: "  watchboxctl key rotate front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.client.send(
            .post, APIPath.keys(camera.id, "rotate"), or: "the key of \(camera.id) was not rotated")
        output.report(
            "\(camera.id): a new key begins at the next key frame.",
            Done(object: "key.\(camera.id)", action: "rotation-asked-for"))
    }
}
