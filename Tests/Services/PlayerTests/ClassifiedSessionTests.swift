import Cryptography
import FLV
import KeyAccess
import Media
import NanoTDF
import NanoTDFCryptography
import Testing

@testable import Player

private let second: UInt64 = 1_000_000_000
private let epoch: Int64 = 1_800_000_000_000

/// A viewer of "door" that has the key of one collection; the KAS's clock shows `epoch` at the instant 0.
private final class Stage {
    let collection: SealedStream.Collection
    var session: ViewerSession

    init(stream: String = "door", allowsRecording: Bool = false) throws {
        collection = try SealedStream.Collection()
        session = ViewerSession(
            crypto: OpenSSLCrypto(), hold: HoldLimits(items: 64, duration: 5 * second), allowsClear: false,
            judging: .init(stream: "door", allowsRecording: allowsRecording))
        session.streamStarted(at: 0)
        _ = give([try collection.headerFrame()] + SealedStream.formats)
        _ = session.keyArrived(collection.key, facts: Self.facts(stream), forHeader: collection.hash, at: 0)
    }

    static func facts(_ stream: String = "door") -> CollectionFacts {
        CollectionFacts(stream: stream, registeredAt: epoch / 1000, newerRegistrations: 2, time: epoch)
    }

    func give(_ messages: [SealedStream.Message], at now: UInt64 = 1) -> [ViewerSession.Action] {
        var actions: [ViewerSession.Action] = []
        for message in messages {
            actions += session.received(
                type: message.type, timestamp: message.timestamp, body: message.body[...], at: now)
        }
        return actions
    }

    /// A frame that was sealed so many seconds after the epoch.
    func frame(_ time: UInt32, key: Bool = false, sealed: Int64) throws -> SealedStream.Message {
        try collection.video(time, key: key, note: StreamNote(time: .system(epoch + sealed * 1000)))
    }

    var statistics: ViewerStatistics {
        var statistics = ViewerStatistics()
        session.report(into: &statistics)
        return statistics
    }

    func verdict(at now: UInt64 = 1) -> ViewerStatistics.Verdict? { session.verdict(at: now)?.verdict }
}

@Suite struct ClassifiedSessionTests {
    @Test func `what is clear is not signed: it is refused where a publisher is asked for`() {
        var session = ViewerSession(
            crypto: OpenSSLCrypto(), hold: HoldLimits(items: 64, duration: 5 * second), allowsClear: true,
            judging: .init(stream: "door", publisher: "sha256//door"))
        session.streamStarted(at: 0)
        var actions: [ViewerSession.Action] = []
        for message in SealedStream.formats + [SealedStream.clearVideo(0, key: true)] {
            actions += session.received(
                type: message.type, timestamp: message.timestamp, body: message.body[...], at: 1)
        }
        #expect(actions == [.refuseClear])
    }

