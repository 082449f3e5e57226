import CameraModel
import Foundation
import Glibc
import Logging
import Media
import TestSupport
import Testing
import VideoCodec

@testable import RTSPIngest

struct DecodingQueueTests {
    private func add(_ queue: inout DecodingQueue, _ number: UInt8, rate: Double? = 25) {
        queue.add([number], at: MediaTime(milliseconds: Int64(number) * 100), rate: rate, arrival: UInt64(number))
    }

    @Test func `the newest frame wins, and those before are counted`() {
        var queue = DecodingQueue()
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
        var queue = DecodingQueue()
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
        #expect(supervision.text == "the decoder was started again 12 times: signal 11")
    }

    @Test func `one that was well for a minute begins again`() {
        var supervision = DecoderSupervision()
        for _ in 0..<6 { supervision.ended("x", at: 0) }
        supervision.started(at: 100 * second)
        supervision.ended("y", at: 100 * second + DecoderSupervision.wellAfter)
        #expect(!supervision.mayStart(at: 160 * second + second / 2 - 1))
        #expect(supervision.mayStart(at: 160 * second + second / 2))
    }
}

/// With children that are scripts, and with the real one.
struct FrameTranscoderTests {
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
        let frame = try VideoFrame(width: width, height: height, pixels: pixels)
        return try JPEGEncoder().encode(frame, maxWidth: nil)
    }

    private func transcoder(
        _ program: DecoderProgram, _ events: Watched<[MediaEvent]>, failed: @escaping @Sendable () -> Void = {}
    ) -> FrameTranscoder {
        FrameTranscoder(
            .init(bitrate: 300_000, gopSeconds: 1), program: program, logger: Logger(label: "test"), failed: failed
        ) { event in events.change { $0.append(event) } }
    }

    private static func units(_ events: [MediaEvent]) -> [AccessUnit] {
        events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    }

    private static func sizes(_ events: [MediaEvent]) -> [[Int]] {
        events.compactMap { if case .videoFormat(let format) = $0 { [format.width, format.height] } else { nil } }
    }

    /// The size of a JPEG as its header says it, and nothing else of it.
    private static func header(_ width: Int, _ height: Int, bytes: Int = 0) throws -> [UInt8] {
        var jpeg = try jpeg()
        let header = try #require(jpeg.indices.dropLast(9).first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        let words = [height >> 8, height & 0xFF, width >> 8, width & 0xFF].map { UInt8($0) }
        jpeg.replaceSubrange((header + 5)..<(header + 9), with: words)
        // Where samples begin, they end.
        let scan = try #require(jpeg.indices.dropLast(2).first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA })
        return jpeg.prefix(scan + 14) + Array(repeatElement([0xFF, 0xD9], count: 1 + bytes / 2).joined())
    }

    private func damaged(_ transcoder: FrameTranscoder, _ count: UInt64) async throws {
        let begin = ContinuousClock.now
        while transcoder.shown.damaged < count {
            try #require(ContinuousClock.now - begin < .seconds(60), "damaged frames are not counted")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `sizes that change with each frame cost no encoder and no child each`() async throws {
        let directory = TemporaryDirectory()
        let log = directory.path("starts")
        let program = DecoderProgram(
            executable: "/bin/sh",
            arguments: ["-c", #"echo >>"$0"; exec "$@""#, log, Self.watchboxd], deadline: .seconds(30))
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(program, events)
        defer { transcoder.stop() }
        let jpegs = try [(64, 48), (128, 96), (96, 64)].map { try Self.jpeg($0.0, $0.1) }
        let begin = ContinuousClock.now
        for number in 0..<60 {
            add(number, jpegs[number % 3], to: transcoder)
            try await events.wait("frame \(number)") { Self.units($0).count > number }
        }
        // At once, then after 0.5, 1, 2, 4 … 30 s.
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        var most = 2
        var pause = 0.5
        var sum = 0.5
        while sum <= seconds {
            most += 1
            pause = min(pause * 2, 30)
            sum += pause
        }
        #expect(Self.sizes(events.value).count <= most, "in \(seconds) s")
        #expect(try String(contentsOfFile: log, encoding: .utf8).count <= most)
        #expect(transcoder.shown.damaged == 0)
    }

    @Test func `a header without its frame changes nothing`() async throws {
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(Self.real, events)
        defer { transcoder.stop() }
        // More than anything here decodes, as the first: it is not even planned for.
        add(0, try Self.header(8192, 4096, bytes: 66_000), to: transcoder)
        try await damaged(transcoder, 1)
        #expect(transcoder.shown.encoder == nil && transcoder.shown.failure == nil)
        add(1, try Self.jpeg(), to: transcoder)
        try await events.wait("a frame") { Self.units($0).count == 1 }
        for (number, size) in [(128, 96), (4096, 4096), (1920, 1080), (8192, 4096)].enumerated() {
            add(number + 2, try Self.header(size.0, size.1, bytes: 66_000), to: transcoder)
            try await damaged(transcoder, UInt64(number) + 2)
        }
        add(10, try Self.jpeg(), to: transcoder)
        try await events.wait("a frame behind them") { Self.units($0).count == 2 }
        #expect(Self.sizes(events.value) == [[64, 48]])
        #expect(transcoder.shown.failure == nil)
        #expect(transcoder.shown.limit?.contains("started again") != true)
    }

    @Test func `a requested key frame comes behind damaged frames`() async throws {
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(Self.real, events)
        defer { transcoder.stop() }
        let jpeg = try Self.jpeg()
        for number in 0..<3 {
            add(number, jpeg, to: transcoder)
            try await events.wait("frame \(number)") { Self.units($0).count > number }
        }
        #expect(Self.units(events.value).map(\.isKeyFrame) == [true, false, false])
        transcoder.requestKeyFrame()
        add(3, [1, 2, 3], to: transcoder)
        try await damaged(transcoder, 1)
        add(4, jpeg, to: transcoder)
        let seen = try await events.wait("the frame behind it") { Self.units($0).count > 3 }
        #expect(Self.units(seen).last?.isKeyFrame == true)
    }

    @Test func `a camera that encodes itself leaves no child behind, until it sends JPEG again`() async throws {
        let directory = TemporaryDirectory()
        let place = directory.path("process")
        let program = Self.script("open('\(place)', 'w').write(str(os.getpid()))")
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(program, events)
        defer { transcoder.stop() }
        add(0, try Self.jpeg(), to: transcoder)
        try await events.wait("a frame") { Self.units($0).count == 1 }
        let process = try #require(Int32(try String(contentsOfFile: place, encoding: .utf8)))
        transcoder.rest()
        let begin = ContinuousClock.now
        // The child goes first, and is reported afterwards.
        while kill(process, 0) == 0 || transcoder.shown.encoder != nil {
            try #require(ContinuousClock.now - begin < .seconds(600), "its child stays, or is shown")
            try await Task.sleep(for: .milliseconds(5))
        }
        add(1, try Self.jpeg(), to: transcoder)
        try await events.wait("a frame again") { Self.units($0).count == 2 }
    }

    private func add(_ number: Int, _ jpeg: [UInt8], to transcoder: FrameTranscoder) {
        transcoder.add(
            jpeg, at: MediaTime(milliseconds: Int64(number) * 40), rate: 25, arrival: UInt64(number))
    }

    @Test func `who hands frames in never waits, and the newest is shown`() async throws {
        let events = Watched<[MediaEvent]>([])
        let directory = TemporaryDirectory()
        let gate = directory.path("gate")
        let program = Self.script("while not os.path.exists('\(gate)'): time.sleep(0.01)")
        let transcoder = transcoder(program, events)
        defer { transcoder.stop() }
        let jpeg = try Self.jpeg()
        // The decoder has the first of them, at the most, until all are there.
        for number in 0..<500 { add(number, jpeg, to: transcoder) }
        try Data().write(to: URL(fileURLWithPath: gate))
        let seen = try await events.wait("the newest frame") { events in
            Self.units(events).contains { $0.presentationTime == MediaTime(milliseconds: 499 * 40) }
        }
        #expect(Self.units(seen).count <= 3)
        #expect(transcoder.shown.superseded >= 497)
        #expect(transcoder.shown.damaged == 0)
    }

    @Test func `a crashed or hung decoder is replaced, reported and counted, and the stream goes on`() async throws {
        // The deadline is for starting, too: only who hangs on purpose has a short one.
        for (answer, words, deadline) in [
            ("os.kill(os.getpid(), 11)", "signal 11", Duration.seconds(30)),
            ("time.sleep(600)", "in time", .seconds(10)),
        ] {
            // From the second child on it works: a file remembers.
            let directory = TemporaryDirectory()
            let mark = directory.path("mark")
            let program = Self.script(
                "if not os.path.exists('\(mark)'): open('\(mark)', 'w').close(); \(answer)", deadline: deadline)
            let events = Watched<[MediaEvent]>([])
            let transcoder = transcoder(program, events)
            defer { transcoder.stop() }
            let jpeg = try Self.jpeg()
            let feeding = Task {
                for number in 0... {
                    // Not as a `where`: that would look for the next number for ever.
                    try Task.checkCancellation()
                    add(number, jpeg, to: transcoder)
                    try await Task.sleep(for: .milliseconds(40))
                }
            }
            defer { feeding.cancel() }
            try await events.wait("frames after it") { Self.units($0).count >= 5 }
            let shown = transcoder.shown
            #expect(shown.damaged >= 1)
            #expect(shown.limit?.contains("started again once") == true, "\(shown.limit ?? "-")")
            #expect(shown.limit?.contains(words) == true, "\(shown.limit ?? "-")")
            #expect(shown.failure == nil)
        }
    }

    @Test func `the real child's frames come out, of a new size too`() async throws {
        let events = Watched<[MediaEvent]>([])
        let transcoder = transcoder(Self.real, events)
        defer { transcoder.stop() }
        var place = 0
        for (turn, size) in [(64, 48), (128, 96), (65, 49)].enumerated() {
            let jpeg = try Self.jpeg(size.0, size.1)
            // Until its size is changed to, frames come out in the one before.
            let begin = ContinuousClock.now
            repeat {
                try #require(ContinuousClock.now - begin < .seconds(60), "the size is never changed to")
                add(place, jpeg, to: transcoder)
                place += 1
                let count = place
                try await events.wait("frame \(count)") { Self.units($0).count >= count }
            } while Self.sizes(events.value).count <= turn
        }
        #expect(Self.sizes(events.value) == [[64, 48], [128, 96], [64, 48]])
        #expect(transcoder.shown.encoder?.contains("264") == true)
        // What is not a JPEG costs itself.
        add(place + 100, [1, 2, 3], to: transcoder)
        add(place + 101, Array(try Self.jpeg().prefix(200)), to: transcoder)
        let begin = ContinuousClock.now
        while transcoder.shown.damaged + transcoder.shown.superseded < 2 {
            try #require(ContinuousClock.now - begin < .seconds(60), "damaged frames are not counted")
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(transcoder.shown.limit?.contains("started again") != true)
    }

    @Test func `nothing comes after stop, however long a decoder works`() async throws {
        let directory = TemporaryDirectory()
        let (asked, gate) = (directory.path("asked"), directory.path("gate"))
        let events = Watched<[MediaEvent]>([])
        // Works until it is let go on, or has used up its thirty seconds.
        let work = "[time.sleep(0.01) for _ in iter(lambda: os.path.exists('\(gate)'), True)]"
        var transcoder: FrameTranscoder? = transcoder(
            Self.script("open('\(asked)', 'w').close(); \(work)"), events)
        add(0, try Self.jpeg(), to: try #require(transcoder))
        let begin = ContinuousClock.now
        while access(asked, F_OK) != 0 {
            try #require(ContinuousClock.now - begin < .seconds(60), "the decoder is not asked")
            try await Task.sleep(for: .milliseconds(5))
        }
        let hasEnded = { [weak transcoder] in transcoder == nil }
        // Waited for, the decoder would take a minute.
        let time = await elapsed { transcoder?.stop() }
        #expect(time < .seconds(15), "half of what it would wait for")
        try Data().write(to: URL(fileURLWithPath: gate))
        transcoder = nil
        // Its thread holds it.
        while !hasEnded() {
            try #require(ContinuousClock.now - begin < .seconds(60), "the thread does not end")
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(events.value.isEmpty)
    }
}

struct DeliveryTests {
    @Test func `formats go on when they change, and an encoder's last frames do not when the camera encodes itself`() {
        let events = Watched<[MediaEvent]>([])
        let delivery = Delivery { event in events.change { $0.append(event) } }
        func format(_ width: Int) -> MediaEvent {
            .videoFormat(
                VideoFormat(codec: .h264, width: width, height: 48, frameRate: nil, configurationRecord: [1]))
        }
        let audio = MediaEvent.audioFormat(
            AudioFormat(codec: .aac, sampleRate: 8000, channels: 1, audioSpecificConfig: []))
        delivery.deliver(format(64), of: .encoder)
        #expect(events.value.isEmpty)
        delivery.takeVideo(of: .encoder)
        delivery.deliver(format(64), of: .encoder)
        delivery.deliver(format(64), of: .encoder)
        delivery.deliver(audio)
        delivery.takeVideo(of: .camera)
        // Its frames are not labelled with the format of the encoder's.
        #expect(delivery.video == nil)
        delivery.deliver(format(32), of: .encoder)
        delivery.deliver(format(16), of: .camera)
        delivery.deliver(audio)
        #expect(events.value == [format(64), audio, format(16)])
        #expect(delivery.video?.width == 16)
        delivery.end()
        delivery.deliver(format(8), of: .camera)
        #expect(events.value.count == 3)
    }
}

struct ChildAudioTests {
    private func reason(of audio: ChildAudio, _ words: String) async throws {
        let begin = ContinuousClock.now
        while audio.reason?.contains(words) != true {
            try #require(ContinuousClock.now - begin < .seconds(60), "\(audio.reason ?? "-")")
            audio.add([1, 2, 3], at: .zero, arrival: 0)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `a child that finds every packet damaged is reported as no audio`() async throws {
        let script = """
            import os
            os.write(1, b'sandbox 7 1\\n')
            while True:
                request = os.read(0, 9000)
                if not request: os._exit(0)
                os.write(1, request[:4] + bytes([1, 0, 0, 0]))
            """
        let program = DecoderProgram(executable: "/usr/bin/python3", arguments: ["-c", script], deadline: .seconds(30))
        let audio = ChildAudio(.opus, program: program, logger: Logger(label: "test")) { _ in
            Issue.record("something was heard")
        }
        defer { audio.stop() }
        try await reason(of: audio, "cannot be decoded")
    }

    @Test func `how decoders fared is known to the one that comes after`() async throws {
        let program = DecoderProgram(executable: "/bin/false", arguments: [], deadline: .seconds(30))
        let first = ChildAudio(.opus, program: program, logger: Logger(label: "test")) { _ in }
        try await reason(of: first, "started again")
        first.stop()
        let failures = first.supervision.failures
        #expect(failures >= 1)
        let second = ChildAudio(
            .g726r32, program: program, supervision: first.supervision, logger: Logger(label: "test")
        ) { _ in }
        #expect(second.supervision.failures >= failures)
    }

    @Test func `late audio of an earlier decoder is not handed on`() {
        let events = Watched<[MediaEvent]>([])
        let delivery = Delivery { event in events.change { $0.append(event) } }
        func format(_ rate: Int) -> MediaEvent {
            .audioFormat(AudioFormat(codec: .aac, sampleRate: rate, channels: 1, audioSpecificConfig: []))
        }
        let first = delivery.takeAudio()
        delivery.deliver(format(48_000), audioGeneration: first)
        let second = delivery.takeAudio()
        delivery.deliver(format(16_000), audioGeneration: second)
        delivery.deliver(format(48_000), audioGeneration: first)
        #expect(events.value == [format(48_000), format(16_000)])
    }

    @Test func `packets that are not decoded do not pile up, and the reason is reported`() async throws {
        let program = DecoderProgram(
            executable: "/bin/sh", arguments: ["-c", "echo 'no libopus here'; exit 1"], deadline: .seconds(30))
        let audio = ChildAudio(.opus, program: program, logger: Logger(label: "test")) { _ in
            Issue.record("something was heard")
        }
        defer { audio.stop() }
        for number in 0..<5000 {
            audio.add([1, 2, 3], at: MediaTime(milliseconds: Int64(number) * 20), arrival: 0)
        }
        let begin = ContinuousClock.now
        while audio.reason == nil, ContinuousClock.now - begin < .seconds(60) {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(audio.reason?.contains("no libopus here") == true, "\(audio.reason ?? "-")")
    }
}
