import Foundation
import Glibc
import Media
import MediaFile
import TestSupport
import Testing

@Suite(.ownThread) struct MediaWriterTests {
    @Test(arguments: [MediaWriter.Container.mp4, .fragmentedMP4])
    func `MP4 keeps every access unit byte for byte, with its time`(container: MediaWriter.Container) throws {
        let recording = try Recording.pattern()
        let (path, summary) = try recording.write(container, "copy.mp4")
        #expect(summary.videoUnits == 50)
        #expect(summary.audioUnits == recording.audioUnits.count)
        #expect(summary.ignoredUnits == 0 && summary.adjustedUnits == 0)
        let read = try Recording.file(path)
        #expect(read.videoUnits.map(\.data) == recording.videoUnits.map(\.data))
        #expect(read.audioUnits.map(\.data) == recording.audioUnits.map(\.data))
        #expect(read.videoUnits.map(\.isKeyFrame) == recording.videoUnits.map(\.isKeyFrame))
        #expect(read.videoFormats == recording.videoFormats)
        #expect(read.audioFormats == recording.audioFormats)
        let shifts = zip(read.units, recording.units).map { $0.decodeTime - $1.decodeTime }
        #expect(shifts.allSatisfy { abs($0.nanoseconds) < 100_000 })
    }

