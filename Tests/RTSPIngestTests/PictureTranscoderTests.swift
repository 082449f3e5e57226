import CameraModel
import Foundation
import Logging
import Media
import TestSupport
import Testing
import VideoCodec

@testable import RTSPIngest

struct PictureQueueTests {
    private func add(_ queue: inout PictureQueue, _ number: UInt8, rate: Double? = 25) {
        queue.add([number], at: MediaTime(milliseconds: Int64(number) * 100), rate: rate, arrival: UInt64(number))
    }

    @Test func `the newest picture wins, and those before are counted`() {
        var queue = PictureQueue()
        #expect(queue.take() == nil)
        for number in 1...5 { add(&queue, UInt8(number)) }
        #expect(queue.take()?.jpeg == [5])
        #expect(queue.superseded == 4)
        #expect(queue.take() == nil)
        add(&queue, 6)
        #expect(queue.take()?.arrival == 6)
        #expect(queue.superseded == 4)
    }

    @Test func `without a promise the distance of the first two is the rate`() {
        var queue = PictureQueue()
        add(&queue, 1, rate: nil)
        #expect(queue.take() == nil)
        add(&queue, 2, rate: nil)
        #expect(queue.take()?.rate == 10)
        // The same time twice, or an hour later: bounded.
        add(&queue, 2, rate: nil)
        #expect(queue.take()?.rate == 60)
        queue.add([1], at: MediaTime(milliseconds: 3_600_000), rate: nil, arrival: 0)
        #expect(queue.take()?.rate == 1)
        for rate in [0, -1, 1000, .infinity, .nan, 0.001] {
            add(&queue, 3, rate: rate)
            #expect((1...60).contains(queue.take()?.rate ?? 0), "\(rate)")
        }
    }
}

struct DecoderSupervisionTests {
    private let second: UInt64 = 1_000_000_000

    @Test func `a child that always ends is started less and less often`() {
        var supervision = DecoderSupervision()
        var now = 5 * second
        var starts: [UInt64] = []
        while starts.count < 12 {
            if supervision.mayStart(at: now) {
                starts.append(now)
                supervision.started(at: now)
                supervision.ended("signal 11", at: now)
            }
            now += second / 10
        }
        let pauses = zip(starts, starts.dropFirst()).map { Double($1 - $0) / 1e9 }
        #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30])
        #expect(supervision.failures == 12)
        #expect(supervision.words == "the decoder was started anew 12 times: signal 11")
    }

    @Test func `one that was well for a minute begins anew`() {
        var supervision = DecoderSupervision()
        for _ in 0..<6 { supervision.ended("x", at: 0) }
        supervision.started(at: 100 * second)
        supervision.ended("y", at: 100 * second + DecoderSupervision.wellAfter)
        #expect(!supervision.mayStart(at: 160 * second + second / 2 - 1))
        #expect(supervision.mayStart(at: 160 * second + second / 2))
    }
}

/// With children that are scripts, and with the real one.
struct PictureTranscoderTests {
    private static let watchboxd = BuiltProgram.path("watchboxd")
    private static let real = DecoderProgram(executable: watchboxd, deadline: .seconds(30))

    /// Says that it is in a sandbox, and does for each request what `answer` does.
    private static func script(_ answer: String, deadline: Duration = .seconds(30)) -> DecoderProgram {
        let text = """
            import os, sys, time, signal
            os.write(1, b'sandbox 7 1\\n')
            while True:
                request = os.read(0, 4096)
                if not request: os._exit(0)
                \(answer)
                os.write(1, request[:4] + bytes(4))
            """
        return DecoderProgram(executable: "/usr/bin/python3", arguments: ["-c", text], deadline: deadline)
    }

    private static func jpeg(_ width: Int = 64, _ height: Int = 48) throws -> [UInt8] {
        let pixels = [UInt8](repeating: 90, count: width * height * 3)
        let picture = try RawPicture(width: width, height: height, pixels: pixels)
        return try JPEGEncoder().encode(picture, widest: nil)
    }

    private func transcoder(
        _ program: DecoderProgram, _ events: Watched<[MediaEvent]>, failed: @escaping @Sendable () -> Void = {}
    ) -> PictureTranscoder {
        PictureTranscoder(
            .init(bitrate: 300_000, gopSeconds: 1), program: program, logger: Logger(label: "test"), failed: failed
        ) { event in events.change { $0.append(event) } }
    }

    private static func units(_ events: [MediaEvent]) -> [AccessUnit] {
        events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    }

    private func add(_ number: Int, _ jpeg: [UInt8], to transcoder: PictureTranscoder) {
        transcoder.add(
            jpeg, at: MediaTime(milliseconds: Int64(number) * 40), rate: 25, arrival: UInt64(number))
    }

    @Test func `who hands pictures in never waits, and the newest is shown`() async throws {
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(Self.script("time.sleep(0.5)"), events)
        defer { transcoder.stop() }
        let jpeg = try Self.jpeg()
        let time = await elapsed { for number in 0..<500 { add(number, jpeg, to: transcoder) } }
        // Twenty seconds of pictures, while one was worked on at the most.
        #expect(time < .seconds(1))
        let seen = try await events.wait("the newest picture") { events in
            Self.units(events).contains { $0.presentationTime == MediaTime(milliseconds: 499 * 40) }
        }
        #expect(Self.units(seen).count <= 3)
        #expect(transcoder.shown.superseded >= 497)
        #expect(transcoder.shown.damaged == 0)
    }