    @Test func `a live stream is live, and comes out with the bytes that it had before its notes`() throws {
        let stage = try Stage()
        #expect(stage.verdict() == nil)
        let actions = stage.give([
            try stage.frame(0, key: true, sealed: 0), try stage.collection.video(40), try stage.collection.audio(50),
            try stage.frame(80, sealed: 0),
        ])
        #expect(
            actions.units.map(\.data)
                == [
                    SealedStream.frame(0), SealedStream.frame(40), SealedStream.audio(50), SealedStream.frame(80),
                ])
        #expect(stage.verdict() == .live)
        #expect(stage.statistics.finding == nil)
    }

    @Test func `a recording is opened and not shown, with its formats; where it may be it is shown`() throws {
        for allowed in [false, true] {
            let stage = try Stage(allowsRecording: allowed)
            var actions: [ViewerSession.Action] = []
            for number in 0..<20 as Range<UInt32> {
                actions += stage.give([
                    try stage.frame(number * 40, key: number % 5 == 0, sealed: -3600),
                    try stage.collection.audio(number * 40),
                ])
            }
            #expect(actions.units.count == (allowed ? 40 : 0))
            #expect(actions.formats.count == (allowed ? 2 : 0))
            #expect(actions.filter { $0 == .withhold }.count == (allowed ? 0 : 40))
            #expect(stage.verdict() == (allowed ? .recording : .stale))
            stage.session.finish(isStreamOver: false, at: 2)
            #expect(stage.statistics.stale == (allowed ? 0 : 40))
            #expect(stage.statistics.opened == 40)
        }
    }

    @Test func `who joins late gets the group that runs, old as its beginning is`() throws {
        let stage = try Stage()
        // A group of 40 s: what the relay has kept of it comes at once.
        var burst = [try stage.frame(0, key: true, sealed: -40)]
        for number in 1..<40 as Range<UInt32> {
            burst.append(try stage.frame(number * 1000, sealed: Int64(number) - 40))
        }
        #expect(stage.give(burst).units.map(\.data) == (0..<40).map { SealedStream.frame($0 * 1000) })
        #expect(stage.verdict() == .live)
        stage.session.finish(isStreamOver: false, at: 2)
        #expect(stage.statistics.stale == 0)
        #expect(stage.statistics.finding == nil)
    }

    @Test func `after an old one, a live stream goes on at a key frame, behind the formats`() throws {
        let stage = try Stage()
        #expect(
            stage.give([try stage.frame(0, key: true, sealed: -60), try stage.frame(40, sealed: -60)]).units.isEmpty
        )
        // A collection of today, in the middle of a group.
        let today = try SealedStream.Collection()
        _ = stage.give([try today.headerFrame()])
        _ = stage.session.keyArrived(today.key, facts: Stage.facts(), forHeader: today.hash, at: 2)
        let note = StreamNote(time: .system(epoch))
        let actions = stage.give([
            try today.video(80, note: note), try today.video(120, key: true, note: note), try today.video(160),
        ])
        #expect(actions.units.map(\.data) == [SealedStream.frame(120), SealedStream.frame(160)])
        #expect(actions.formats.count == 2)
        #expect(stage.statistics.stale == 3)
        #expect(stage.verdict() == .live)
    }

    @Test func `another stream's key is thrown away, and not asked for again`() throws {
        let stage = try Stage(stream: "hall")
        #expect(stage.give([try stage.frame(0, key: true, sealed: 0)]).units.isEmpty)
        #expect(stage.verdict() == .notThisStream)
        #expect(stage.statistics.notThisStream == 1)
        #expect(stage.give([try stage.collection.headerFrame(), stage.collection.metadata]) == [])
        #expect(stage.statistics.opened == 0)
    }

    @Test func `shuffled frames are dropped, counted, and the verdict`() throws {
        let stage = try Stage()
        let frames = try (0..<4).map { try stage.frame($0 * 40, key: $0 == 0, sealed: 0) }
        let units = stage.give([frames[0], frames[2], frames[1], frames[3]]).units
        #expect(units.map(\.data) == [0, 80, 120].map(SealedStream.frame))
        #expect(stage.verdict() == .disordered)
        #expect(stage.statistics.disordered == 1)
        #expect(stage.statistics.gaps == 1)
        #expect(stage.statistics.finding == .disordered)
    }

    @Test func `an end that waits for its key with the rest is an end`() throws {
        for isWhole in [true, false] {
            let stage = try Stage()
            _ = stage.give([try stage.frame(0, key: true, sealed: 0)])
            let next = try SealedStream.Collection()
            _ = stage.give([try next.headerFrame()])
            _ = stage.give([try next.video(40, key: true, note: StreamNote(time: .system(epoch)))])
            if isWhole { _ = stage.give([try next.end(80)]) }
            stage.session.streamEnded(at: 2)
            #expect(stage.statistics.truncated == 0)
            let units = stage.session.keyArrived(next.key, facts: Stage.facts(), forHeader: next.hash, at: 3).units
            #expect(units.count == 1)
            #expect(stage.statistics.truncated == (isWhole ? 0 : 1))
            stage.session.finish(isStreamOver: true, at: 4)
            #expect(stage.statistics.truncated == (isWhole ? 0 : 1))
        }
    }

    @Test func `the next collection is announced once, and its header asked for when it comes`() throws {
        let stage = try Stage()
        let next = try SealedStream.Collection()
        let metadata = SealedStream.Message(
            type: FLVTag.script, timestamp: 0,
            body: StreamMetadata(
                ntdfHeader: stage.collection.sealer.headerBytes, nextNTDFHeader: next.sealer.headerBytes,
                rotationSeconds: 60
            ).encodedSetDataFrame())
        #expect(stage.give([metadata]) == [.prepareKey(header: next.sealer.headerBytes, rotation: 60)])
        #expect(stage.give([metadata]) == [])
        #expect(
            stage.give([try next.headerFrame()])
                == [.requestKey(header: next.sealer.headerBytes, hash: next.hash)])
    }

    @Test func `an announcement that is not a header is not an announcement`() throws {
        let stage = try Stage()
        for (header, rotation) in [([1, 2, 3], 60.0), (stage.collection.sealer.headerBytes, nil)]
            as [([UInt8], Double?)]
        {
            let metadata = StreamMetadata(
                ntdfHeader: stage.collection.sealer.headerBytes, nextNTDFHeader: header, rotationSeconds: rotation)
            #expect(
                stage.give([.init(type: FLVTag.script, timestamp: 0, body: metadata.encodedSetDataFrame())]) == [])
        }
        #expect(stage.statistics.unreadable == 0)
    }

    @Test func `headers that are ignored or invalid are reported`() throws {
        let stage = try Stage()
        _ = stage.give([
            .init(type: FLVTag.script, timestamp: 0, body: StreamMetadata(ntdfHeader: [1, 2, 3]).encodedSetDataFrame())
        ])
        for _ in 0..<9 { _ = stage.give([try SealedStream.Collection().headerFrame()]) }
        #expect(stage.statistics.headersInvalid == 1)
        #expect(stage.statistics.headersIgnored == 6)
    }
}
