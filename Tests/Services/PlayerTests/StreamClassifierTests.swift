import KeyAccess
import KeyAccessClient
import Media
import Testing

@testable import Player

private let second: UInt64 = 1_000_000_000
/// What the KAS's clock shows when the tests' clock shows 0.
private let epoch: Int64 = 1_800_000_000_000

/// One viewer that asked for "door", in short form.
private struct Dialogue {
    var classifier: StreamClassifier
    let first = [UInt8](repeating: 1, count: 32)
    let second = [UInt8](repeating: 2, count: 32)
    let third = [UInt8](repeating: 3, count: 32)

    init(allowsRecording: Bool = false, publisher: String? = nil) {
        classifier = StreamClassifier(
            .init(stream: "door", mostAge: 15_000, allowsRecording: allowsRecording, publisher: publisher))
        classifier.streamStarted(at: 0)
    }

    static func facts(_ stream: String = "door", newer: Int = 3, at now: UInt64 = 0) -> CollectionFacts {
        CollectionFacts(
            stream: stream, registeredAt: epoch / 1000, newerRegistrations: newer,
            time: epoch + Int64(now / 1_000_000))
    }

    @discardableResult
    mutating func key(
        _ facts: CollectionFacts?, _ hash: [UInt8]? = nil, publisher: PublisherProof = .none, at now: UInt64 = 0
    ) -> Bool {
        classifier.keyArrived(facts, publisher: publisher, forHeader: hash ?? first, receivedAt: now)
    }

    /// - Parameter sealed: when the note was sealed, by the KAS's clock, in seconds.
    mutating func frame(
        _ counter: UInt32, _ hash: [UInt8]? = nil, sealed: Int64? = nil, after: StreamNote.Predecessor? = nil,
        at now: UInt64
    ) {
        let note = sealed.map { StreamNote(time: .system(epoch + $0 * 1000), predecessor: after) }
        classifier.opened(counter, in: hash ?? first, note: note, isEmpty: false, at: now)
    }

    mutating func end(_ counter: UInt32, _ hash: [UInt8]? = nil, at now: UInt64) {
        classifier.opened(counter, in: hash ?? first, note: nil, isEmpty: true, at: now)
    }

    func verdict(at now: UInt64) -> ViewerStatistics.Verdict { classifier.verdict(at: now).verdict }
}

@Suite struct StreamClassifierTests {
    @Test func `the stream that was asked for, sealed a moment ago, is live and has an age`() {
        var dialogue = Dialogue()
        #expect(!dialogue.classifier.hasBegun)
        #expect(dialogue.key(Dialogue.facts()) == true)
        dialogue.frame(1, sealed: 0, at: second / 2)
        #expect(dialogue.classifier.verdict(at: second / 2) == .init(verdict: .live, reason: nil, age: 500))
        dialogue.frame(30, sealed: 1, at: second)
        #expect(dialogue.classifier.verdict(at: second).age == 0)
        #expect(dialogue.classifier.isShowable(at: second))
    }

    @Test func `another stream's key is refused, counted, and names the stream`() throws {
        var dialogue = Dialogue()
        #expect(dialogue.key(Dialogue.facts("hall")) == false)
        #expect(dialogue.verdict(at: 1) == .notThisStream)
        #expect(dialogue.classifier.verdict(at: 1).reason?.contains("\"hall\"") == true)
        #expect(dialogue.classifier.counters.notThisStream == 1)
        // The genuine one goes on, or comes back.
        #expect(dialogue.key(Dialogue.facts(), dialogue.second) == true)
        dialogue.frame(1, dialogue.second, sealed: 0, at: 2)
        #expect(dialogue.verdict(at: 2) == .live)
        #expect(dialogue.classifier.counters.notThisStream == 1)
    }

