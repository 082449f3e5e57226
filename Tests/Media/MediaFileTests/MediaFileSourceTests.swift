import Foundation
import Media
import MediaFile
import Synchronization
import TestSupport
import Testing
import VideoCodec

@Suite(.ownThread, .enabled(if: Tool.areInstalled, Tool.reason))
struct MediaFileSourceTests {
    /// MP4 packets are the access units themselves, so ffprobe's hashes check ours.
    @Test(arguments: ["plain.mp4", "reordered.mp4", "fragmented.mp4", "hevc.mp4", "reordered.mkv", "reordered.flv"])
    func `access units are ffprobe's packets, byte for byte, in the same order and rhythm`(name: String) throws {
        let path = try Sample.path(name)
        let recording = try Recording.file(path)
        for (kind, units) in [("v", recording.videoUnits), ("a", recording.audioUnits)] {
            let packets = try Tool.packets(path, kind)
            #expect(units.count == packets.count)
            #expect(units.map { MD5.hexadecimal($0.data) } == packets.map(\.hash))
            if kind == "v" { #expect(units.map(\.isKeyFrame) == packets.map(\.isKeyFrame)) }
            let zero = try #require(units.first).decodeTime
            let first = try #require(packets.first)
            for (unit, packet) in zip(units, packets) where !packet.dts.isNaN {
                let decode = Double((unit.decodeTime - zero).nanoseconds) / 1e9
                // Matroska has no decode times; ffprobe guesses the first ones.
                if !first.dts.isNaN { #expect(abs(decode - (packet.dts - first.dts)) < 0.0021) }
                let composition = Double((unit.presentationTime - unit.decodeTime).nanoseconds) / 1e9
                #expect(abs(composition - (packet.pts - packet.dts)) < 0.0021)
            }
        }
    }

    @Test(arguments: [
        "plain.mp4", "reordered.mp4", "reordered.mkv", "reordered.ts", "reordered.flv", "fragmented.mp4", "hevc.mp4",
        "hevc.ts",
    ])
    func `times begin at zero, grow strictly, and both tracks are in one order`(name: String) throws {
        let recording = try Recording.file(try Sample.path(name))
        #expect(recording.videoUnits.count == 50)
        #expect((93...96).contains(recording.audioUnits.count))
        #expect(recording.units.first?.decodeTime == .zero)
        let times = recording.units.map(\.decodeTime)
        #expect(times == times.sorted())
        for track in [recording.videoUnits, recording.audioUnits] {
            #expect(zip(track, track.dropFirst()).allSatisfy { $0.decodeTime < $1.decodeTime })
            #expect(track.allSatisfy { $0.presentationTime >= $0.decodeTime })
        }
        let shown = recording.videoUnits.map(\.presentationTime).sorted()
        #expect(zip(shown, shown.dropFirst()).allSatisfy { abs(($1 - $0).nanoseconds - 40_000_000) < 1_500_000 })
        #expect(recording.videoUnits.first?.isKeyFrame == true)
        #expect(recording.videoUnits.filter(\.isKeyFrame).count == 2)
    }

    @Test(arguments: ["plain.mp4", "reordered.ts", "reordered.flv", "hevc.ts", "hevc.mp4"])
    func `formats come first, once, and say what is in the file`(name: String) throws {
        let recording = try Recording.file(try Sample.path(name))
        guard case .videoFormat(let video) = recording.events[0], case .audioFormat(let audio) = recording.events[1]
        else {
            Issue.record("the stream begins with \(recording.events.prefix(2))")
            return
        }
        #expect(video.codec == (name.hasPrefix("hevc") ? .hevc : .h264))
        #expect(video.width == 160 && video.height == 90)
        #expect(abs((video.frameRate ?? 0) - 25) < 0.1)
        #expect(audio.sampleRate == 48_000 && audio.channels == 1)
        #expect(recording.videoFormats.count == 1 && recording.audioFormats.count == 1)
    }

    @Test(arguments: [
        "plain.mp4", "reordered.mp4", "reordered.mkv", "reordered.ts", "reordered.flv", "hevc.mp4", "hevc.ts",
        "raw.h264",
    ])
    func `what was passed through can be written and decoded, without a complaint`(name: String) throws {
        let recording = try Recording.file(try Sample.path(name))
        let path = try recording.write(.mp4, "passed.mp4").path
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "v") == 50)
        let stream = try recording.write(.mpegTS, "passed.ts").path
        #expect(try Tool.complaints(stream) == "")
        #expect(try Tool.frameCount(stream, "v") == 50)
    }

