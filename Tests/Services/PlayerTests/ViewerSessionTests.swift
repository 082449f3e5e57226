import Cryptography
import FLV
import Media
import NanoTDF
import NanoTDFCryptography
import TestSupport
import Testing

@testable import Player

struct ViewerSessionTests {
    private static let millisecond: UInt64 = 1_000_000

    private func session(allowsClear: Bool = false) -> ViewerSession {
        ViewerSession(
            crypto: OpenSSLCrypto(), hold: HoldLimits(items: 64, duration: 5_000_000_000), allowsClear: allowsClear)
    }

    private func give(
        _ session: inout ViewerSession, _ messages: [SealedStream.Message], at now: UInt64 = 1
    ) -> [ViewerSession.Action] {
        var actions: [ViewerSession.Action] = []
        for message in messages {
            actions += session.received(
                type: message.type, timestamp: message.timestamp, body: message.body[...], at: now)
        }
        return actions
    }

    private func statistics(_ session: borrowing ViewerSession) -> ViewerStatistics {
        var statistics = ViewerStatistics()
        session.report(into: &statistics)
        return statistics
    }

    @Test func `a header in metadata and in band is worth one request`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        let request = ViewerSession.Action.requestKey(header: collection.sealer.headerBytes, hash: collection.hash)
        #expect(give(&session, [collection.metadata]) == [request])
        #expect(give(&session, [try collection.headerFrame(), collection.metadata]) == [])
    }

    @Test func `with its key a stream comes out as it was sealed, each format before the first unit`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        #expect(session.keyArrived(collection.key, forHeader: collection.hash, at: 2) == [])
        let actions = give(&session, [try collection.video(0, key: true), try collection.audio(20)])
        #expect(actions.formats == [.videoFormat(SealedStream.videoFormat), .audioFormat(SealedStream.audioFormat)])
        #expect(actions.units.map(\.data) == [SealedStream.frame(0), SealedStream.audio(20)])
        #expect(actions.units.map(\.isKeyFrame) == [true, true])
        #expect(actions.provenances.map(\.counter) == [1, 2])
        #expect(actions.provenances.allSatisfy { $0.collection == collection.hash })
        #expect(statistics(session).opened == 2)
    }

    @Test func `what comes while the key is on its way is held, and comes out in order`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        let early = try [0, 20, 40].map { try collection.video($0, key: $0 == 0) } + [try collection.audio(50)]
        #expect(give(&session, early) == [])
        // A noncopyable value cannot stand inside the macro.
        let waits = session.isWaitingForKey
        #expect(waits)
        let actions = session.keyArrived(collection.key, forHeader: collection.hash, at: 400 * Self.millisecond)
        #expect(actions.provenances.map(\.counter) == [1, 2, 3, 4])
        let stillWaits = session.isWaitingForKey
        #expect(!stillWaits)
        #expect(statistics(session).noKey == 0)
    }

    @Test func `a rotation costs no frame, although the new key comes late and audio of the old collection after it`()
        throws
    {
        let first = try SealedStream.Collection()
        let second = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try first.headerFrame()] + SealedStream.formats)
        _ = session.keyArrived(first.key, forHeader: first.hash, at: 1)
        var actions = give(&session, [try first.video(0, key: true), try first.video(40)])
        let lateAudio = try first.audio(70)
        actions += give(&session, [try second.headerFrame(at: 80), try second.video(80, key: true), lateAudio])
        actions += session.keyArrived(second.key, forHeader: second.hash, at: 100 * Self.millisecond)
        actions += give(&session, [try second.video(120)], at: 200 * Self.millisecond)
        #expect(
            Set(actions.units.map(\.data))
                == Set([0, 40, 80, 120].map(SealedStream.frame) + [SealedStream.audio(70)]))
        #expect(actions.units.count == 5)
        let video = actions.units.filter(\.track.isVideo).map(\.decodeTime)
        #expect(video == video.sorted())
        let counters = statistics(session)
        #expect([counters.gaps, counters.noKey, counters.replayed, counters.authenticationFailed] == [0, 0, 0, 0])
    }

    @Test func `a repeat is refused and a loss is counted`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
        let first = try collection.video(0, key: true)
        _ = try collection.video(40)  // the relay loses it
        #expect(give(&session, [first, first, try collection.video(80)]).units.count == 2)
        #expect(statistics(session).replayed == 1)
        #expect(statistics(session).gaps == 1)
    }

    @Test func `a key that never comes costs the frames that waited for it, and nothing else`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        _ = give(&session, [try collection.video(0, key: true), try collection.video(40)])
        _ = session.keyFailed(forHeader: collection.hash, at: 2)
        #expect(session.timePassed(at: 6_000 * Self.millisecond) == [])
        let counters = statistics(session)
        #expect(counters.noKey + counters.authenticationFailed == 2)
        #expect(counters.opened == 0)
    }

    @Test func `a stream in clear is refused, unless it may be shown`() {
        let messages = SealedStream.formats + [SealedStream.clearVideo(0, key: true)]
        var strict = session()
        #expect(give(&strict, messages) == [.refuseClear])
        var open = session(allowsClear: true)
        let actions = give(&open, messages)
        #expect(actions.units.map(\.data) == [SealedStream.frame(0)])
        #expect(actions.provenances.isEmpty)
    }

    @Test func `an empty frame says nothing about a stream`() throws {
        let collection = try SealedStream.Collection()
        let empty = VideoTagHeader(codec: .h264, isKeyFrame: true, kind: .codedFrame(compositionTime: 0)).encoded()
        let silence = AudioTagHeader(kind: .rawFrame).encoded()
        var session = session()
        let messages = [
            SealedStream.Message(type: FLVTag.video, timestamp: 0, body: empty),
            SealedStream.Message(type: FLVTag.audio, timestamp: 0, body: silence),
        ]
        #expect(give(&session, SealedStream.formats + messages) == [])
        _ = give(&session, [try collection.headerFrame()])
        _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
        #expect(give(&session, [try collection.video(0, key: true)]).units.count == 1)
    }

    @Test func `a format of more than 64 KiB is refused, and counted`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        var messages = SealedStream.formats
        messages[0].body += [UInt8](repeating: 0, count: 64 << 10)
        _ = give(&session, SealedStream.formats + messages + [try collection.headerFrame()])
        _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
        let actions = give(&session, [try collection.video(0, key: true)])
        #expect(actions.formats.filter { if case .videoFormat = $0 { true } else { false } }.count == 1)
        #expect(statistics(session).unreadable == 1)
    }

    @Test func `a clear frame within a sealed stream is never shown, even where clear streams may be`() throws {
        let collection = try SealedStream.Collection()
        var session = session(allowsClear: true)
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
        let injected = SealedStream.clearVideo(40, key: true)
        #expect(give(&session, [try collection.video(0, key: true), injected]).units.count == 1)
    }

    @Test func `a bit that the relay flipped in a payload never comes out`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
        _ = give(&session, [try collection.video(0, key: true)])
        for index in 5..<(5 + 6 + 9 + 16) {
            var message = try collection.video(UInt32(index) * 40)
            message.body[index] ^= 0x10
            #expect(give(&session, [message]).units.isEmpty, "byte \(index)")
        }
        #expect(statistics(session).opened == 1)
    }

    @Test func `time grows over a publisher that came back with a time of its own`() throws {
        let first = try SealedStream.Collection()
        let second = try SealedStream.Collection()
        var session = session()
        var actions: [ViewerSession.Action] = []
        for (collection, start) in [(first, UInt32(90_000)), (second, 0)] {
            session.streamStarted(at: 1)
            _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
            _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
            actions += give(
                &session, [try collection.video(start, key: true), try collection.video(start + 40)])
        }
        let times = actions.units.map(\.decodeTime)
        #expect(times.count == 4)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `more new headers than a stream can have are not all asked for`() throws {
        var session = session()
        var requests = 0
        for _ in 0..<50 {
            requests += give(&session, [try SealedStream.Collection().headerFrame()]).count
        }
        #expect(requests == 4)
    }

    @Test(arguments: UInt64(0)..<64)
    func `a relay's random bytes and flipped bits never trap and never become a frame`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let collection = try SealedStream.Collection()
        var session = session()
        session.streamStarted(at: 1)
        var sent = Set<[UInt8]>()
        for step in 0..<120 {
            let time = UInt32(step) * 40
            var message: SealedStream.Message
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: message = try collection.headerFrame(at: time)
            case 1: message = collection.metadata
            case 2: message = SealedStream.formats.randomElement(using: &generator)!
            case 3: message = try collection.audio(time)
            default: message = try collection.video(time, key: step.isMultiple(of: 10))
            }
            sent.insert(SealedStream.frame(time))
            sent.insert(SealedStream.audio(time))
            if step.isMultiple(of: 3) {
                for _ in 0..<4 {
                    let index = Int.random(in: 0..<message.body.count, using: &generator)
                    message.body[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                }
                message.timestamp = .random(in: 0 ... .max, using: &generator)
            } else if step.isMultiple(of: 7) {
                message.body = Array(message.body.prefix(Int.random(in: 0..<message.body.count, using: &generator)))
            }
            var actions = give(&session, [message], at: UInt64(step) * 40 * Self.millisecond)
            for case .requestKey(_, let hash) in actions where hash == collection.hash {
                actions += session.keyArrived(collection.key, forHeader: hash, at: UInt64(step) * 40 * Self.millisecond)
            }
            for (unit, provenance) in actions.deliveries where provenance != nil {
                #expect(sent.contains(unit.data))
            }
            #expect(actions.deliveries.allSatisfy { $0.1 != nil })
        }
    }
}

extension [ViewerSession.Action] {
    var deliveries: [(AccessUnit, ViewerSession.Provenance?)] {
        compactMap { action in
            if case .deliver(.accessUnit(let unit), let provenance) = action { (unit, provenance) } else { nil }
        }
    }

    var units: [AccessUnit] { deliveries.map(\.0) }
    var provenances: [ViewerSession.Provenance] { deliveries.compactMap(\.1) }

    var formats: [MediaEvent] {
        compactMap { action in
            switch action {
            case .deliver(.accessUnit, _), .requestKey, .prepareKey, .withhold, .refuseClear: nil
            case .deliver(let event, _): event
            }
        }
    }
}