    @Test func `what the device that was asked for has not signed is not used, and is named`() {
        let (requested, other) = ("sha256//wanted", "sha256//other")
        for (proof, words) in [
            (PublisherProof.none, "no device"), (.invalid, "does not hold"),
            (.device(fingerprint: other, signedAt: 1), other),
        ] {
            var dialogue = Dialogue(publisher: requested)
            #expect(dialogue.key(Dialogue.facts(), dialogue.first, publisher: proof) == false)
            #expect(dialogue.classifier.hasBegun && dialogue.verdict(at: 1) == .notThisPublisher)
            #expect(dialogue.classifier.verdict(at: 1).reason?.contains(words) == true)
            #expect(
                dialogue.classifier.counters.notThisPublisher == 1 && dialogue.classifier.counters.notThisStream == 0)
            // The genuine one comes.
            let genuine = PublisherProof.device(fingerprint: requested, signedAt: 1)
            #expect(dialogue.key(Dialogue.facts(), dialogue.second, publisher: genuine) == true)
            dialogue.frame(1, dialogue.second, sealed: 0, at: 2)
            #expect(dialogue.verdict(at: 2) == .live)
            #expect(dialogue.classifier.publisher == .device(fingerprint: requested, signedAt: 1))
        }
        // A KAS that says nothing at all.
        var dialogue = Dialogue(publisher: requested)
        #expect(dialogue.key(nil) == false)
    }

    @Test func `who asks for no device learns what does not hold, and sees the stream`() {
        for (proof, verdict) in [
            (PublisherProof.none, ViewerStatistics.Verdict.live), (.device(fingerprint: "d", signedAt: 1), .live),
            (.invalid, .unverified),
        ] {
            var dialogue = Dialogue()
            #expect(dialogue.key(Dialogue.facts(), dialogue.first, publisher: proof) == true)
            #expect(dialogue.classifier.publisher == nil)
            dialogue.frame(1, sealed: 0, at: 1)
            #expect(dialogue.verdict(at: 1) == verdict && dialogue.classifier.publisher == proof)
        }
    }

    @Test(arguments: ["Door", "door ", "doo", "", "do\u{6F}\u{0072}x"])
    func `names of streams are compared as bytes`(name: String) {
        var dialogue = Dialogue()
        #expect(dialogue.key(Dialogue.facts(name)) == false)
    }

    @Test func `two spellings of one letter are two streams`() {
        var classifier = StreamClassifier(.init(stream: "caf\u{E9}"))
        #expect(classifier.keyArrived(Dialogue.facts("cafe\u{301}"), forHeader: [1], receivedAt: 0) == false)
        #expect(classifier.keyArrived(Dialogue.facts("caf\u{E9}"), forHeader: [1], receivedAt: 0) == true)
    }

    @Test func `what was sealed more than 15 s ago is stale, by the KAS's clock and not by ours`() {
        var dialogue = Dialogue()
        dialogue.classifier.clockReads(epoch - 86_400_000, at: 0)
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: -15, at: 1)
        #expect(dialogue.verdict(at: 1) == .live)
        dialogue.frame(2, sealed: -16, at: 2)
        #expect(dialogue.verdict(at: 2) == .stale)
        #expect(!dialogue.classifier.isShowable(at: 2))
        #expect(dialogue.classifier.verdict(at: 2).age == 16_000)
    }

    @Test func `a machine that slept does not take what it missed for live`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: second)
        #expect(dialogue.verdict(at: second) == .live)
        // An hour by the KAS's time, none by the clock of this process: a relay goes on where it was.
        dialogue.classifier.slept(milliseconds: 3_600_000)
        dialogue.frame(2, sealed: 1, at: 2 * second)
        #expect(dialogue.verdict(at: 2 * second) == .stale)
        dialogue.frame(3, sealed: 3601, at: 3 * second)
        #expect(dialogue.verdict(at: 3 * second) == .live)
    }

    @Test func `frames without encryption are not called live, also after sealed ones`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: second)
        dialogue.classifier.clearArrived(at: 2 * second)
        #expect(dialogue.classifier.verdict(at: 2 * second).reason == "frames come without encryption")
        dialogue.frame(2, sealed: 13, at: 13 * second)
        #expect(dialogue.verdict(at: 13 * second) == .live)
    }

    @Test func `a recording of yesterday is stale, or a recording where that is allowed, and never live`() {
        for (allowed, expected) in [(false, ViewerStatistics.Verdict.stale), (true, .recording)] {
            var dialogue = Dialogue(allowsRecording: allowed)
            dialogue.key(Dialogue.facts(newer: 1440))
            for step in 0..<50 as Range<Int64> {
                dialogue.frame(UInt32(step + 1), sealed: step - 86_400, at: UInt64(step) * second)
                #expect(dialogue.verdict(at: UInt64(step) * second) == expected)
                #expect(dialogue.classifier.isShowable(at: UInt64(step) * second) == allowed)
            }
        }
    }

    @Test func `when the notes stop and frames go on, the stream becomes stale`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: 0)
        dialogue.frame(2, at: 15 * second)
        #expect(dialogue.verdict(at: 15 * second) == .live)
        dialogue.frame(3, at: 16 * second)
        #expect(dialogue.verdict(at: 16 * second) == .stale)
    }

    @Test func `a camera whose clock is unset says so, and is stale only by its notes and by newer registrations`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts(newer: StreamClassifier.maxNewerRegistrations))
        dialogue.classifier.opened(1, in: dialogue.first, note: StreamNote(), isEmpty: false, at: 0)
        #expect(dialogue.verdict(at: 0) == .unverified)
        #expect(dialogue.classifier.verdict(at: 0).reason?.contains("clock is not set") == true)
        #expect(dialogue.classifier.isShowable(at: 0))
        dialogue.frame(2, at: 16 * second)
        #expect(dialogue.verdict(at: 16 * second) == .stale)

        var old = Dialogue()
        old.key(Dialogue.facts(newer: StreamClassifier.maxNewerRegistrations + 1))
        old.classifier.opened(1, in: old.first, note: StreamNote(), isEmpty: false, at: 0)
        #expect(old.verdict(at: 0) == .stale)
    }

    @Test func `a KAS and a publisher that know nothing of this play as before, and nothing is called live`() {
        var foreignKAS = Dialogue()
        foreignKAS.classifier.clockReads(epoch, at: 0)
        #expect(foreignKAS.key(nil) == true)
        foreignKAS.frame(1, sealed: 0, at: 1)
        #expect(foreignKAS.verdict(at: 1) == .unverified)
        // Its age is known nevertheless, by our own clock.
        foreignKAS.frame(2, sealed: -60, at: 2)
        #expect(foreignKAS.verdict(at: 2) == .stale)

        var otherPublisher = Dialogue()
        otherPublisher.key(Dialogue.facts())
        otherPublisher.frame(1, at: 1)
        #expect(otherPublisher.verdict(at: 3600 * second) == .unverified)
        #expect(otherPublisher.classifier.isShowable(at: 3600 * second))
        otherPublisher.classifier.streamEnded(at: 3600 * second)
        #expect(otherPublisher.classifier.counters.truncated == 0)
    }

    @Test func `a clock ahead of the KAS's is not called live either`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 3600, at: 1)
        #expect(dialogue.verdict(at: 1) == .unverified)
    }

    @Test func `a key that was asked for ahead does not make the KAS's clock stand still`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        // Received at 1 s, put to use at 60 s.
        dialogue.key(Dialogue.facts(at: second), dialogue.second, at: second)
        dialogue.frame(1, dialogue.second, sealed: 60, at: 60 * second)
        #expect(dialogue.classifier.verdict(at: 60 * second).age == 0)
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `a KAS whose time is invalid does not trap, and is not a clock`(time: Int64) {
        var dialogue = Dialogue()
        var facts = Dialogue.facts()
        facts.time = time
        dialogue.key(facts)
        dialogue.frame(1, sealed: 0, at: 1)
        #expect(dialogue.classifier.verdict(at: 2).age == nil)
        #expect(dialogue.verdict(at: 2) == .unverified)
    }

    @Test func `a changed order is the verdict for ten seconds`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: 0)
        dialogue.classifier.disordered(at: second)
        dialogue.frame(2, sealed: 10, at: 10 * second)
        #expect(dialogue.verdict(at: 11 * second - 1) == .disordered)
        #expect(dialogue.verdict(at: 11 * second) == .live)
    }

    // MARK: - Ends

    @Test func `a stream that ends with its end is whole, one without is truncated`() {
        for isWhole in [true, false] {
            var dialogue = Dialogue()
            dialogue.key(Dialogue.facts())
            dialogue.frame(1, sealed: 0, at: 0)
            if isWhole { dialogue.end(2, at: 1) }
            dialogue.classifier.streamEnded(at: 2)
            #expect(dialogue.classifier.counters.truncated == (isWhole ? 0 : 1))
            #expect(dialogue.verdict(at: 2) == (isWhole ? .live : .truncated))
            // Reported once.
            dialogue.classifier.finish(isStreamOver: true, at: 3)
            #expect(dialogue.classifier.counters.truncated == (isWhole ? 0 : 1))
        }
    }

    @Test func `an end in the middle does not count`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: 0)
        dialogue.end(2, at: 1)
        dialogue.frame(3, at: 2)
        dialogue.classifier.finish(isStreamOver: true, at: 3)
        #expect(dialogue.classifier.counters.truncated == 1)
    }

    @Test func `somebody who has seen enough misses no end`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: 0)
        dialogue.classifier.finish(isStreamOver: false, at: 3)
        #expect(dialogue.classifier.counters.truncated == 0)
    }

    @Test func `a connection that was lost for good leaves the stream without its end, one that comes back does not`() {
        for comesBack in [true, false] {
            var dialogue = Dialogue()
            dialogue.key(Dialogue.facts())
            dialogue.frame(1, sealed: 0, at: 0)
            dialogue.classifier.connectionLost(at: 1)
            dialogue.classifier.streamStarted(at: 2)
            if comesBack { dialogue.frame(9, sealed: 0, at: 3) }
            dialogue.classifier.finish(isStreamOver: false, at: 4)
            #expect(dialogue.classifier.counters.truncated == (comesBack ? 0 : 1))
        }
    }

    @Test func `a publisher in place of the one before, which said no end, is noticed`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: 0)
        dialogue.classifier.streamStarted(at: 1)
        #expect(dialogue.classifier.counters.truncated == 1)
        dialogue.key(Dialogue.facts(), dialogue.second)
        dialogue.frame(1, dialogue.second, sealed: 1, at: second)
        #expect(dialogue.verdict(at: second + 1) == .truncated)
        dialogue.frame(30, dialogue.second, sealed: 12, at: 12 * second)
        #expect(dialogue.verdict(at: 12 * second) == .live)
    }

    // MARK: - Collections

    /// 10 items of the first collection, then the second, whose note names the first.
    private func rotated(last: UInt32, seen: UInt32) -> Dialogue {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.key(Dialogue.facts(), dialogue.second)
        for counter in 1...seen { dialogue.frame(counter, sealed: 0, at: 0) }
        dialogue.frame(
            1, dialogue.second, sealed: 1, after: .init(headerHash: dialogue.first, lastCounter: last), at: second)
        return dialogue
    }

    @Test func `a rotation behind the last item is whole`() {
        var dialogue = rotated(last: 10, seen: 10)
        dialogue.classifier.timePassed(at: 10 * second)
        #expect(dialogue.classifier.counters.truncated == 0)
        #expect(dialogue.verdict(at: 4 * second) == .live)
    }

    @Test func `the last items of a collection that never come are noticed at the next`() {
        var dialogue = rotated(last: 10, seen: 7)
        dialogue.classifier.timePassed(at: 2 * second)
        #expect(dialogue.classifier.counters.truncated == 0)
        dialogue.classifier.timePassed(at: 3 * second)
        #expect(dialogue.classifier.counters.truncated == 1)
        #expect(dialogue.verdict(at: 3 * second) == .truncated)
    }

    @Test func `audio of the collection before that comes late is not missing`() {
        var dialogue = rotated(last: 10, seen: 9)
        dialogue.frame(10, at: 2 * second)
        dialogue.classifier.timePassed(at: 10 * second)
        #expect(dialogue.classifier.counters.truncated == 0)
    }

    @Test func `a whole collection that is left out is noticed, unless its key did not come`() {
        for keyFailed in [false, true] {
            var dialogue = Dialogue()
            dialogue.key(Dialogue.facts())
            dialogue.key(Dialogue.facts(), dialogue.third)
            if keyFailed { dialogue.classifier.headerArrived(dialogue.second) }
            dialogue.frame(1, sealed: 0, at: 0)
            dialogue.frame(
                1, dialogue.third, sealed: 1, after: .init(headerHash: dialogue.second, lastCounter: 5), at: second)
            #expect(dialogue.classifier.counters.truncated == (keyFailed ? 0 : 1))
        }
    }

    @Test func `who comes late misses nothing of before`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, after: .init(headerHash: dialogue.second, lastCounter: 900), at: 0)
        dialogue.classifier.timePassed(at: 10 * second)
        #expect(dialogue.classifier.counters.truncated == 0)
    }

    @Test func `what is graver is said first`() {
        var dialogue = Dialogue()
        dialogue.key(Dialogue.facts())
        dialogue.frame(1, sealed: 0, at: 0)
        dialogue.classifier.streamEnded(at: 1)
        #expect(dialogue.verdict(at: 2) == .truncated)
        dialogue.classifier.disordered(at: 2)
        #expect(dialogue.verdict(at: 2) == .disordered)
        #expect(dialogue.verdict(at: 16 * second) == .stale)
        dialogue.key(Dialogue.facts("hall"), dialogue.second)
        #expect(dialogue.verdict(at: 16 * second) == .notThisStream)
    }
}
