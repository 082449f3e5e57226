import Cryptography
import NanoTDFCryptography
import TestSupport
import Testing

@testable import NanoTDF

private let millisecond: UInt64 = 1_000_000
private let oneSecond: UInt64 = 1_000_000_000

/// One viewer of one station, with the dialogue in short form.
private struct Viewer: ~Copyable {
    let station: Station
    var opener: StreamOpener<String>

    init(_ configure: (inout StreamOpener<String>.Configuration) -> Void = { _ in }) throws {
        station = try Station()
        var configuration = StreamOpener<String>.Configuration()
        configure(&configuration)
        opener = StreamOpener(crypto: OpenSSLCrypto(), configuration: configuration)
    }

    mutating func announce(_ sealer: CollectionSealer, at now: UInt64 = 0) -> StreamOpener<String>.HeaderDecision {
        opener.headerArrived(sealer.headerBytes, at: now)
    }

    mutating func giveKey(_ sealer: CollectionSealer, at now: UInt64 = 0) throws -> [String] {
        opener.keyArrived(try station.key(for: sealer), forHeader: sealer.headerHash, at: now).map(\.context)
    }

    /// Announces a collection and gives its key.
    mutating func begin(at now: UInt64 = 0) throws -> CollectionSealer {
        let sealer = try station.collection()
        guard case .requestKey = announce(sealer, at: now) else { throw Unexpected() }
        guard try giveKey(sealer, at: now).isEmpty else { throw Unexpected() }
        return sealer
    }

    /// "opened", "held", or why it was dropped.
    mutating func open(
        _ item: [UInt8], _ name: String = "", _ medium: ItemMedium = .video, at now: UInt64 = 0
    ) -> String {
        switch opener.open(item[...], medium: medium, context: name, at: now) {
        case .opened: "opened"
        case .held: "held"
        case .dropped(.malformed): "malformed"
        case .dropped(.noKey): "no key"
        case .dropped(.authenticationFailed): "not authentic"
        case .dropped(.replayed): "replayed"
        case .dropped(.disordered): "disordered"
        }
    }

    struct Unexpected: Error {}
}

