import FLV
import Media
import NanoTDF
import Testing

@testable import CameraPipeline

private let second: UInt64 = 1_000_000_000
private let noon: Int64 = 1_800_000_000_000

/// Frames that are made of units, so that a note has a place in them.
private func frame(_ milliseconds: Int64, key: Bool = false, captured: UInt64? = nil) -> AccessUnit {
    var unit = videoUnit(milliseconds, key: key)
    unit.data = [0, 0, 0, 5, key ? 0x65 : 0x41] + withUnsafeBytes(of: UInt32(milliseconds).bigEndian) { Array($0) }
    unit.captureInstant = captured
    return unit
}

/// A sealer whose clock shows noon at the instant 0.
private struct Stage {
    let crypto = MarkingCrypto()
    var sealer: StreamSealer
    var auditor = StreamAuditor.marking()
    /// What was given, in order, as far as it went out.
    var given: [AccessUnit] = []

    init(_ options: StreamSealer.Options = .init(), formats: [MediaEvent]? = nil) {
        sealer = StreamSealer(options: options, clock: { .system(noon + Int64($0 / 1_000_000)) })
        for _ in 0..<3 { sealer.offer(crypto.collection()) }
        begin(formats)
    }

    mutating func begin(_ formats: [MediaEvent]? = nil) {
        sealer.begin()
        for format in formats ?? [.videoFormat(videoFormat), .audioFormat(audioFormat)] {
            _ = sealer.seal(format, at: 0)
        }
    }

    /// - Returns: the note that went out with the unit.
    @discardableResult
    mutating func seal(_ unit: AccessUnit, at now: UInt64) throws -> StreamNote? {
        guard case .send(let sealed) = sealer.seal(.accessUnit(unit), at: now) else {
            Issue.record("not sent")
            return nil
        }
        #expect(sealed.byteCount == unit.data.count)
        return try receive(unit)
    }

    private mutating func receive(_ unit: AccessUnit) throws -> StreamNote? {
        for message in sealer.entry { auditor.receive(message) }
        var data = try #require(auditor.units.last).data
        let note =
            unit.track.isVideo
            ? StreamNote.removed(fromVideo: &data, codec: .h264) : StreamNote.removed(fromAudio: &data)
        #expect(data == unit.data, "the viewer gets what the camera gave")
        return note
    }

    /// The item that ends the stream.
    mutating func finish() -> SealedMessage? {
        guard sealer.finish() else { return nil }
        for message in sealer.entry { auditor.receive(message) }
        #expect(sealer.entry.count == 1)
        return sealer.entry.last
    }

    var metadata: StreamMetadata? {
        sealer.entry.first { $0.content == .metadata }.flatMap { try? StreamMetadata.parse($0.payload[...]) }
    }
}

@Suite struct StreamNotesTests {
    @Test func `each key frame has a note, and of the others one a second`() throws {
        var stage = Stage()
        var noted: [Int64] = []
        for number in 0..<100 as Range<Int64> {
            let unit = frame(number * 40, key: number % 60 == 0)
            if try stage.seal(unit, at: UInt64(number * 40) * 1_000_000) != nil { noted.append(number * 40) }
            #expect(try stage.seal(audioUnit(number * 40), at: UInt64(number * 40) * 1_000_000) == nil)
        }
        #expect(noted == [0, 920, 1840, 2400, 3320])
        #expect(stage.auditor.faults == [])
        #expect(stage.crypto.repeated == 0)
    }

    @Test(arguments: [100, 200, 500, 1000, 3000] as [Int64])
    func `at any rate a second never passes without a note, as long as there are frames`(step: Int64) throws {
        var stage = Stage()
        var last: Int64 = 0
        for number in 0..<60 as Range<Int64> {
            let note = try stage.seal(frame(number * step, key: number == 0), at: UInt64(number * step) * 1_000_000)
            if note != nil { last = number * step }
            #expect(number * step - last < 1000)
        }
    }

    @Test func `the time is that of the capture`() throws {
        var stage = Stage()
        let late = try stage.seal(frame(0, key: true, captured: 4 * second), at: 5 * second)
        #expect(late?.time == .system(noon + 4000))
        #expect(try stage.seal(frame(40, key: true), at: 6 * second)?.time == .system(noon + 6000))
        // A source whose clock runs ahead does not make frames younger than they are.
        let early = try stage.seal(frame(80, key: true, captured: 99 * second), at: 7 * second)
        #expect(early?.time == .system(noon + 7000))
    }

    @Test func `audio carries the notes where there are no frames, and where they stop`() throws {
        var alone = Stage(formats: [.audioFormat(audioFormat)])
        var noted: [Int64] = []
        for time in stride(from: Int64(0), to: 5000, by: 20) {
            if try alone.seal(audioUnit(time), at: UInt64(time) * 1_000_000) != nil { noted.append(time) }
        }
        #expect(noted.count == 4)
        #expect(zip(noted, noted.dropFirst()).allSatisfy { $1 - $0 < 1000 })

        var stopped = Stage()
        #expect(try stopped.seal(frame(0, key: true), at: 0) != nil)
        #expect(try stopped.seal(audioUnit(1990), at: 2 * second - 1) == nil)
        #expect(try stopped.seal(audioUnit(2000), at: 2 * second) != nil)
        #expect(try stopped.seal(audioUnit(2020), at: 2 * second + 1) == nil)
    }

