import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient

struct StreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream", abstract: "Encrypted publications, one for each camera.",
        subcommands: [
            StreamListCommand.self, StreamShowCommand.self, StreamStartCommand.self, StreamStopCommand.self,
            StreamRestartCommand.self, StreamKeyFrameCommand.self, StreamTopCommand.self,
        ])

    static func change(_ camera: CameraArgument, _ verb: String, _ done: String, _ output: OutputOptions) async throws {
        try await output.client.send(
            .post, APIPath.streams(camera.id, verb), or: "the stream of \(camera.id) was not changed")
        output.report("\(camera.id): \(done).", Done(object: "stream.\(camera.id)", action: done))
    }
}

struct StreamListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "All streams with their figures.",
        discussion: "  watchboxctl stream list")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            StreamListDocument.self, APIPath.streams(), or: "the streams cannot be listed")
        output.show(document, rows: document.streams) { StreamView.table(document) }
    }
}

struct StreamShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One stream with all its counters.",
        discussion: "  watchboxctl stream show front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            StreamDocument.self, APIPath.streams(camera.id), or: "the stream of \(camera.id) cannot be shown")
        output.show(document) { StreamView.lines(document, style: $0) }
    }
}

struct StreamStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start a stream that was stopped.",
        discussion: "  watchboxctl stream start front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws { try await StreamCommand.change(camera, "start", "started", output) }
}

struct StreamStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop a stream until it is started again, or the box restarts.",
        discussion: """
            For longer: watchboxctl camera disable ID.

              watchboxctl stream stop front
            """)

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws { try await StreamCommand.change(camera, "stop", "stopped", output) }
}

struct StreamRestartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "Start a camera's process again; clears a start limit.",
        discussion: "  watchboxctl stream restart front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws { try await StreamCommand.change(camera, "restart", "restarted", output) }
}

struct StreamKeyFrameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key-frame", abstract: "Ask the camera for a key frame.",
        discussion: "  watchboxctl stream key-frame front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws { try await StreamCommand.change(camera, "key-frame", "asked for a key frame", output) }
}

struct StreamTopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "The streams' figures, again every second, until Ctrl-C.",
        discussion: """
            ACK is how long ago the relay's kernel last took bytes of the stream: that a viewer gets them, watchboxctl play \
            shows alone. With --json one line for each second. A daemon that does not answer is reported and asked again; with --count it \
            ends the command.

              watchboxctl stream top
              watchboxctl stream top --count 1
            """)

    @Option(help: "End after so many times.")
    var count: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more.") }
        try output.refuseQuiet("stream top")
    }

    func run() async throws {
        try await Watching.again(every: .seconds(1), count: count, output) { isAgain in
            let document = try await output.client.get(
                StreamListDocument.self, APIPath.streams(), or: "the streams cannot be shown")
            Watching.clear(isAgain, output)
            output.show(document) { StreamView.table(document).lines($0, header: !output.noHeaders) }
        }
    }
}