@Suite struct StreamOpenerTests {
    @Test func `of two forms that something can have, the one that authenticates is taken, once`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.begin()
        let first = try sealer.sealed([1, 2])
        let other: [UInt8] = [0, 0, 9, 0, 0, 17] + [UInt8](repeating: 7, count: 17)
        func open(_ item: [UInt8], orElse other: [UInt8], _ viewer: inout Viewer) -> UInt32? {
            switch viewer.opener.open(item[...], orElse: other[...], medium: .video, context: "", at: 0) {
            case .opened(let opened): opened.counter
            case .held, .dropped: nil
            }
        }
        #expect(open(first, orElse: other, &viewer) == 1)
        #expect(open(other, orElse: try sealer.sealed([3]), &viewer) == 2)
        // Both are authentic only when they are two items; then the first is taken, and the other is still new.
        let (third, fourth) = (try sealer.sealed([4]), try sealer.sealed([5]))
        #expect(open(third, orElse: fourth, &viewer) == 3)
        #expect(viewer.open(fourth) == "opened")
        #expect(open(third, orElse: fourth, &viewer) == nil && open(other, orElse: third, &viewer) == nil)
        let counters = viewer.opener.counters
        #expect(counters.opened == 4 && counters.replayed == 2 && counters.gaps == 0)
        for broken in [[], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
            #expect(open(other, orElse: broken, &viewer) == nil)
        }
        #expect(open(other, orElse: try sealer.sealed([6]), &viewer) == 5)
    }

    @Test func `an item opens with its context, counter and collection`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.begin()
        let item = try sealer.sealed([1, 2])
        guard case .opened(let opened) = viewer.opener.open(item[...], medium: .audio, context: "a", at: 0) else {
            Issue.record("not opened")
            return
        }
        #expect(
            opened
                == OpenedItem(
                    plaintext: [1, 2], counter: 1, collection: sealer.headerHash, medium: .audio, context: "a"))
    }

    @Test func `a header is asked for once`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        #expect(viewer.announce(sealer) == .requestKey(header: sealer.headerBytes, hash: sealer.headerHash))
        #expect(viewer.announce(sealer) == .duplicate)
        #expect(try viewer.giveKey(sealer).isEmpty)
        #expect(viewer.announce(sealer) == .duplicate)
        #expect(try viewer.giveKey(sealer).isEmpty)
    }

    @Test func `after a failure the same header is worth a new request`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        _ = viewer.announce(sealer)
        #expect(viewer.opener.keyFailed(forHeader: sealer.headerHash, at: 0).isEmpty)
        #expect(viewer.announce(sealer) == .requestKey(header: sealer.headerBytes, hash: sealer.headerHash))
    }

    @Test func `four new headers a second are looked at`() throws {
        var viewer = try Viewer()
        for _ in 0..<4 {
            guard case .requestKey = viewer.announce(try viewer.station.collection(), at: 5) else {
                Issue.record("refused too early")
                return
            }
        }
        let fifth = try viewer.station.collection()
        #expect(viewer.announce(fifth, at: 5) == .rateLimited)
        #expect(viewer.announce(fifth, at: oneSecond + 4) == .rateLimited)
        guard case .requestKey = viewer.announce(fifth, at: oneSecond + 5) else {
            Issue.record("the second is over")
            return
        }
        #expect(viewer.opener.counters.headersIgnored == 2)
    }

    @Test func `a broken header and a short tag are refused and counted`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        #expect(viewer.opener.headerArrived([1, 2, 3], at: 0) == .invalid(.invalid(.magic, offset: 0)))
        var short = sealer.headerBytes
        let cipher = 3 + 2 + "kas.example.net/kas".utf8.count + 1
        short[cipher] = 0
        #expect(viewer.opener.headerArrived(short, at: 0) == .invalid(.unsupported(.shortTag(8))))
        #expect(viewer.opener.counters.headersInvalid == 2)
        short[cipher] = 1
        guard case .requestKey = viewer.opener.headerArrived(short, at: 0) else {
            Issue.record("12 bytes are accepted")
            return
        }
        var lenient = try Viewer { $0.allowsShortTags = true }
        short[cipher] = 0
        guard case .requestKey = lenient.opener.headerArrived(short, at: 0) else {
            Issue.record("allowed")
            return
        }
    }

    @Test(arguments: Vectors.collectionFiles)
    func `a live stream of every writer opens, with its rule found once`(file: String) throws {
        let entries = try Vectors.collection(file).entries()
        var opener = StreamOpener<Int>(crypto: OpenSSLCrypto())
        for (index, entry) in entries.enumerated() {
            // otdf-python writes one header for each item.
            let now = UInt64(index) * oneSecond
            if case .requestKey(_, let hash) = opener.headerArrived(entry.headerBytes, at: now) {
                #expect(opener.keyArrived(entry.key, forHeader: hash, at: now).isEmpty)
            }
            guard case .opened(let item) = opener.open(entry.wire[...], medium: .video, context: index, at: now) else {
                Issue.record("item \(index)")
                continue
            }
            #expect(item.plaintext == entry.plaintext)
        }
        if file != Vectors.otdfPython { #expect(opener.counters.opens <= UInt64(entries.count) + 2) }
    }

    @Test func `a publisher may change its nonce rule at a rotation`() throws {
        var opener = StreamOpener<Int>(crypto: OpenSSLCrypto())
        for file in [Vectors.opentdfkitD8, Vectors.opentdfkitHead, Vectors.webSDK] {
            let entries = try Vectors.collection(file).entries()
            guard case .requestKey(_, let hash) = opener.headerArrived(entries[0].headerBytes, at: 0) else {
                Issue.record("\(file): no key is requested")
                continue
            }
            // The key is late: everything is held, and the rule is found on the first held item.
            for (index, entry) in entries.enumerated() {
                guard case .held = opener.open(entry.wire[...], medium: .video, context: index, at: 0) else {
                    Issue.record("\(file), item \(index)")
                    continue
                }
            }
            let opened = opener.keyArrived(entries[0].key, forHeader: hash, at: 0)
            #expect(opened.map(\.plaintext) == entries.map(\.plaintext))
            #expect(opened.map(\.context) == Array(entries.indices))
        }
        #expect(opener.counters.opened == 15 && opener.counters.gaps == 0)
    }

    @Test func `items that came before their key come out in order with it`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        let items = try ["a", "b", "c"].map { ($0, try sealer.sealed(Array($0.utf8))) }
        #expect(viewer.open(items[0].1, "a") == "held")
        _ = viewer.announce(sealer)
        for (name, item) in items[1...] { #expect(viewer.open(item, name) == "held") }
        #expect(try viewer.giveKey(sealer) == ["a", "b", "c"])
        #expect(viewer.opener.heldItemCount == 0)
        #expect(viewer.opener.counters.opened == 3)
        #expect(viewer.open(try sealer.sealed([]), "d") == "opened")
    }

    @Test func `a rotation whose key is late loses nothing`() throws {
        var viewer = try Viewer { $0.hold = HoldLimits(items: 512, duration: 5 * oneSecond, bytes: 16 << 20) }
        let first = try viewer.begin()
        let last = try first.sealed([1])
        #expect(viewer.open(try first.sealed([0])) == "opened")
        let second = try viewer.station.collection()
        _ = viewer.announce(second, at: 1)
        // Audio of the old collection that was behind the header.
        #expect(viewer.open(last, "", .audio, at: 1) == "opened")
        for index in 0..<400 {
            #expect(viewer.open(try second.sealed([2]), "\(index)", at: UInt64(index) * millisecond) == "held")
        }
        #expect(try viewer.giveKey(second, at: 500 * millisecond) == (0..<400).map(String.init))
        #expect(viewer.opener.counters.gaps == 0)
        #expect(viewer.opener.counters.noKey == 0)
    }

    @Test func `order holds when two keys come the wrong way round`() throws {
        var viewer = try Viewer()
        let first = try viewer.station.collection()
        let second = try viewer.station.collection()
        _ = viewer.announce(first)
        #expect(viewer.open(try first.sealed([1]), "1a") == "held")
        _ = viewer.announce(second)
        #expect(viewer.open(try second.sealed([2]), "2a") == "held")
        #expect(try viewer.giveKey(second).isEmpty)
        #expect(viewer.open(try second.sealed([2]), "2b") == "held")
        #expect(try viewer.giveKey(first) == ["1a", "2a", "2b"])
        #expect(viewer.open(try second.sealed([2]), "2c") == "opened")
        #expect(viewer.opener.counters.gaps == 0)
    }

    @Test func `a key that fails lets later items go`() throws {
        var viewer = try Viewer()
        let first = try viewer.station.collection()
        let second = try viewer.station.collection()
        _ = viewer.announce(first)
        #expect(viewer.open(try first.sealed([1]), "1a") == "held")
        _ = viewer.announce(second)
        #expect(viewer.open(try second.sealed([2]), "2a") == "held")
        #expect(try viewer.giveKey(second).isEmpty)
        #expect(viewer.opener.keyFailed(forHeader: first.headerHash, at: 0).map(\.context) == ["2a"])
        #expect(viewer.opener.timePassed(at: 500 * millisecond).isEmpty)
        #expect(viewer.opener.heldItemCount == 0)
        #expect(viewer.opener.counters.noKey == 1)
    }

    @Test func `held items are bounded in number, bytes and time`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        _ = viewer.announce(sealer)
        for index in 0..<32 { #expect(viewer.open(try sealer.sealed([1]), at: UInt64(index) * millisecond) == "held") }
        #expect(viewer.open(try sealer.sealed([1]), at: 32 * millisecond) == "no key")
        #expect(viewer.opener.nextDeadline == 500 * millisecond)
        #expect(viewer.opener.timePassed(at: 499 * millisecond).isEmpty)
        #expect(viewer.opener.heldItemCount == 32)
        _ = viewer.opener.timePassed(at: 500 * millisecond)
        #expect(viewer.opener.heldItemCount == 31)
        _ = viewer.opener.timePassed(at: 10 * oneSecond)
        #expect(viewer.opener.heldItemCount == 0)
        #expect(viewer.opener.counters.noKey == 33)
        #expect(viewer.opener.nextDeadline == nil)

        var tight = try Viewer { $0.hold = HoldLimits(bytes: 100) }
        let other = try tight.station.collection()
        _ = tight.announce(other)
        #expect(tight.open(try other.sealed([UInt8](repeating: 0, count: 60))) == "held")
        #expect(tight.open(try other.sealed([])) == "no key")
    }

    @Test func `the old key lives two seconds after the first new item, then never again`() throws {
        var viewer = try Viewer()
        let old = try viewer.begin()
        let late = try (0..<3).map { try old.sealed([UInt8($0)]) }
        #expect(viewer.open(late[0]) == "opened")
        let new = try viewer.begin(at: oneSecond)
        // The overlap begins with the first item, not with the key.
        #expect(viewer.open(late[1], at: 60 * oneSecond) == "opened")
        #expect(viewer.open(try new.sealed([9]), at: 61 * oneSecond) == "opened")
        #expect(viewer.opener.nextDeadline == 63 * oneSecond)
        #expect(viewer.open(late[2], "", .audio, at: 63 * oneSecond - 1) == "opened")
        #expect(viewer.open(try old.sealed([5]), at: 63 * oneSecond) == "held")
        #expect(viewer.opener.nextDeadline == 63 * oneSecond + 500 * millisecond)
        _ = viewer.opener.timePassed(at: 64 * oneSecond)
        #expect(viewer.opener.counters.authenticationFailed == 1)
        // A relay that plays the old header again does not get its key asked for.
        #expect(viewer.announce(old, at: 70 * oneSecond) == .duplicate)
    }

    @Test func `repeats and counter 0 are refused and counted`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.begin()
        let items = try (0..<70).map { try sealer.sealed([UInt8($0)]) }
        #expect(viewer.open(items[0]) == "opened")
        #expect(viewer.open(items[0]) == "replayed")
        #expect(viewer.open(items[69]) == "opened")
        #expect(viewer.open(items[5], "", .audio) == "disordered")
        #expect(viewer.open(items[6], "", .audio) == "opened")
        #expect(viewer.open(items[6], "", .audio) == "replayed")
        #expect(viewer.open([0, 0, 0] + items[1][3...]) == "malformed")
        #expect(viewer.opener.counters.replayed == 2)
        #expect(viewer.opener.counters.gaps == 70 - 3)
        #expect(viewer.opener.counters.malformed == 1)
    }

    @Test func `gaps are exact when audio and video change places`() throws {
        var viewer = try Viewer()
        let first = try viewer.begin()
        let items = try (0..<6).map { _ in try first.sealed([]) }
        for index in [0, 2, 1, 5] { #expect(viewer.open(items[index], "", index == 1 ? .audio : .video) == "opened") }
        #expect(viewer.opener.counters.gaps == 2)
        let next = try viewer.begin()
        _ = try next.sealed([])
        #expect(viewer.open(try next.sealed([])) == "opened")
        // The first item of a collection that was followed from its header on is missed.
        #expect(viewer.opener.counters.gaps == 3)
    }

    @Test func `a damaged item in mid-stream is dropped at once, an early one when its time is over`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.begin()
        for _ in 0..<40 { #expect(viewer.open(try sealer.sealed([1])) == "opened") }
        var item = try sealer.sealed([1])
        item[6] ^= 1
        #expect(viewer.open(item) == "not authentic")
        var early = try viewer.station.collection().sealed([1])
        early[6] ^= 1
        #expect(viewer.open(early) == "held")
        _ = viewer.opener.timePassed(at: oneSecond)
        #expect(viewer.opener.counters.authenticationFailed == 2)
        #expect(viewer.open(try sealer.sealed([1])) == "opened")
        #expect(viewer.opener.counters.gaps == 1)
    }

    @Test func `audio under a key whose header is still behind it is not lost`() throws {
        var viewer = try Viewer()
        let first = try viewer.begin()
        for _ in 0..<50 { #expect(viewer.open(try first.sealed([1])) == "opened") }
        let next = try viewer.station.collection()
        #expect(viewer.open(try next.sealed([2]), "early audio") == "held")
        _ = viewer.announce(next)
        #expect(try viewer.giveKey(next) == ["early audio"])
    }

    @Test func `opens per item are bounded`() throws {
        var viewer = try Viewer()
        let sealers = try (0..<3).map { _ in try viewer.begin() }
        let stranger = try viewer.station.collection()
        #expect(viewer.open(try stranger.sealed([1])) == "held")
        #expect(viewer.opener.counters.opens == 9)
        #expect(viewer.open(try sealers[2].sealed([1])) == "opened")
        let start = viewer.opener.counters.opens
        for _ in 0..<100 { #expect(viewer.open(try sealers[2].sealed([1])) == "opened") }
        #expect(viewer.opener.counters.opens == start + 100)
    }

    @Test func `a rotation costs few opens`() throws {
        var viewer = try Viewer()
        var items: UInt64 = 0
        for rotation in 0..<20 as Range<UInt64> {
            let sealer = try viewer.begin(at: rotation * 3 * oneSecond)
            for _ in 0..<100 {
                #expect(viewer.open(try sealer.sealed([1]), at: rotation * 3 * oneSecond) == "opened")
                items += 1
            }
        }
        #expect(Double(viewer.opener.counters.opens) <= 1.1 * Double(items))
        #expect(viewer.opener.counters.gaps == 0)
    }

    @Test func `a wrong key opens nothing and is not fatal`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        _ = viewer.announce(sealer)
        #expect(viewer.open(try sealer.sealed([1]), "a") == "held")
        let wrong = try viewer.station.key(for: try viewer.station.collection())
        #expect(viewer.opener.keyArrived(wrong, forHeader: sealer.headerHash, at: 0).isEmpty)
        let next = try viewer.begin()
        #expect(viewer.open(try next.sealed([1])) == "opened")
    }

    @Test func `an unrequested key is ignored`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        #expect(try viewer.giveKey(sealer).isEmpty)
        #expect(viewer.open(try sealer.sealed([1])) == "held")
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `any bytes and any order of events leave the opener whole`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var viewer = try Viewer()
        var sealers = [try viewer.begin()]
        var now: UInt64 = 0
        var sent: UInt64 = 0
        for _ in 0..<300 {
            now += UInt64.random(in: 0...(200 * millisecond), using: &generator)
            let sealer = sealers[Int.random(in: sealers.indices, using: &generator)]
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                sealers.append(try viewer.station.collection())
                _ = viewer.announce(sealers[sealers.count - 1], at: now)
            case 1: _ = try viewer.giveKey(sealer, at: now)
            case 2: _ = viewer.opener.keyFailed(forHeader: sealer.headerHash, at: now)
            case 3: _ = viewer.opener.timePassed(at: now)
            case 4:
                _ = viewer.open(generator.bytes(Int.random(in: 0..<40, using: &generator)), at: now)
                sent += 1
            case 5:
                var item = try sealer.sealed([1, 2, 3])
                item[Int.random(in: item.indices, using: &generator)] ^= 0x10
                _ = viewer.open(item, at: now)
                sent += 1
            default:
                _ = viewer.open(try sealer.sealed([1, 2, 3]), at: now)
                sent += 1
            }
            #expect(viewer.opener.heldItemCount <= 32)
        }
        _ = viewer.opener.timePassed(at: .max)
        let counters = viewer.opener.counters
        #expect(viewer.opener.heldItemCount == 0)
        #expect(
            counters.opened + counters.noKey + counters.authenticationFailed + counters.replayed + counters.disordered
                + counters.malformed == sent)
    }

    @Test func `items that a relay has shuffled are dropped and counted, and stay missing`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.begin()
        let items = try (0..<9).map { try sealer.sealed([UInt8($0)]) }
        // Audio (5) and video change places; 3 and 6 come behind video that was sealed after them.
        let order: [(Int, ItemMedium, String)] = [
            (0, .video, "opened"), (1, .video, "opened"), (4, .video, "opened"), (3, .video, "disordered"),
            (7, .video, "opened"), (5, .audio, "opened"), (6, .video, "disordered"), (8, .video, "opened"),
        ]
        for (index, medium, result) in order { #expect(viewer.open(items[index], "", medium) == result, "\(index)") }
        let counters = viewer.opener.counters
        #expect(counters.disordered == 2)
        #expect(counters.opened == 6)
        #expect(counters.gaps == 3)
    }

    @Test func `a frame of the collection before never comes behind one of the new, audio may`() throws {
        var viewer = try Viewer()
        let first = try viewer.begin()
        let late = try (0..<2).map { try first.sealed([UInt8($0)]) }
        #expect(viewer.open(try first.sealed([9])) == "opened")
        let second = try viewer.begin()
        #expect(viewer.open(try second.sealed([1])) == "opened")
        #expect(viewer.open(late[1], "", .audio) == "opened")
        #expect(viewer.open(try first.sealed([8])) == "disordered")
        #expect(viewer.opener.counters.disordered == 1)
        #expect(viewer.opener.counters.opened == 3)
    }

    @Test func `a header of a thousand rotations ago does not come back`() throws {
        var viewer = try Viewer()
        let first = try viewer.begin()
        #expect(viewer.open(try first.sealed([1])) == "opened")
        for rotation in 1..<1000 as Range<UInt64> {
            let sealer = try viewer.begin(at: rotation * 60 * oneSecond)
            #expect(viewer.open(try sealer.sealed([1]), at: rotation * 60 * oneSecond) == "opened")
        }
        #expect(viewer.announce(first, at: 70_000 * oneSecond) == .duplicate)
    }

    @Test func `of past headers the newest ten thousand are remembered`() {
        var retired = RetiredHeaders()
        func hash(_ number: Int) -> [UInt8] { Digest.sha256(Array("\(number)".utf8)) }
        for number in 0..<(RetiredHeaders.limit + 100) { retired.insert(hash(number)) }
        #expect(!retired.contains(hash(99)))
        #expect(retired.contains(hash(100)))
        #expect(retired.contains(hash(RetiredHeaders.limit + 99)))
    }

    @Test func `headers that a relay makes up do not push the genuine one out`() throws {
        var viewer = try Viewer()
        let genuine = try viewer.station.collection()
        _ = viewer.announce(genuine)
        for second in 0..<5 as Range<UInt64> {
            for _ in 0..<4 { _ = viewer.announce(try viewer.station.collection(), at: second * oneSecond) }
        }
        _ = try viewer.giveKey(genuine, at: 5 * oneSecond)
        #expect(viewer.open(try genuine.sealed([1]), at: 5 * oneSecond) == "opened")
    }

    @Test func `of headers that wait those that were refused give way first`() throws {
        var viewer = try Viewer()
        let headers = try (0..<9).map { _ in try viewer.station.collection() }
        for (index, header) in headers[..<8].enumerated() { _ = viewer.announce(header, at: UInt64(index) * oneSecond) }
        viewer.opener.keyRefused(forHeader: headers[3].headerHash)
        _ = viewer.announce(headers[8], at: 9 * oneSecond)
        #expect(viewer.announce(headers[7], at: 10 * oneSecond) == .duplicate)
        guard case .requestKey = viewer.announce(headers[3], at: 10 * oneSecond) else {
            Issue.record("the one that was refused still waits")
            return
        }
    }

    @Test func `a key that was discarded is not requested again`() throws {
        var viewer = try Viewer()
        let sealer = try viewer.station.collection()
        _ = viewer.announce(sealer)
        #expect(viewer.opener.keyDiscarded(forHeader: sealer.headerHash).isEmpty)
        #expect(viewer.announce(sealer, at: oneSecond) == .duplicate)
    }
}