    @Test func `the first note of a collection names the one before, once`() throws {
        var stage = Stage()
        let hash = { (stage: Stage) in stage.sealer.currentCollection?.sealer.headerHash ?? [] }
        #expect(try stage.seal(frame(0, key: true), at: 0)?.predecessor == nil)
        let first = hash(stage)
        for number in 1...4 as ClosedRange<Int64> { try stage.seal(audioUnit(number), at: 1) }
        let rotated = try stage.seal(frame(40, key: true), at: 60 * second)
        #expect(rotated?.predecessor == .init(headerHash: first, lastCounter: 5))
        // Each key frame says it again: no single frame that a relay keeps back hides the end.
        #expect(try stage.seal(frame(80, key: true), at: 61 * second)?.predecessor == rotated?.predecessor)
        // Also over a new connection of the same process, its end included.
        let second = hash(stage)
        #expect(stage.finish() != nil)
        stage.sealer.end()
        stage.begin()
        stage.auditor = .marking()
        let again = try stage.seal(frame(120, key: true), at: 62 * 1_000_000_000)
        #expect(again?.predecessor == .init(headerHash: second, lastCounter: 3))
    }

    @Test func `when sealing fails the note is not used up`() throws {
        var stage = Stage()
        try stage.seal(frame(0, key: true), at: 0)
        stage.crypto.fail(true)
        #expect(stage.sealer.seal(.accessUnit(frame(40, key: true)), at: 60 * second) != .noted)
        stage.crypto.fail(false)
        #expect(try stage.seal(frame(80, key: true), at: 60 * second)?.predecessor?.lastCounter == 1)
    }

    @Test func `a frame that has no room for a note goes without, one that cannot take one too`() throws {
        var stage = Stage(.init(messageLimit: 200))
        var large = frame(0, key: true)
        large.data = [0, 0, 0, 160, 0x65] + [UInt8](repeating: 1, count: 159)
        #expect(try stage.seal(large, at: 0) == nil)
        #expect(try stage.seal(frame(40), at: 0) != nil)
        var strange = frame(80)
        strange.data = [1, 2, 3]
        #expect(try stage.seal(strange, at: 10 * second) == nil)
        #expect(try stage.seal(frame(120), at: 10 * second) != nil)
    }

    @Test func `a source that has notes of its own keeps them`() throws {
        var stage = Stage()
        try stage.seal(frame(0, key: true), at: 0)
        var unit = frame(40)
        unit.data = try #require(StreamNote(time: .system(1)).inserted(intoVideo: unit.data, codec: .h264))
        #expect(try stage.seal(unit, at: 0)?.time == .system(noon))
        var audio = audioUnit(60)
        audio.data = StreamNote(time: .system(1)).inserted(intoAudio: audio.data)
        #expect(try stage.seal(audio, at: 0)?.time == .system(noon))
    }

    // MARK: - The end

    @Test func `the end of a stream is an empty item, under an IV of its own, that is not a key frame`() throws {
        var stage = Stage()
        try stage.seal(frame(0, key: true), at: 0)
        try stage.seal(frame(40), at: 0)
        let end = stage.finish()
        let message = try #require(end)
        #expect(message.prefix == [0x27, 1, 0, 0, 0])
        #expect(message.payload.count == 22)
        #expect(message.timestamp == 40)
        #expect(stage.auditor.units.last?.data == [])
        #expect(stage.auditor.lastCounter == 3)
        #expect(stage.auditor.faults == [])
        #expect(stage.crypto.uses == 3 && stage.crypto.repeated == 0)
        #expect(stage.sealer.counters.video.sealed == 2)
    }

    @Test func `of audio alone it is audio, of a stream that never began there is none`() throws {
        var audio = Stage(formats: [.audioFormat(audioFormat)])
        #expect(audio.finish() == nil)
        try audio.seal(audioUnit(0), at: 0)
        let end = audio.finish()
        let message = try #require(end)
        #expect(message.prefix == [0xAF, 1] && message.payload.count == 22)
        audio.sealer.end()
        #expect(audio.finish() == nil)
    }

    @Test func `at the end of the counter there is no item left for it`() throws {
        var stage = Stage()
        stage.sealer.discardPrepared()
        stage.sealer.offer(stage.crypto.collection(lastCounter: 0xFF_FFFE))
        _ = stage.sealer.seal(.accessUnit(frame(0, key: true)), at: 0)
        #expect(stage.finish() == nil)
    }

    // MARK: - The next header

    @Test func `metadata announce the next collection, and that one is used`() throws {
        var stage = Stage(.init(rotation: RotationPolicy(age: 30 * second)))
        try stage.seal(frame(0, key: true), at: 0)
        let metadata = try #require(stage.metadata)
        let next = try #require(metadata.nextNTDFHeader)
        #expect(next != metadata.ntdfHeader)
        #expect(metadata.rotationSeconds == 30)
        try stage.seal(frame(40, key: true), at: 30 * second)
        #expect(stage.metadata?.ntdfHeader == next)
        try stage.seal(frame(80, key: true), at: 60 * second)
        #expect(stage.metadata?.nextNTDFHeader == nil, "none is ready")
        #expect(stage.metadata?.rotationSeconds == nil)
    }
}