    /// The file ends somewhere, and another writer goes on with what the first one was given.
    @Test(arguments: ["libx264", "libx265"]) func `what is there is passed over, and the file becomes the same`(
        encoder: String
    ) throws {
        let recording = try Recording.pattern(encoder: encoder)
        let places = [20, 70, recording.events.count]
        func write(_ path: String, upTo count: Int, repeating repeated: Int, _ sizes: inout [Int]) throws -> MediaWriter
        {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            let writer = MediaWriter(.mp4, to: .descriptor(descriptor), tracks: [.video, .audio])
            #expect(writer.headerSize == 0)
            writer.isRepeating = repeated > 0
            for (index, event) in recording.events.prefix(count).enumerated() {
                if case .accessUnit(var unit) = event, index < repeated {
                    // Only their sizes are looked at.
                    unit.data = [UInt8](repeating: 0, count: unit.data.count)
                    try writer.write(.accessUnit(unit))
                } else {
                    try writer.write(event)
                }
                guard places.contains(index + 1) else { continue }
                sizes.append(try #require(try writer.settle()))
                var status = stat()
                #expect(fstat(descriptor, &status) == 0 && Int(status.st_size) >= sizes.last ?? 0)
                if index + 1 == repeated { writer.isRepeating = false }
            }
            return writer
        }
        let whole = Scratch.path("whole.mp4")
        var sizes: [Int] = []
        let summary = try write(whole, upTo: .max, repeating: 0, &sizes).finish()
        #expect(sizes == sizes.sorted() && sizes.count == 3)
        for (place, size) in zip(places, sizes) {
            let path = Scratch.path("again.mp4")
            var first: [Int] = []
            _ = try write(path, upTo: place + 7, repeating: 0, &first)
            #expect(truncate(path, size) == 0)
            // What is at the beginning is written over at the end, which may have been begun already.
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.write(contentsOf: Data(repeating: 9, count: 20))
            try file.close()
            var second: [Int] = []
            let writer = try write(path, upTo: .max, repeating: place, &second)
            #expect(second == sizes && writer.headerSize > 0 && writer.headerSize < 100)
            #expect(try writer.finish().videoUnits == summary.videoUnits)
            #expect(FileManager.default.contentsEqual(atPath: path, andPath: whole))
        }
    }

    @Test(
        .enabled(if: Tool.areInstalled, Tool.reason),
        arguments: [
            (MediaWriter.Container.mp4, "a.mp4"), (.fragmentedMP4, "a.mp4"), (.mpegTS, "a.ts"),
        ])
    func `ffmpeg decodes what we write, without a complaint and to the last frame`(
        container: MediaWriter.Container, name: String
    ) throws {
        let recording = try Recording.pattern()
        let path = try recording.write(container, name).path
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "v") == 50)
        #expect(try Tool.frameCount(path, "a") == recording.audioUnits.count)
    }

    @Test(.enabled(if: Tool.areInstalled, Tool.reason), arguments: [MediaWriter.Container.mp4, .mpegTS])
    func `one track alone makes a file`(container: MediaWriter.Container) throws {
        let recording = try Recording.pattern()
        for isVideo in [true, false] {
            let alone = Recording()
            for event in recording.events {
                switch event {
                case .videoFormat: if isVideo { alone.append(event) }
                case .audioFormat: if !isVideo { alone.append(event) }
                case .accessUnit(let unit): if unit.track.isVideo == isVideo { alone.append(event) }
                }
            }
            let path = try alone.write(container, container == .mp4 ? "one.mp4" : "one.ts").path
            #expect(try Tool.complaints(path) == "")
            #expect(try Tool.frameCount(path, "v") == (isVideo ? 50 : 0))
            #expect(try Tool.frameCount(path, "a") == (isVideo ? 0 : recording.audioUnits.count))
        }
    }

    @Test(.enabled(if: Tool.areInstalled, Tool.reason), arguments: ["reordered.mp4", "hevc.mp4"])
    func `frames out of order keep both of their times`(name: String) throws {
        let source = try Recording.file(try Sample.path(name))
        let path = try source.write(.mp4, "reordered.mp4").path
        let copy = try Recording.file(path)
        #expect(copy.videoUnits.map(\.data) == source.videoUnits.map(\.data))
        for (copied, original) in zip(copy.videoUnits, source.videoUnits) {
            let composition = copied.presentationTime - copied.decodeTime
            let expected = original.presentationTime - original.decodeTime
            #expect(abs(composition.nanoseconds - expected.nanoseconds) < 100_000)
        }
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "v") == source.videoUnits.count)
    }

    @Test func `a transport stream gives the same frames back`() throws {
        let recording = try Recording.pattern()
        let path = try recording.write(.mpegTS, "copy.ts").path
        let read = try Recording.file(path)
        func slices(_ units: [AccessUnit]) throws -> [[UInt8]] {
            try units.map { unit in
                var reader = LengthPrefixedUnits(unit.data[...])
                var slices: [UInt8] = []
                while let nal = try reader.next() {
                    if VideoCodec.h264.kind(ofNALUnit: nal).isPicture { slices += nal }
                }
                return slices
            }
        }
        #expect(try slices(read.videoUnits) == slices(recording.videoUnits))
        #expect(read.audioUnits.map(\.data) == recording.audioUnits.map(\.data))
        #expect(read.videoFormats.first?.configurationRecord == recording.videoFormats.first?.configurationRecord)
        #expect(read.audioFormats.first?.channels == 2)
    }

    @Test func `a recording that begins in the middle of a stream begins at zero`() throws {
        let recording = try Recording.pattern(frames: 10)
        let later = Recording()
        for event in recording.events {
            guard case .accessUnit(var unit) = event else {
                later.append(event)
                continue
            }
            unit.decodeTime = unit.decodeTime + MediaTime(milliseconds: 90_000_000)
            unit.presentationTime = unit.presentationTime + MediaTime(milliseconds: 90_000_000)
            later.append(.accessUnit(unit))
        }
        let path = try later.write(.mp4, "later.mp4").path
        let read = try Recording.file(path)
        #expect(read.videoUnits.count == 10)
        #expect(try Scratch.read(path).count < 1_000_000)
        if Tool.areInstalled {
            let first = try #require(Tool.packets(path, "v").first)
            #expect(abs(first.pts) < 0.1)
        }
    }

    @Test func `times that stand still or run back are made to grow, and counted`() throws {
        let recording = try Recording.pattern(frames: 20, hasAudio: false)
        let broken = Recording()
        var number = 0
        for event in recording.events {
            guard case .accessUnit(var unit) = event else {
                broken.append(event)
                continue
            }
            number += 1
            if number > 10 { unit.decodeTime = MediaTime(milliseconds: 100) }
            if number == 20 { unit.presentationTime = MediaTime(nanoseconds: .min) }
            broken.append(.accessUnit(unit))
        }
        let (path, summary) = try broken.write(.mp4, "broken.mp4")
        #expect(summary.videoUnits == 20)
        #expect(summary.adjustedUnits >= 10)
        #expect(try Recording.file(path).videoUnits.count == 20)
    }

    @Test func `units wait for the format of a track that is expected`() throws {
        let recording = try Recording.pattern(frames: 20)
        let path = Scratch.path("expected.mp4")
        let writer = MediaWriter(.mp4, to: .file(path: path), tracks: [.video, .audio])
        let audioFormat = try #require(recording.audioFormats.first)
        try writer.write(.videoFormat(try #require(recording.videoFormats.first)))
        for (index, unit) in recording.units.enumerated() {
            if index == 15 { try writer.write(.audioFormat(audioFormat)) }
            try writer.write(.accessUnit(unit))
        }
        let summary = try writer.finish()
        #expect(summary.videoUnits == 20 && summary.audioUnits == recording.audioUnits.count)
        #expect(summary.ignoredUnits == 0)
    }

    @Test func `a track that never comes is not waited for longer than two seconds`() throws {
        let recording = try Recording.pattern(frames: 75, hasAudio: false)
        let path = Scratch.path("alone.mp4")
        let writer = MediaWriter(.mp4, to: .file(path: path), tracks: [.video, .audio])
        for event in recording.events { try writer.write(event) }
        #expect(writer.summary.videoUnits == 75)
        #expect(try writer.finish().videoUnits == 75)
    }

    @Test func `a track that was not expected is ignored, and counted`() throws {
        let recording = try Recording.pattern(frames: 10)
        let writer = MediaWriter(.mp4, to: .file(path: Scratch.path("ignored.mp4")), tracks: .video)
        try writer.write(.videoFormat(try #require(recording.videoFormats.first)))
        for unit in recording.units { try writer.write(.accessUnit(unit)) }
        let summary = try writer.finish()
        #expect(summary.videoUnits == 10)
        #expect(summary.ignoredUnits == recording.audioUnits.count)
    }

    @Test(.enabled(if: Tool.areInstalled, Tool.reason), arguments: [MediaWriter.Container.mp4, .mpegTS])
    func `a change of size within the stream can be decoded`(container: MediaWriter.Container) throws {
        let before = try Recording.pattern(frames: 25, hasAudio: false)
        let after = try Recording.pattern(frames: 25, width: 160, height: 90, hasAudio: false)
        let path = Scratch.path(container == .mp4 ? "change.mp4" : "change.ts")
        let writer = MediaWriter(container, to: .file(path: path), tracks: .video)
        for event in before.events { try writer.write(event) }
        for event in after.events {
            guard case .accessUnit(var unit) = event else {
                try writer.write(event)
                continue
            }
            unit.decodeTime = unit.decodeTime + MediaTime(milliseconds: 1000)
            unit.presentationTime = unit.presentationTime + MediaTime(milliseconds: 1000)
            try writer.write(.accessUnit(unit))
        }
        try writer.finish()
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "v") == 50)
    }

    @Test func `a change of codec or audio needs a new file`() throws {
        let recording = try Recording.pattern(frames: 5)
        let writer = MediaWriter(.mp4, to: .file(path: Scratch.path("codec.mp4")), tracks: [])
        for event in recording.events { try writer.write(event) }
        var video = try #require(recording.videoFormats.first)
        video.codec = .hevc
        #expect(throws: MediaWriterError.formatChanged("the video codec")) { try writer.write(.videoFormat(video)) }
        // It would go in front of each key frame.
        video = try #require(recording.videoFormats.first)
        video.configurationRecord += [UInt8](repeating: 0, count: 1 << 20)
        let count = video.configurationRecord.count
        #expect(throws: MediaWriterError.malformedFormat("\(count) bytes of configuration")) {
            try writer.write(.videoFormat(video))
        }
        var audio = try #require(recording.audioFormats.first)
        audio.audioSpecificConfig = [0x11, 0x88]
        #expect(throws: MediaWriterError.formatChanged("the audio")) { try writer.write(.audioFormat(audio)) }
        try writer.finish()
    }

    @Test func `a frame of HE-AAC lasts 2048 samples of what is heard, the last one too`() throws {
        // 22.05 kHz, heard at 44.1 kHz.
        let format = try AudioFormat(audioSpecificConfig: [0x2B, 0x92, 0x08, 0x00])
        let path = Scratch.path("high-efficiency.mp4")
        let writer = MediaWriter(.mp4, to: .file(path: path), tracks: [])
        try writer.write(.audioFormat(format))
        for number in 0..<3 as Range<Int64> {
            let time = MediaTime(ticks: number * 2048, timescale: 44_100)
            try writer.write(
                .accessUnit(
                    AccessUnit(
                        track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time,
                        data: [1, 2, 3])))
        }
        try writer.finish()
        // The track's header: a version, two dates, the samples of a second, and the samples in all.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let name = try #require(bytes.firstRange(of: Array("mdhd".utf8)))
        let numbers = bytes[name.upperBound...].dropFirst(12).prefix(8)
        #expect(Array(numbers) == [0, 0, 0xAC, 0x44, 0, 0, 0x18, 0])
    }

    @Test func `a film is its owner's only`() throws {
        let path = try Recording.pattern(frames: 2, hasAudio: false).write(.mp4, "mine.mp4").path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `without a unit no file is made`() throws {
        let path = Scratch.path("none.mp4")
        let writer = MediaWriter(.mp4, to: .file(path: path), tracks: [])
        try writer.write(.videoFormat(try #require(try Recording.pattern(frames: 1).videoFormats.first)))
        #expect(try writer.finish() == MediaWriter.Summary())
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a unit without any format is ignored, and counted`() throws {
        let recording = try Recording.pattern(frames: 3, hasAudio: false)
        let writer = MediaWriter(.mp4, to: .file(path: Scratch.path("formless.mp4")), tracks: [])
        for unit in recording.units { try writer.write(.accessUnit(unit)) }
        #expect(try writer.finish().ignoredUnits == 3)
    }

    @Test func `a file that cannot be created is named with the system's reason`() throws {
        let recording = try Recording.pattern(frames: 2, hasAudio: false)
        let path = "/no/such/folder/a.mp4"
        #expect(throws: MediaWriterError.cannotCreate(path: path, reason: "No such file or directory")) {
            let writer = MediaWriter(.mp4, to: .file(path: path), tracks: [])
            for event in recording.events { try writer.write(event) }
        }
    }

    @Test func `a full disk is an error`() throws {
        let recording = try Recording.pattern(frames: 50)
        #expect(throws: MediaWriterError.cannotWrite(reason: "No space left on device")) {
            let writer = MediaWriter(.mpegTS, to: .file(path: "/dev/full"), tracks: [])
            for event in recording.events { try writer.write(event) }
            try writer.finish()
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `configurations and units of noise never do more than throw`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func noise(_ limit: Int) -> [UInt8] {
            (0..<Int.random(in: 0...limit, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
        }
        for container in [MediaWriter.Container.mp4, .fragmentedMP4, .mpegTS] {
            let writer = MediaWriter(container, to: .file(path: Scratch.path("noise")), tracks: [])
            do throws(MediaWriterError) {
                try writer.write(
                    .videoFormat(
                        VideoFormat(
                            codec: seed % 2 == 0 ? .h264 : .hevc, width: .random(in: -5...5000, using: &generator),
                            height: 90, frameRate: .nan, configurationRecord: noise(60))))
                try writer.write(
                    .audioFormat(
                        AudioFormat(codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: noise(8))))
                for number in 0..<40 {
                    try writer.write(
                        .accessUnit(
                            AccessUnit(
                                track: number % 2 == 0 ? .video(.h264) : .audio(.aac),
                                isKeyFrame: .random(using: &generator),
                                presentationTime: MediaTime(nanoseconds: .random(in: .min ... .max, using: &generator)),
                                decodeTime: MediaTime(nanoseconds: .random(in: .min ... .max, using: &generator)),
                                data: noise(500))))
                }
                try writer.finish()
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