    @Test func `a decoder that crashes or hangs is replaced, told and counted, and the stream goes on`() async throws {
        for (answer, words) in [("os.kill(os.getpid(), 11)", "signal 11"), ("time.sleep(600)", "in time")] {
            // From the second child on it works: a file remembers.
            let directory = TemporaryDirectory()
            let mark = directory.path("mark")
            let program = Self.script(
                "if not os.path.exists('\(mark)'): open('\(mark)', 'w').close(); \(answer)", deadline: .seconds(3))
            let events = Watched<[MediaEvent]>([])
            let transcoder = transcoder(program, events)
            defer { transcoder.stop() }
            let jpeg = try Self.jpeg()
            let feeding = Task {
                for number in 0... where !Task.isCancelled {
                    add(number, jpeg, to: transcoder)
                    try await Task.sleep(for: .milliseconds(40))
                }
            }
            defer { feeding.cancel() }
            try await events.wait("pictures after it") { Self.units($0).count >= 5 }
            let shown = transcoder.shown
            #expect(shown.damaged >= 1)
            #expect(shown.limit?.contains("started anew once") == true, "\(shown.limit ?? "-")")
            #expect(shown.limit?.contains(words) == true, "\(shown.limit ?? "-")")
            #expect(shown.failure == nil)
        }
    }

    @Test func `the real child's pictures come out, of a new size too`() async throws {
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(Self.real, events)
        defer { transcoder.stop() }
        for (turn, size) in [(64, 48), (128, 96), (65, 49)].enumerated() {
            let jpeg = try Self.jpeg(size.0, size.1)
            for number in 0..<3 {
                let place = turn * 3 + number
                add(place, jpeg, to: transcoder)
                try await events.wait("picture \(place)") { Self.units($0).count > place }
            }
        }
        let formats = events.value.compactMap { event -> [Int]? in
            if case .videoFormat(let format) = event { [format.width, format.height] } else { nil }
        }
        #expect(formats == [[64, 48], [128, 96], [64, 48]])
        #expect(transcoder.shown.encoder?.contains("264") == true)
        // What is no JPEG costs itself.
        add(100, [1, 2, 3], to: transcoder)
        add(101, Array(try Self.jpeg().prefix(200)), to: transcoder)
        let begin = ContinuousClock.now
        while transcoder.shown.damaged + transcoder.shown.superseded < 2 {
            try #require(ContinuousClock.now - begin < .seconds(60), "damaged pictures are not counted")
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(transcoder.shown.limit?.contains("started anew") != true)
    }

    @Test func `nothing comes after stop, however long a decoder works`() async throws {
        let events = Watched<[MediaEvent]>([])
        let delivery = Delivery { event in events.change { $0.append(event) } }
        let transcoder = PictureTranscoder(
            .init(bitrate: 300_000, gopSeconds: 1), program: Self.script("time.sleep(1)"), logger: Logger(label: "test")
        ) { delivery.deliver($0) }
        add(0, try Self.jpeg(), to: transcoder)
        delivery.end()
        let time = await elapsed { transcoder.stop() }
        #expect(time < .milliseconds(500))
        delivery.deliver(.audioFormat(AudioFormat(codec: .aac, sampleRate: 8000, channels: 1, audioSpecificConfig: [])))
        #expect(events.value.isEmpty)
    }
}

struct DeliveryTests {
    @Test func `formats go on when they change, and an encoder's last pictures do not when the camera codes itself`() {
        let events = Watched<[MediaEvent]>([])
        let delivery = Delivery { event in events.change { $0.append(event) } }
        func format(_ width: Int) -> MediaEvent {
            .videoFormat(
                VideoFormat(codec: .h264, width: width, height: 48, frameRate: nil, configurationRecord: [1]))
        }
        let sound = MediaEvent.audioFormat(
            AudioFormat(codec: .aac, sampleRate: 8000, channels: 1, audioSpecificConfig: []))
        delivery.deliver(format(64), of: .encoder)
        #expect(events.value.isEmpty)
        delivery.takeVideo(of: .encoder)
        delivery.deliver(format(64), of: .encoder)
        delivery.deliver(format(64), of: .encoder)
        delivery.deliver(sound)
        delivery.takeVideo(of: .camera)
        delivery.deliver(format(32), of: .encoder)
        delivery.deliver(format(16), of: .camera)
        delivery.deliver(sound)
        #expect(events.value == [format(64), sound, format(16)])
        #expect(delivery.video?.width == 16)
        delivery.end()
        delivery.deliver(format(8), of: .camera)
        #expect(events.value.count == 3)
    }
}

struct ChildSoundTests {
    @Test func `packets that nobody decodes do not pile up, and the reason is told`() async throws {
        let program = DecoderProgram(
            executable: "/bin/sh", arguments: ["-c", "echo 'no libopus here'; exit 1"], deadline: .seconds(30))
        let sound = ChildSound(.opus, program: program, logger: Logger(label: "test")) { _ in
            Issue.record("something was heard")
        }
        defer { sound.stop() }
        for number in 0..<5000 {
            sound.add([1, 2, 3], at: MediaTime(milliseconds: Int64(number) * 20), arrival: 0)
        }
        let begin = ContinuousClock.now
        while sound.reason == nil, ContinuousClock.now - begin < .seconds(60) {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(sound.reason?.contains("no libopus here") == true, "\(sound.reason ?? "-")")
    }
}
