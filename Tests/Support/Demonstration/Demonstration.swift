package import Console
package import Foundation

/// The main job on loopback, with the real programs: relay, KAS, camera, viewer, and an onlooker at the relay without
/// a key.
package struct Demonstration {
    /// Where `watchboxd` and `watchboxctl` are.
    package var programs: URL
    package var output: URL
    /// A media file, or nil for the test pattern.
    package var source: String?
    package var seconds: Int
    /// Seconds under one key; short, so that rotations are seen.
    package var rotateSeconds = 3.0

    private let progress: ProgressLine

    package init(programs: URL, output: URL, source: String?, seconds: Int, progress: ProgressLine) {
        self.programs = programs
        self.output = output
        self.source = source
        self.seconds = seconds
        self.progress = progress
    }

    /// - Returns: what was found; the files are in `output`.
    package func run() async throws -> Report {
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let work = FileManager.default.temporaryDirectory.appending(path: "watchbox-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: work, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: work) }
        var running: [ChildProgram] = []
        do {
            let report = try await run(work: work, running: &running)
            await stop(running)
            return report
        } catch {
            await stop(running)
            throw error
        }
    }

    private func stop(_ programs: [ChildProgram]) async {
        for program in programs.reversed() { await program.stop() }
    }

    private func run(work: URL, running: inout [ChildProgram]) async throws -> Report {
        let stage = Stage(programs: programs, logs: output)
        let relay = try await stage.serve("relay", ["relay", "--listen", "127.0.0.1:0", "--grace", "1"])
        running.append(relay.program)
        let state = work.appending(path: "kas").path
        let kas = try await stage.serve("kas", ["kas", "--state", state, "--listen", "127.0.0.1:0"])
        running.append(kas.program)
        progress.step("relay and key access server run on loopback, ports \(relay.port) and \(kas.port)")

        let stream = "demo"
        let publish = try await stage.token(
            state: state, subject: "box", scope: "kas.publish", stream: stream, in: work)
        let rewrap = try await stage.token(
            state: state, subject: "viewer", scope: "kas.rewrap", stream: stream, in: work)
        let url = "rtmp://127.0.0.1:\(relay.port)/live/\(stream)"
        let access = ["--kas", "http://127.0.0.1:\(kas.port)/kas", "--kas-token-file"]
        let cameraLog = output.appending(path: "camera.jsonl")
        let viewerLog = output.appending(path: "viewer.jsonl")
        let copy = output.appending(path: "relay-copy.flv")
        for file in [cameraLog, viewerLog, copy] { try? FileManager.default.removeItem(at: file) }

        let viewer = try stage.start(
            "viewer", "watchboxctl",
            ["play", url] + access + [
                rewrap, "--output", output.appending(path: "viewer.mp4").path, "--snapshot",
                output.appending(path: "viewer.png").path, "--frame-log", viewerLog.path, "--until-end", "--json",
            ])
        running.append(viewer)
        let onlooker = try stage.start(
            "onlooker", "watchboxctl",
            ["play", url, "--keyless", "--record", copy.path, "--until-end", "--json"])
        running.append(onlooker)
        for program in [viewer, onlooker] {
            try await stage.expect("waiting for the stream", from: program) {
                $0.contains("\"state\":\"waitingForStream\"") ? true : nil
            }
        }
        progress.step("a viewer with a token and an onlooker without one wait for the stream")

        let camera = try stage.start(
            "camera", "watchboxd",
            ["camera", "demo", "--source", source ?? "pattern", "--relay", url, "--stream", stream] + access + [
                publish, "--duration", "\(seconds)", "--rotate-seconds", "\(rotateSeconds)", "--frame-log",
                cameraLog.path, "--json",
            ])
        running.append(camera)
        let status = await wait(for: camera)
        guard status == 0 else {
            throw stage.failure("the camera ended with status \(status.map(String.init) ?? "none")", of: camera)
        }
        progress.step("the camera has published \(seconds) s and left")
        for program in [viewer, onlooker] {
            guard await program.ended(within: .seconds(15)) == 0 else {
                throw stage.failure("the \(program.name) did not come to an end of the stream", of: program)
            }
        }
        progress.step("viewer and onlooker have seen the end of the stream; comparing every access unit")
        return try report(camera: camera, cameraLog: cameraLog, viewerLog: viewerLog, copy: copy)
    }

    private func wait(for camera: ChildProgram) async -> Int32? {
        let limit = Double(seconds) + 20
        let begin = ContinuousClock.now
        while camera.exitStatus == nil {
            let passed = (ContinuousClock.now - begin) / .seconds(1)
            guard passed < limit else { return nil }
            progress.update("publishing, sealed", fraction: passed / Double(seconds))
            try? await Task.sleep(for: .milliseconds(100))
        }
        return camera.exitStatus
    }

    private func report(camera: ChildProgram, cameraLog: URL, viewerLog: URL, copy: URL) throws -> Report {
        let sealed = try FrameRecord.read(cameraLog)
        var report = Report(comparison: Comparison(camera: sealed, viewer: try FrameRecord.read(viewerLog)))
        report.camera = sealed
        report.source = source.map { ($0 as NSString).lastPathComponent } ?? "test pattern"
        report.seconds = seconds
        let final = try camera.finalStatistics()
        report.framesEncoded = final.video.delivered + final.audio.delivered
        report.overheadBytes = final.overheadBytes
        report.mediaBytes = final.video.bytes + final.audio.bytes
        report.relay = try RelayCopy(copy).view(camera: sealed)
        report.viewerFrame = [UInt8](try Data(contentsOf: output.appending(path: "viewer.png")))
        report.versions = "One machine, loopback; latency includes encoding, sealing, relaying, opening."
        try Data(report.text.utf8).write(to: output.appending(path: "report.txt"))
        try Data(report.page.utf8).write(to: output.appending(path: "report.html"))
        return report
    }
}