    @Test(arguments: ["sound.aac", "sound.m4a"])
    func `audio alone is played`(name: String) throws {
        let recording = try Recording.file(try Sample.path(name))
        #expect(recording.videoUnits.isEmpty && recording.videoFormats.isEmpty)
        #expect((93...96).contains(recording.audioUnits.count))
        let steps = zip(recording.audioUnits.dropFirst(), recording.audioUnits).map { $0.decodeTime - $1.decodeTime }
        #expect(steps.allSatisfy { abs($0.nanoseconds - 21_333_333) < 1000 })
        let path = try recording.write(.mp4, "sound.mp4").path
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "a") == recording.audioUnits.count)
    }

    @Test(arguments: ["plain.mp4", "reordered.mp4", "reordered.ts", "reordered.flv"])
    func `a loop goes on without a gap or a step back, and repeats no format`(name: String) throws {
        let path = try Sample.path(name)
        let once = try Recording.file(path)
        let recording = try Recording.file(path, isLooped: true, durationLimit: 7)
        #expect(recording.videoFormats.count == 1 && recording.audioFormats.count == 1)
        let last = try #require(recording.units.last)
        #expect(last.decodeTime < MediaTime(milliseconds: 7000) && last.decodeTime > MediaTime(milliseconds: 6900))
        for (track, original) in [
            (recording.videoUnits, once.videoUnits), (recording.audioUnits, once.audioUnits),
        ] {
            let steps = zip(track.dropFirst(), track).map { $0.decodeTime - $1.decodeTime }
            #expect(steps.allSatisfy { $0 > .zero && $0 < MediaTime(milliseconds: 120) })
            for (index, unit) in track.enumerated() {
                #expect(unit.data == original[index % original.count].data)
            }
            #expect(track.count > original.count * 3)
        }
        // Frames are shown in an even rhythm over the seams, too, but for the length of the longer track.
        let shown = recording.videoUnits.map(\.presentationTime).sorted()
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < MediaTime(milliseconds: 120) })
    }

    @Test(arguments: ["plain.mp4", "reordered.flv"])
    func `a duration limit ends the stream`(name: String) throws {
        let recording = try Recording.file(try Sample.path(name), durationLimit: 1)
        #expect((24...26).contains(recording.videoUnits.count))
        #expect(recording.units.allSatisfy { $0.decodeTime < MediaTime(milliseconds: 1000) })
    }

    @Test(arguments: [-1, 0, .nan, -.infinity] as [Double])
    func `a limit of nothing gives nothing`(limit: Double) throws {
        let recording = try Recording.file(try Sample.path("plain.mp4"), durationLimit: limit)
        // What cannot be compared is not a limit.
        #expect(recording.units.isEmpty == (limit <= 0))
    }

    @Test(.timeLimit(.minutes(15)), arguments: ["plain.mp4", "reordered.flv"])
    func `in real time a unit comes when it is due, or with one that is, at most 24 ms before`(name: String) throws {
        let recording = Recording()
        let source = MediaFileSource(
            MediaFileConfiguration(path: try Sample.path(name), pace: .realTime, durationLimit: 0.5))
        let begin = SourceClock.now
        try source.run { recording.append($0) }
        let first = try #require(recording.units.first?.decodeTime.nanoseconds)
        for unit in recording.units {
            let instant = try #require(unit.captureInstant)
            // How late it is depends on the machine.
            #expect(Int64(instant - begin) >= unit.decodeTime.nanoseconds - max(first, 0) - 24_000_000)
        }
    }

    @Test(.timeLimit(.minutes(15)), arguments: ["plain.mp4", "reordered.flv"])
    func `stop ends an endless loop`(name: String) async throws {
        let source = MediaFileSource(
            MediaFileConfiguration(path: try Sample.path(name), pace: .realTime, isLooped: true))
        let started = AsyncStream<Void>.makeStream()
        let ended = Mutex<ContinuousClock.Instant?>(nil)
        let thread = Thread {
            try? source.run { _ in started.continuation.yield() }
            ended.withLock { $0 = ContinuousClock.now }
        }
        thread.start()
        for await _ in started.stream { break }
        let stopped = ContinuousClock.now
        source.stop()
        while ended.withLock({ $0 }) == nil { await Task.yield() }
        let end = try #require(ended.withLock { $0 })
        // 200 ms are what a source may take; `SourceClock` looks every 50 ms.
        print("stop of a file's endless loop: \(end - stopped)")
        #expect(end - stopped < .seconds(30))
    }

    @Test func `a source that was stopped before delivers nothing`() throws {
        let recording = Recording()
        let source = MediaFileSource(MediaFileConfiguration(path: try Sample.path("plain.mp4"), isLooped: true))
        source.stop()
        try source.run { recording.append($0) }
        #expect(recording.events.isEmpty)
    }

    @Test func `data streams and cover images are ignored`() throws {
        let cover = Scratch.path("cover.png")
        try Tool.make(["-f", "lavfi", "-i", "color=red:size=32x32", "-frames:v", "1"], cover)
        let path = Scratch.path("extras.mp4")
        try Tool.make(
            [
                "-i", try Sample.path("plain.mp4"), "-i", cover, "-map", "0", "-map", "1", "-c", "copy", "-c:v:1",
                "png", "-disposition:v:1", "attached_pic", "-timecode", "01:00:00:00", "-write_tmcd", "1",
            ], path)
        let recording = try Recording.file(path)
        #expect(recording.videoUnits.count == 50)
        #expect(recording.videoFormats.map(\.codec) == [.h264])
    }
}

