import Foundation
import Media
import MediaFile
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread) struct PipeTests {
    @Test(.enabled(if: Tool.areInstalled, Tool.reason), arguments: [MediaWriter.Container.mpegTS, .fragmentedMP4])
    func `what goes through a pipe is what would be in a file`(container: MediaWriter.Container) throws {
        let recording = try Recording.pattern()
        let pipe = Pipe()
        let writer = MediaWriter(
            container, to: .descriptor(pipe.fileHandleForWriting.fileDescriptor), tracks: [.video, .audio])
        let path = Scratch.path("piped")
        let reader = Thread {
            let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
            try? bytes.write(to: URL(fileURLWithPath: path + ".part"))
            try? FileManager.default.moveItem(atPath: path + ".part", toPath: path)
        }
        reader.start()
        for event in recording.events { try writer.write(event) }
        let summary = try writer.finish()
        try pipe.fileHandleForWriting.close()
        while !FileManager.default.fileExists(atPath: path) { usleep(1000) }
        #expect(summary.videoUnits == 50)
        #expect(try Scratch.read(path).count == summary.bytes)
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "v") == 50)
    }

    @Test(arguments: [MediaWriter.Container.mpegTS, .fragmentedMP4])
    func `a reader that goes away ends the writing, without error or signal`(
        container: MediaWriter.Container
    ) throws {
        let recording = try Recording.pattern()
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let writer = MediaWriter(
            container, to: .descriptor(pipe.fileHandleForWriting.fileDescriptor), tracks: [.video, .audio])
        for event in recording.events { try writer.write(event) }
        let summary = try writer.finish()
        #expect(writer.isReaderGone)
        #expect(summary.bytes == 0)
    }

    @Test(.timeLimit(.minutes(15)), arguments: [MediaWriter.Container.mpegTS, .fragmentedMP4])
    func `a reader that does not read is given up on request, without error`(container: MediaWriter.Container) throws {
        let recording = try Recording.pattern(frames: 250)
        let pipe = Pipe()
        let writer = MediaWriter(
            container, to: .descriptor(pipe.fileHandleForWriting.fileDescriptor), tracks: [.video, .audio])
        let request = Thread { [abandonment = writer.abandonment] in abandonment.request() }
        request.start()
        for event in recording.events { try writer.write(event) }
        try writer.finish()
        #expect(writer.isReaderGone)
        let flags = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_GETFL)
        #expect(flags & O_NONBLOCK == 0, "the descriptor is shared with others")
    }

    @Test(.timeLimit(.minutes(15)))
    func `a reader that reads gets everything, although it may be given up`() throws {
        let recording = try Recording.pattern(frames: 100)
        let pipe = Pipe()
        let writer = MediaWriter(
            .mpegTS, to: .descriptor(pipe.fileHandleForWriting.fileDescriptor), tracks: [.video, .audio])
        writer.abandonment.request()
        let count = Counter()
        let done = DispatchSemaphore(value: 0)
        let reader = Thread { [reading = pipe.fileHandleForReading] in
            count.value.store(reading.readDataToEndOfFile().count, ordering: .relaxed)
            done.signal()
        }
        reader.start()
        for event in recording.events { try writer.write(event) }
        let summary = try writer.finish()
        try pipe.fileHandleForWriting.close()
        done.wait()
        #expect(!writer.isReaderGone)
        #expect(summary.videoUnits == 100)
        #expect(count.value.load(ordering: .relaxed) == summary.bytes)
    }

    @Test func `plain MP4 into a pipe is refused, with what to choose instead`() throws {
        let recording = try Recording.pattern(frames: 2)
        let pipe = Pipe()
        let writer = MediaWriter(
            .mp4, to: .descriptor(pipe.fileHandleForWriting.fileDescriptor), tracks: [])
        #expect(throws: MediaWriterError.needsSeeking) {
            for event in recording.events { try writer.write(event) }
        }
    }
}

private final class Counter: Sendable {
    let value = Atomic(0)
}
