import FLV
import Media
import NanoTDF
import TestSupport
import Testing

@testable import CameraPipeline

private let second: UInt64 = 1_000_000_000

/// A sealer in a running stream, with the crypto that sees through it.
private struct Stage {
    let crypto = MarkingCrypto()
    var sealer: StreamSealer
    var auditor = StreamAuditor.marking()

    init(_ options: StreamSealer.Options = .init(), collections: Int = 3, formats: [MediaEvent]? = nil) {
        sealer = StreamSealer(options: options)
        for _ in 0..<collections { sealer.offer(crypto.collection()) }
        sealer.begin()
        for format in formats ?? [.videoFormat(videoFormat), .audioFormat(audioFormat)] {
            #expect(sealer.seal(format, at: 0) == .noted)
        }
    }

    /// What goes out for one event; empty when nothing does.
    mutating func seal(_ event: MediaEvent, at now: UInt64 = 0) -> [SealedMessage.Content] {
        guard case .send = sealer.seal(event, at: now) else { return [] }
        for message in sealer.entry { auditor.receive(message) }
        return sealer.entry.map(\.content)
    }
}

@Suite struct StreamSealerTests {
    @Test func `a stream begins with metadata, header and both sequence headers`() {
        var stage = Stage()
        #expect(
            stage.seal(video(0, key: true))
                == [.metadata, .header, .videoSequenceHeader, .audioSequenceHeader, .video])
        #expect(stage.seal(audio(21)) == [.audio])
        #expect(stage.seal(video(40)) == [.video])
        #expect(stage.auditor.faults == [])
        #expect(stage.auditor.units == [videoUnit(0, key: true), audioUnit(21), videoUnit(40)])
    }

    @Test func `audio may come before the first key frame, but not before the header`() {
        var stage = Stage()
        #expect(
            stage.seal(audio(0)) == [.metadata, .header, .videoSequenceHeader, .audioSequenceHeader, .audio])
        #expect(stage.seal(video(0)) == [])
        #expect(stage.seal(video(40, key: true)) == [.video])
        #expect(stage.auditor.faults == [])
        #expect(stage.auditor.lastCounter == 2)
    }

    @Test func `a stream of audio alone works and changes its collection between two frames`() {
        var stage = Stage(formats: [.audioFormat(audioFormat)])
        #expect(stage.seal(audio(0)) == [.metadata, .header, .audioSequenceHeader, .audio])
        #expect(stage.seal(audio(21), at: 59 * second) == [.audio])
        #expect(stage.seal(audio(42), at: 60 * second) == [.metadata, .header, .audio])
        #expect(stage.auditor.faults == [])
        #expect(stage.auditor.serials == [1, 2])
    }

    @Test func `video that joins later is announced before its first key frame`() {
        var stage = Stage(formats: [.audioFormat(audioFormat)])
        _ = stage.seal(audio(0))
        #expect(stage.seal(.videoFormat(videoFormat)) == [])
        #expect(stage.seal(audio(21)) == [.audio])
        #expect(stage.seal(video(30)) == [])
        #expect(stage.seal(video(40, key: true)) == [.metadata, .videoSequenceHeader, .video])
        #expect(stage.auditor.faults == [])
    }

    @Test func `an inter frame first is dropped and a key frame asked for, once in two seconds`() {
        var stage = Stage()
        #expect(stage.sealer.seal(video(0), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: true))
        #expect(stage.sealer.seal(video(40), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: false))
        #expect(stage.sealer.seal(video(2000), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: true))
        #expect(stage.sealer.counters.video.dropped == 3)
        #expect(stage.sealer.counters.collections == 0)
    }

    @Test func `nothing is sealed without a format`() {
        var stage = Stage(formats: [])
        #expect(stage.sealer.seal(video(0, key: true), at: 0) == .dropped(.noFormat, requestKeyFrame: false))
        #expect(stage.sealer.seal(audio(0), at: 0) == .dropped(.noFormat, requestKeyFrame: false))
    }

    // MARK: - Rotation

    @Test(arguments: [
        (RotationPolicy(), 60 * second, 10),
        (RotationPolicy(items: 10), second, 10),
        (RotationPolicy(everyKeyFrame: true), second, 1),
    ])
    func `a rotation is metadata, header and key frame in one entry`(rule: RotationPolicy, now: UInt64, items: Int) {
        var stage = Stage(.init(rotation: rule))
        _ = stage.seal(video(0, key: true))
        for item in 1..<max(items, 2) { _ = stage.seal(audio(Int64(item))) }
        #expect(stage.seal(audio(900), at: now) == [.audio])
        #expect(stage.seal(video(920), at: now) == [.video])
        #expect(stage.seal(video(1000, key: true), at: now) == [.metadata, .header, .video])
        #expect(stage.sealer.entry.allSatisfy { $0.timestamp == 1000 })
        #expect(stage.auditor.faults == [])
        #expect(stage.auditor.serials == [1, 2])
        #expect(stage.auditor.lastCounter == 1)
        #expect(stage.sealer.counters.rotations == 1)
        #expect(stage.sealer.counters.collections == 2)
    }

    @Test func `a moment before its time nothing rotates`() {
        var stage = Stage(.init(rotation: RotationPolicy(items: 3)))
        _ = stage.seal(video(0, key: true))
        _ = stage.seal(video(40))
        #expect(stage.seal(video(80, key: true), at: 60 * second - 1) == [.video])
        #expect(stage.seal(video(120, key: true), at: 60 * second - 1) == [.metadata, .header, .video])
    }

    @Test func `a new key of the KAS rotates at the next key frame and drops what was prepared for the old one`() {
        var stage = Stage()
        _ = stage.seal(video(0, key: true))
        stage.sealer.discardPrepared()
        stage.sealer.forceRotation()
        #expect(stage.seal(video(40, key: true)) == [.video])
        #expect(stage.sealer.counters.rotationsDeferred == 1)
        #expect(stage.sealer.offer(stage.crypto.collection()) == false)
        #expect(stage.seal(video(60)) == [.video])
        #expect(stage.seal(video(80, key: true)) == [.metadata, .header, .video])
        #expect(stage.seal(video(120, key: true)) == [.video])
        #expect(stage.auditor.serials == [1, 4])
        #expect(stage.auditor.faults == [])
    }

    @Test func `without a new collection a stream goes on under the old one`() {
        var stage = Stage(collections: 1)
        _ = stage.seal(video(0, key: true))
        #expect(stage.seal(video(40, key: true), at: 3600 * second) == [.video])
        #expect(stage.seal(audio(40), at: 3600 * second) == [.audio])
        #expect(stage.auditor.serials == [1])
    }

    @Test func `at 2^23 items frames are dropped until a key frame begins a new collection`() {
        var stage = Stage(collections: 0)
        stage.sealer.offer(stage.crypto.collection(lastCounter: 1 << 23 - 1))
        _ = stage.sealer.seal(video(0, key: true), at: 0)
        #expect(stage.sealer.seal(video(40), at: 0) == .dropped(.rotationDue, requestKeyFrame: true))
        #expect(stage.sealer.seal(audio(41), at: 0) == .dropped(.rotationDue, requestKeyFrame: false))
        #expect(stage.sealer.seal(video(80, key: true), at: 0) == .dropped(.noCollection, requestKeyFrame: false))
        #expect(stage.sealer.offer(stage.crypto.collection()) == true)
        #expect(stage.seal(audio(81)) == [])
        #expect(stage.seal(video(120)) == [])
        #expect(stage.seal(video(160, key: true)) == [.metadata, .header, .video])
        #expect(stage.seal(audio(161)) == [.audio])
        #expect(stage.sealer.counters.video.dropped == 3)
        #expect(stage.sealer.counters.audio.dropped == 2)
    }

    @Test func `the counter of a collection ends at 2^24-1, whatever the rule allows`() {
        var stage = Stage(collections: 0)
        stage.sealer.offer(stage.crypto.collection(lastCounter: 0xFF_FFFF))
        #expect(
            stage.sealer.seal(video(0, key: true), at: 0)
                == .dropped(.sealingFailed(.counterExhausted), requestKeyFrame: true))
        #expect(stage.sealer.entry.isEmpty)
        #expect(stage.crypto.uses == 0)
    }

    @Test func `without any collection nothing goes out, and the first one asks for a key frame`() {
        var stage = Stage(collections: 0)
        #expect(stage.sealer.seal(video(0, key: true), at: 0) == .dropped(.noCollection, requestKeyFrame: false))
        #expect(stage.sealer.seal(audio(0), at: 0) == .dropped(.noCollection, requestKeyFrame: false))
        #expect(stage.sealer.offer(stage.crypto.collection()) == true)
        #expect(stage.sealer.offer(stage.crypto.collection()) == false)
        #expect(stage.seal(video(40, key: true)).count == 5)
        #expect(stage.auditor.faults == [])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `over ten thousand rotations no item is under an unannounced key, none is lost, no IV comes twice`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var stage = Stage(.init(rotation: RotationPolicy(everyKeyFrame: true)), collections: 2)
        var sent: [AccessUnit] = []
        var time: Int64 = 0
        while stage.sealer.counters.rotations < 10_000 {
            time += Int64(random.next() % 20)
            let unit: AccessUnit
            switch random.next() % 4 {
            case 0: unit = videoUnit(time, key: true, size: Int(random.next() % 40))
            case 1: unit = videoUnit(time, key: sent.isEmpty, size: Int(random.next() % 40))
            default: unit = audioUnit(time, size: Int(random.next() % 40))
            }
            if sent.isEmpty, !unit.track.isVideo { continue }
            sent.append(unit)
            _ = stage.seal(.accessUnit(unit))
            if stage.sealer.preparedCount < 2 { stage.sealer.offer(stage.crypto.collection()) }
        }
        let zero = sent[0].decodeTime
        let expected = sent.map { unit in
            var unit = unit
            unit.decodeTime = unit.decodeTime - zero
            unit.presentationTime = unit.decodeTime
            return unit
        }
        #expect(stage.auditor.faults == [])
        #expect(stage.auditor.units == expected)
        #expect(stage.auditor.collections.count == 10_001)
        #expect(stage.crypto.uses == sent.count)
        #expect(stage.crypto.repeated == 0)
    }

    // MARK: - Formats, options

    @Test func `a new format is announced directly before the key frame that needs it`() {
        var stage = Stage()
        _ = stage.seal(video(0, key: true))
        #expect(stage.seal(.videoFormat(largerVideoFormat)) == [])
        #expect(stage.seal(audio(20)) == [.audio])
        #expect(stage.sealer.seal(video(40), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: true))
        #expect(stage.seal(video(80, key: true)) == [.metadata, .videoSequenceHeader, .video])
        #expect(stage.seal(.videoFormat(largerVideoFormat)) == [])
        #expect(stage.seal(video(120)) == [.video])
        #expect(stage.auditor.faults == [])
        #expect(stage.auditor.serials == [1])
    }

    @Test func `a new format and a rotation share one entry`() {
        var stage = Stage()
        _ = stage.seal(video(0, key: true))
        _ = stage.seal(.videoFormat(largerVideoFormat))
        #expect(
            stage.seal(video(80, key: true), at: 60 * second) == [.metadata, .header, .videoSequenceHeader, .video])
    }

    @Test func `a new audio format is announced before its first frame`() {
        var stage = Stage()
        _ = stage.seal(video(0, key: true))
        var mono = audioFormat
        mono.channels = 1
        mono.audioSpecificConfig = [0x11, 0x88]
        _ = stage.seal(.audioFormat(mono))
        #expect(stage.seal(video(40)) == [.video])
        #expect(stage.seal(audio(41)) == [.metadata, .audioSequenceHeader, .audio])
        #expect(stage.auditor.faults == [])
    }

    @Test func `the header is repeated before key frames when a relay loses metadata`() {
        var stage = Stage(.init(repeatsHeader: true))
        #expect(stage.seal(video(0, key: true)).filter { $0 == .header }.count == 1)
        #expect(stage.seal(video(40)) == [.video])
        #expect(stage.seal(audio(41)) == [.audio])
        #expect(stage.seal(video(80, key: true)) == [.header, .video])
        #expect(stage.seal(video(120, key: true), at: 60 * second) == [.metadata, .header, .video])
        #expect(stage.auditor.faults == [])
    }

    @Test func `a unit that no message can carry is refused, and what refers to it too`() {
        var stage = Stage(.init(messageLimit: 1000))
        _ = stage.seal(video(0, key: true))
        #expect(stage.seal(video(40, size: 1000 - 27)) == [.video])
        #expect(stage.sealer.seal(video(80, size: 1000 - 26), at: 0) == .dropped(.tooLong, requestKeyFrame: true))
        #expect(
            stage.sealer.seal(video(120), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: false))
        #expect(stage.seal(audio(121, size: 1000 - 24)) == [.audio])
        #expect(stage.sealer.seal(audio(122, size: 1000 - 23), at: 0) == .dropped(.tooLong, requestKeyFrame: false))
        #expect(stage.seal(video(160, key: true)) == [.video])
        #expect(stage.sealer.counters.video.refused == 1)
        #expect(stage.sealer.counters.video.dropped == 1)
        #expect(stage.sealer.counters.audio.refused == 1)
        #expect(stage.auditor.faults == [])
    }

    @Test func `by default items are as long as viewers take, and a longer key frame is asked for again`() throws {
        var stage = Stage()
        let longest = (4 << 20) - 22 - 5
        guard case .send = stage.sealer.seal(video(0, key: true, size: longest), at: 0) else {
            Issue.record("a viewer would have taken it")
            return
        }
        let item = try #require(stage.sealer.entry.last).payload
        #expect(try ContainerItem.parse(item[...], tagByteCount: 16).ciphertext.count == longest)
        #expect(
            stage.sealer.seal(video(40, key: true, size: longest + 1), at: 0)
                == .dropped(.tooLong, requestKeyFrame: true))
        #expect(stage.sealer.seal(video(80), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: false))
        // The next one is too long again: asked for at a bounded rate, or every frame would become one.
        for (time, asks) in [(Int64(120), false), (2040, true)] {
            #expect(
                stage.sealer.seal(video(time, key: true, size: longest + 1), at: 0)
                    == .dropped(.tooLong, requestKeyFrame: asks))
        }
        guard case .send = stage.sealer.seal(video(2080, key: true), at: 0) else {
            Issue.record("it does not recover")
            return
        }
        #expect(stage.sealer.counters.video.refused == 3)
        #expect(stage.sealer.counters.video.sealed == 2)
        #expect(stage.sealer.counters.keyFrameRequests == 2)
    }

    @Test func `when sealing fails nothing of the entry goes out, and the next one announces again`() {
        var stage = Stage()
        stage.crypto.fail(true)
        #expect(
            stage.sealer.seal(video(0, key: true), at: 0)
                == .dropped(.sealingFailed(.crypto(.libraryFailed(call: "asked to fail"))), requestKeyFrame: true))
        #expect(stage.sealer.entry.isEmpty)
        stage.crypto.fail(false)
        #expect(stage.seal(video(40)) == [])
        #expect(stage.seal(video(80, key: true)).prefix(2) == [.metadata, .header])
        // The failed attempt used its IV up.
        #expect(stage.auditor.faults == ["IV 2 after 0"])
    }

    @Test func `overhead and payload are counted to the byte`() {
        var stage = Stage()
        var wire = 0
        for event in [video(0, key: true), audio(1), video(40), video(80, key: true)] {
            _ = stage.seal(event, at: 0)
            wire += stage.sealer.entry.reduce(0) { $0 + $1.byteCount }
        }
        let counters = stage.sealer.counters
        #expect(counters.video.bytes == 300)
        #expect(counters.audio.bytes == 20)
        #expect(counters.overheadBytes + 320 == UInt64(wire))
        #expect(stage.seal(video(120)) == [.video])
        #expect(stage.sealer.counters.overheadBytes == counters.overheadBytes + 27)
    }

    // MARK: - Connections

    @Test func `every connection begins a new collection at zero, with all headers, at a key frame`() {
        var stage = Stage()
        _ = stage.seal(video(5000, key: true))
        _ = stage.seal(audio(5020))
        stage.sealer.begin()
        var second = StreamAuditor.marking()
        #expect(stage.sealer.seal(video(5040), at: 0) == .dropped(.awaitingKeyFrame, requestKeyFrame: true))
        guard case .send(let unit) = stage.sealer.seal(video(5080, key: true), at: 0) else {
            Issue.record("the key frame was not sent")
            return
        }
        for message in stage.sealer.entry { second.receive(message) }
        #expect(unit.decodeMilliseconds == 0)
        #expect(unit.iv == 1)
        #expect(unit.beginsCollection)
        #expect(
            stage.sealer.entry.map(\.content)
                == [.metadata, .header, .videoSequenceHeader, .audioSequenceHeader, .video])
        #expect(second.faults == [])
        #expect(second.serials == [2])
        #expect(stage.sealer.counters.rotations == 0)
    }

    @Test func `after the end of a connection its collection seals nothing`() {
        var stage = Stage(collections: 1)
        _ = stage.seal(video(0, key: true))
        stage.sealer.end()
        #expect(stage.sealer.currentCollection == nil)
        #expect(stage.sealer.seal(video(40, key: true), at: 0) == .dropped(.noCollection, requestKeyFrame: false))
    }

    // MARK: - Clear, in tests only

    @Test(arguments: ["127.0.0.1", "127.255.0.9", "localhost", "::1", "[::1]"])
    func `clear media go to this machine when the environment says so`(host: String) throws {
        let permit = try ClearPermit(environment: ["WATCHBOX_ALLOW_CLEAR": "tests-only"], relayHost: host)
        var sealer = StreamSealer(clearForTests: permit)
        sealer.begin()
        _ = sealer.seal(.videoFormat(videoFormat), at: 0)
        _ = sealer.seal(video(0, key: true), at: 0)
        #expect(sealer.entry.map(\.content) == [.metadata, .videoSequenceHeader, .video])
        #expect(sealer.entry.last?.payload == videoUnit(0).data)
        _ = sealer.seal(video(40), at: 0)
        #expect(sealer.entry.map(\.content) == [.video])
    }

    @Test(arguments: [[:], ["WATCHBOX_ALLOW_CLEAR": "1"], ["WATCHBOX_ALLOW_CLEAR": ""]])
    func `clear media are refused without the exact word`(environment: [String: String]) {
        #expect(throws: ClearRefused.notAllowed) {
            _ = try ClearPermit(environment: environment, relayHost: "127.0.0.1")
        }
    }

    @Test(arguments: [
        "192.168.1.1", "example.net", "127.0.0.1.example.net", "127.1", "127.0.0.256", "128.0.0.1", "127.0.0.+1", "",
        "localhost.example.net", "0.0.0.0", "::",
    ])
    func `clear media are refused for any other machine`(host: String) {
        #expect(throws: ClearRefused.relayElsewhere(host: host)) {
            _ = try ClearPermit(environment: ["WATCHBOX_ALLOW_CLEAR": "tests-only"], relayHost: host)
        }
    }
}