/// MD5 by ffmpeg's side is what ffprobe prints; Foundation has none on Linux, so here is a small one (RFC 1321).
enum MD5 {
    static func hexadecimal(_ message: [UInt8]) -> String {
        let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
        let constants = (0..<64).map { UInt32(abs(sin(Double($0 + 1))) * 4_294_967_296) }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        let length = UInt64(message.count) * 8
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(shift))) }
        var words = [UInt32](repeating: 0, count: 16)
        for block in stride(from: 0, to: bytes.count, by: 64) {
            for word in 0..<16 {
                let at = block + word * 4
                words[word] =
                    UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16
                    | UInt32(bytes[at + 3]) << 24
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let mix: UInt32
                let word: Int
                switch step / 16 {
                case 0: (mix, word) = ((b & c) | (~b & d), step)
                case 1: (mix, word) = ((d & b) | (~d & c), (5 * step + 1) % 16)
                case 2: (mix, word) = (b ^ c ^ d, (3 * step + 5) % 16)
                default: (mix, word) = (c ^ (b | ~d), 7 * step % 16)
                }
                let sum = a &+ mix &+ constants[step] &+ words[word]
                let shift = shifts[step / 16 * 4 + step % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
        }
        return state.map { word in
            (0..<4).map { index in
                let byte = String(UInt8(truncatingIfNeeded: word >> UInt32(8 * index)), radix: 16)
                return byte.count == 1 ? "0" + byte : byte
            }.joined()
        }.joined()
    }
}
