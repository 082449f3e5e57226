import CameraModel
import CameraPipeline
import DeviceSource
import Foundation
import Logging
import ScriptedDevice
import Settings
import VideoCapture
import VideoCodec

/// A camera as `watchboxd camera` runs it, on a scripted V4L2 device that delivers JPEG images out of a file: no driver
/// that a test machine has gives MJPEG. Run by Tests/Rigs/bench.
///
/// `scripted-camera FILE WIDTHxHEIGHT RATE BITRATE SECONDS RELAY KAS TOKEN-FILE` prints a line of JSON: when each frame
/// was delivered (CLOCK_MONOTONIC, nanoseconds), and what became of them.
@main
struct ScriptedCamera {
    private struct Report: Encodable {
        var delivered: [UInt64]
        var refused: Int
        var capture: CaptureStatistics
        var sealed: UInt64
    }

    static func main() async throws {
        let words = CommandLine.arguments
        let size = words.count == 9 ? words[2].split(separator: "x").compactMap { Int($0) } : []
        guard words.count == 9, size.count == 2, let rate = Int(words[3]), let bitrate = Int(words[4]),
            let seconds = Double(words[5])
        else {
            FileHandle.standardError.write(
                Data("usage: scripted-camera FILE WIDTHxHEIGHT RATE BITRATE SECONDS RELAY KAS TOKEN-FILE\n".utf8))
            exit(64)
        }
        let frames = JPEGFile.frames(in: [UInt8](try Data(contentsOf: URL(filePath: words[1]))))
        guard !frames.isEmpty else { fatalError("\(words[1]) holds no JPEG image") }
        let machine = try ScriptedMachine()
        let camera = ScriptedDevice { script in
            script.formats = [
                .init(fourCC: .mjpeg, sizes: [CaptureSize(width: size[0], height: size[1])], rates: [rate])
            ]
        }
        try machine.add(0, "Scripted Camera", camera)
        let device = CameraConfiguration.Device(
            path: "/dev/video0", width: size[0], height: size[1], frameRate: rate, bitrate: bitrate, encoder: .libx264)
        var logger = Logger(label: "scripted-camera") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        // The peer has this preset too; a measurement on a busy machine would choose another one.
        var encoders = EncoderMachine()
        encoders.measure = { _ in 1000 }
        let source = DeviceSource(
            device, camera: "bench", durationLimit: seconds, logger: logger, calls: machine, root: machine.root,
            machine: encoders, mustEnd: { _ in })
        let configuration = CameraConfiguration(
            id: "bench", source: .device(device), relay: .init(url: words[6]),
            kas: KASConfiguration(url: words[7], token: .file(words[8])), duration: seconds)
        let service = try CameraService(configuration: configuration, source: source, logger: logger)
        let feed = FrameFeed(frames, rate: Double(rate), camera: camera, source: source)
        feed.start()
        try await service.run()
        feed.stop()
        let report = Report(
            delivered: feed.delivered, refused: feed.refused, capture: source.capture,
            sealed: await service.statistics().video.sealed)
        FileHandle.standardOutput.write(try JSONEncoder().encode(report) + Data("\n".utf8))
    }
}
