import Cryptography
import FLV
import Media
import NanoTDF
import NanoTDFCryptography
import Testing

@testable import Player

/// Items in the shape of NAL units, as they come through a relay that parses frames.
@Suite struct WrappedFramesTests {
    private func session(allowsClear: Bool = false) -> ViewerSession {
        ViewerSession(
            crypto: OpenSSLCrypto(), hold: HoldLimits(items: 64, duration: 5_000_000_000), allowsClear: allowsClear)
    }

    private func wrapped(_ message: SealedStream.Message) -> SealedStream.Message {
        var message = message
        var wrapper: [UInt8] = []
        NALWrapper.append(
            codec: .h264, isKeyFrame: message.body[0] == 0x17, itemByteCount: message.body.count - 5, to: &wrapper)
        message.body.insert(contentsOf: wrapper, at: 5)
        return message
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

    /// A session that has the key.
    private func begin(_ collection: SealedStream.Collection) throws -> ViewerSession {
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        _ = session.keyArrived(collection.key, forHeader: collection.hash, at: 1)
        return session
    }

    private func statistics(_ session: borrowing ViewerSession) -> ViewerStatistics {
        var statistics = ViewerStatistics()
        session.report(into: &statistics)
        return statistics
    }

    @Test func `wrapped and plain frames come out alike, in any mixture`() throws {
        let collection = try SealedStream.Collection()
        var session = try begin(collection)
        let messages = [
            wrapped(try collection.video(0, key: true)), try collection.audio(10), try collection.video(40),
            wrapped(try collection.video(80)), try collection.video(120, key: true), try collection.audio(130),
        ]
        let actions = give(&session, messages)
        #expect(
            actions.units.map(\.data)
                == [
                    SealedStream.frame(0), SealedStream.audio(10), SealedStream.frame(40), SealedStream.frame(80),
                    SealedStream.frame(120), SealedStream.audio(130),
                ])
        let counts = statistics(session)
        #expect(counts.opened == 6 && counts.malformed == 0 && counts.authenticationFailed == 0 && counts.gaps == 0)
    }

    @Test func `a wrapped frame that comes before its key waits for it`() throws {
        let collection = try SealedStream.Collection()
        var session = session()
        _ = give(&session, [try collection.headerFrame()] + SealedStream.formats)
        #expect(give(&session, [wrapped(try collection.video(0, key: true)), wrapped(try collection.video(40))]) == [])
        let actions = session.keyArrived(collection.key, forHeader: collection.hash, at: 2)
        #expect(actions.units.map(\.data) == [SealedStream.frame(0), SealedStream.frame(40)])
    }

    @Test func `one item is taken once, whatever form it comes in`() throws {
        let collection = try SealedStream.Collection()
        var session = try begin(collection)
        let frame = try collection.video(0, key: true)
        #expect(give(&session, [frame, wrapped(frame), frame, wrapped(frame)]).units.count == 1)
        #expect(statistics(session).replayed == 3)
        // And twice wrapped is not a form.
        #expect(give(&session, [wrapped(wrapped(try collection.video(40)))]).units.isEmpty)
        #expect(statistics(session).malformed == 1)
    }

    @Test func `what lies about its length is refused and counted`() throws {
        let collection = try SealedStream.Collection()
        var session = try begin(collection)
        let frame = wrapped(try collection.video(0, key: true))
        var hostile: [SealedStream.Message] = []
        for count in 5..<frame.body.count {
            var cut = frame
            cut.body.removeLast(frame.body.count - count)
            hostile.append(cut)
        }
        for (index, byte) in [(5, UInt8(0xFF)), (8, 0), (8, 255), (9, 0x06), (10, 0xFF), (13, 0xFF), (15, 0)] {
            var lie = frame
            lie.body[index] = byte
            hostile.append(lie)
        }
        var longer = frame
        longer.body += [0]
        hostile.append(longer)
        #expect(give(&session, hostile).units.isEmpty)
        #expect(statistics(session).opened == 0)
        #expect(give(&session, [frame]).units.map(\.data) == [SealedStream.frame(0)])
    }

    @Test func `a wrapped frame whose lengths fit an item as well is opened all the same`() throws {
        let collection = try SealedStream.Collection()
        var session = try begin(collection)
        var item: [UInt8] = []
        let count = 0x26506 - 5 - 22
        let unit = [0, UInt8((count - 4) >> 16), UInt8((count - 4) >> 8 & 255), UInt8((count - 4) & 255), 0x65]
        _ = try collection.sealer.seal(unit + [UInt8](repeating: 1, count: count - 5), into: &item)
        let frame = wrapped(.init(type: FLVTag.video, timestamp: 0, body: [0x17, 1, 0, 0, 0] + item))
        guard case .either = NALWrapper.form(of: frame.body[5...], codec: .h264) else {
            Issue.record("not the size that fits both")
            return
        }
        #expect(give(&session, [frame]).units.map(\.data.count) == [count])
        #expect(statistics(session).authenticationFailed == 0)
    }

    @Test func `wrapped frames without a header are not taken for a stream in clear`() throws {
        let collection = try SealedStream.Collection()
        var session = session(allowsClear: true)
        let messages =
            SealedStream.formats + [wrapped(try collection.video(0, key: true)), wrapped(try collection.video(40))]
        #expect(give(&session, messages).units.isEmpty)
        #expect(give(&session, [SealedStream.clearVideo(80, key: true)]).units.isEmpty)
    }
}
