import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
import ErrorCatalog

/// Tests of cameras on the network, which the daemon makes.
enum CameraTesting {
    static let sources =
        "test:, file:/PATH, v4l2:/dev/…, csi:, rtsp://HOST/PATH, rtsps://HOST/PATH, onvif://HOST or http://HOST/PATH."
    /// A test ends by itself long before.
    private static let timeout = Duration.seconds(40)

    static func isOnNetwork(_ source: String) -> Bool {
        CameraConfiguration.Network.schemes.contains { source.hasPrefix("\($0)://") }
    }

    /// Each step is shown as it comes: to people on standard output, else line by line on standard error.
    static func run(
        _ request: CameraTestRequest, _ output: OutputOptions, isShown: Bool = true
    ) async throws(CommandFailure) -> (id: String, report: StreamTestReport) {
        let client = output.client
        let what = "the camera was not tested"
        let interruption = Interruption()
        defer { interruption.end() }
        let begun = try await client.send(
            .post, APIPath.cameraTests(), body: request, as: CameraTestDocument.self, or: what)
        let path = APIPath.cameraTests(begun.id)
        let progress = ProgressLine()
        let deadline = ContinuousClock.now + timeout
        var shown = 0
        while true {
            guard !interruption.isThere else {
                progress.clear()
                try? await client.send(.delete, path)
                throw CommandFailure(
                    what: what, why: "Ctrl-C ended the test", hint: "run it again", status: .abortedByUser)
            }
            let report: StreamTestReport
            do throws(ControlClientError) {
                report = try await client.get(StreamTestReport.self, path)
            } catch {
                progress.clear()
                throw CommandFailure(error, what: what)
            }
            if isShown { show(advised(report, request), from: &shown, progress, output) }
            if report.isDone {
                progress.clear()
                return (begun.id, advised(report, request))
            }
            guard ContinuousClock.now < deadline else {
                progress.clear()
                throw CommandFailure(
                    what: what, why: "the daemon did not end the test in time", hint: "watchboxctl logs --unit control",
                    status: .failed)
            }
            if let waiting = StreamTestView.waiting(report) {
                let steps = StreamTestReport.Step.allCases.count
                progress.update("waiting: \(waiting)", fraction: Double(report.lines.count) / Double(steps))
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The test of a camera of this box, with the password that it has.
    static func run(camera id: String, _ output: OutputOptions) async throws(CommandFailure) -> StreamTestReport {
        let result = await Waiting.during("testing \(id.terminalSafe)") {
            () async -> Result<StreamTestReport, ControlClientError> in
            do throws(ControlClientError) {
                return .success(
                    try await output.client.send(.post, APIPath.cameras(id, "test"), as: StreamTestReport.self))
            } catch {
                return .failure(error)
            }
        }
        do throws(ControlClientError) {
            return StreamTestHints.ofCamera(id, try result.get())
        } catch {
            var failure = CommandFailure(error, what: "\(id) was not tested")
            if case .problem(let problem) = error, problem.code == .unreachable {
                failure.hint = "start it, or test its address: watchboxctl camera test URL --user USER"
            }
            throw failure
        }
    }

    private static func advised(_ report: StreamTestReport, _ request: CameraTestRequest) -> StreamTestReport {
        StreamTestHints.ofAddress(report, user: request.user, hasPassword: request.password != nil)
    }

    /// Of a test whose camera cannot be used.
    static func failure(_ report: StreamTestReport, what: String) -> CommandFailure {
        guard let line = report.lines.last(where: { $0.outcome == .failed }) else {
            return CommandFailure(
                what: what, why: "no video came", hint: "watchboxctl logs --unit control", status: .failed)
        }
        let code = line.code.map { "\($0) " } ?? ""
        return CommandFailure(
            what: what, why: withoutStop(code + line.text),
            hint: line.hint ?? line.code?.entry?.hint ?? "check the camera", status: status(report))
    }

    /// How a command ends whose camera was tested.
    static func status(_ report: StreamTestReport) -> ExitStatus {
        if report.isUsable { return .ok }
        let code = report.lines.last { $0.outcome == .failed }?.code
        return code == .cameraUnreachable || code == .cameraTimeout ? .remoteUnreachable : .failed
    }

    private static func show(
        _ report: StreamTestReport, from shown: inout Int, _ progress: ProgressLine, _ output: OutputOptions
    ) {
        guard !output.quiet, report.lines.count > shown else { return }
        progress.clear()
        for line in report.lines[shown...] {
            for text in StreamTestView.lines(line, style: output.style) {
                output.chosen == .table ? StandardOutput.writeLine(text) : StandardError.writeLine(text)
            }
        }
        shown = report.lines.count
    }

    /// A failure's own full stop follows.
    static func withoutStop(_ message: String) -> String {
        message.hasSuffix(".") ? String(message.dropLast()) : message
    }
}
