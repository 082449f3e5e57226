import ChannelTestSupport
import Foundation
import Media
import Testing

@testable import Player

@Suite(.timeLimit(.minutes(15)))
struct OutputTests {
    /// Takes the first event and holds the thread up until it may go on.
    private final class SlowSink: MediaSink {
        let log = EventLog<MediaEvent>()
        let gate = DispatchSemaphore(value: 0)
        private var isFirst = true

        func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) {
            if isFirst { gate.wait() }
            isFirst = false
            log.add(event)
        }

        func finish() throws(ViewerError) {}
    }

    private static func unit(
        _ track: AccessUnit.Track, key isKeyFrame: Bool = true, at milliseconds: Int64 = 0, _ data: [UInt8]
    ) -> MediaEvent {
        let time = MediaTime(milliseconds: milliseconds)
        return .accessUnit(
            AccessUnit(track: track, isKeyFrame: isKeyFrame, presentationTime: time, decodeTime: time, data: data))
    }

    private static func temporary(_ name: String) -> String {
        NSTemporaryDirectory() + UUID().uuidString + name
    }

    @Test func `what waits is bounded in number too, and a format that found no room comes before the next unit`()
        async throws
    {
        let sink = SlowSink()
        let (log, gate) = (sink.log, sink.gate)
        let output = OutputThread(sinks: [sink], recorder: nil, limit: 4 * OutputThread.overhead, ended: { _ in })
        for _ in 0..<10 { output.deliver(Self.unit(.audio(.aac), []), nil) }
        #expect(output.droppedUnits == 6)
        output.deliver(.audioFormat(SealedStream.audioFormat), nil)
        output.deliver(.videoFormat(SealedStream.videoFormat), nil)
        gate.signal()
        for _ in 0..<4 { try await log.next { _ in true } }
        let frame = Self.unit(.video(.h264), [0x65])
        output.deliver(frame, nil)
        try await log.next { $0 == frame }
        #expect(
            log.all.suffix(3) == [
                .videoFormat(SealedStream.videoFormat), .audioFormat(SealedStream.audioFormat), frame,
            ])
        try await output.finish()
    }

    @Test func `messages for the recording are bounded in number too`() async throws {
        let sink = SlowSink()
        let gate = sink.gate
        let path = Self.temporary("bounded.flv")
        let output = OutputThread(
            sinks: [sink], recorder: try RelayRecorder(path: path), limit: 4 * OutputThread.overhead, ended: { _ in })
        output.deliver(Self.unit(.audio(.aac), []), nil)
        for _ in 0..<10 { output.record(type: 8, timestamp: 0, body: []) }
        #expect(output.droppedUnits == 7)
        gate.signal()
        try await output.finish()
    }

    @Test func `other audio within a film costs the audio, and is counted`() throws {
        let sink = MovieSink(.file(path: Self.temporary("sound.mp4")))
        var other = SealedStream.audioFormat
        other.audioSpecificConfig = [0x11, 0x88]
        try sink.consume(.videoFormat(SealedStream.videoFormat), nil)
        for (step, format) in [SealedStream.audioFormat, other, SealedStream.audioFormat].enumerated() {
            let time = Int64(step) * 1000
            try sink.consume(.audioFormat(format), nil)
            try sink.consume(Self.unit(.video(.h264), at: time, SealedStream.frame(UInt32(time))), nil)
            try sink.consume(Self.unit(.audio(.aac), at: time, SealedStream.audio(UInt32(time))), nil)
        }
        #expect(sink.ignoredUnits == 1)
        try sink.finish()
    }

    @Test func `another video codec within a film ends it with a message of its own`() throws {
        let sink = MovieSink(.file(path: Self.temporary("codec.mp4")))
        var other = SealedStream.videoFormat
        other.codec = .hevc
        try sink.consume(.videoFormat(SealedStream.videoFormat), nil)
        try sink.consume(.audioFormat(SealedStream.audioFormat), nil)
        try sink.consume(Self.unit(.video(.h264), SealedStream.frame(0)), nil)
        let error = #expect(throws: ViewerError.self) { try sink.consume(.videoFormat(other), nil) }
        guard case .formatChanged(let why)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(why.contains("the video codec changed"))
    }

    @Test func `a frame that needs others is not a snapshot`() throws {
        let path = Self.temporary("needs-others.png")
        let sink = SnapshotSink(path: path, takesFirst: true)
        try sink.consume(.videoFormat(SealedStream.videoFormat), nil)
        try sink.consume(Self.unit(.video(.h264), key: false, SealedStream.frame(0)), nil)
        try sink.consume(Self.unit(.audio(.aac), SealedStream.audio(0)), nil)
        #expect(!sink.isSatisfied)
        #expect(throws: ViewerError.output("no video came that \(path) could show")) { try sink.finish() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a pipe that is not read is given up on request`() throws {
        let path = Self.temporary("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        // Open for reading as well, so that opening for writing does not wait.
        let reader = open(path, O_RDWR)
        defer { close(reader) }
        let file = try AppendFile(path: path)
        file.abandon()
        try file.write([UInt8](repeating: 0, count: 1 << 20))
    }
}
