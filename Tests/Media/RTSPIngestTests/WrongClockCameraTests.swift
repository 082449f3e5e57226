import CameraModel
import Foundation
import Media
import Testing

@testable import RTSPIngest

/// Cameras whose RTP clocks run at another rate than they announce, pulled for some seconds.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct WrongClockCameraTests {
    private let directory = TemporaryDirectory()

    /// Seconds by which units stand behind their arrival; 0 is where the first frame stands.
    private static func lateness(_ units: [AccessUnit], of seen: RunningSource.Seen) -> [Double] {
        guard let zero = seen.frames.first?.captureInstant else { return [] }
        return units.map { unit in
            let arrival = Int64(unit.captureInstant ?? 0) - Int64(zero)
            return Double(arrival - unit.presentationTime.nanoseconds) / 1e9
        }
    }

    /// How far they get from their arrival, whatever the machine does for a while: the furthest of the least in any two
    /// seconds. Frames that drift by half a second in each, and are 1.5 s away at last, are 0.5 s away by this.
    private static func distance(_ lateness: [Double]) -> Double {
        lateness.indices.dropLast(49).map { abs(lateness[$0..<($0 + 50)].min() ?? 0) }.max() ?? .infinity
    }

    typealias Basis = NetworkStatistics.Timing.Basis

    @Test(arguments: [
        ("vrate=0.84", Basis.corrected, Basis.camera), ("vrate=0.5", .corrected, .camera),
        ("vrate=1.25", .corrected, .camera), ("arate=0.8", .camera, .corrected), ("vrate=1", .camera, .camera),
    ])
    func `frames and audio stay near their arrival`(
        query: String, video: Basis, audio: Basis
    ) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query + "&audio=pcmu"), in: directory))
        let reported = try await running.waitForStatistics("what is said of the clocks of \(query)") {
            $0.network?.videoTiming?.basis == video && $0.network?.audioTiming?.basis == audio
        }
        if let rate = Double(query.dropFirst(6)), query.hasPrefix("vrate"), rate != 1 {
            let speed = try #require(reported.network?.videoTiming?.speed)
            #expect(abs(speed - rate) < 0.1)
        }
        // As many as would take it far away, uncorrected.
        let seen = try await running.wait("eight more seconds") { $0.frames.count >= 200 && $0.audio.count >= 125 }
        let frames = Self.lateness(seen.frames, of: seen)
        let audio = Self.lateness(seen.audio, of: seen)
        // A machine that does other things for a while makes units late, but not all of them.
        let least = try #require(frames.suffix(25).min())
        let minAudio = try #require(audio.suffix(16).min())
        print(
            "· \(query): frames \(least) s late at least, \(frames.max() ?? 0) s at most; audio \(minAudio) s")
        #expect(abs(least) < 0.5 && abs(minAudio) < 0.5)
        #expect(abs(least - minAudio) < 0.5)
        #expect(Self.distance(frames) < 0.5)
        #expect(seen.stepsBack == 0 && seen.longestGap < MediaTime(milliseconds: 1500))
        #expect(reported.clockSteps == 0)
        _ = try await running.stop()
    }

    @Test func `the camera's timestamps, or its arrivals, when they are requested`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(camera.url("vrate=0.5"), in: directory)
        network.timestamps = .camera
        let trusting = RunningSource(network)
        network.timestamps = .arrival
        let arriving = RunningSource(network)
        let late = try await trusting.wait("six seconds") { $0.frames.count >= 150 }
        let near = try await arriving.wait("six seconds") { $0.frames.count >= 150 }
        #expect(try #require(Self.lateness(late.frames, of: late).suffix(25).min()) > 1.5)
        #expect(try #require(Self.lateness(near.frames, of: near).suffix(25).min()) < 0.5)
        #expect(near.stepsBack == 0)
        try await arriving.waitForStatistics("arrivals") { $0.network?.videoTiming?.basis == .arrival }
        _ = try await trusting.stop()
        _ = try await arriving.stop()
    }
}
