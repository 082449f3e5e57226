import CameraModel
import Media
import NanoTDF
import Synchronization
import Testing

@testable import CameraPipeline

private let second: UInt64 = 1_000_000_000

/// A supply with a sealer behind it, and a clock that the test sets.
private final class SupplyRig: Sendable {
    let authority: TestAuthority
    let sealer = Mutex(StreamSealer())
    let clock = Mutex(10_000 * second)
    private let looks: AsyncStream<CollectionSupply.Stock>
    private let look: AsyncStream<CollectionSupply.Stock>.Continuation

    init(registers: Bool) throws {
        authority = try TestAuthority(registersHeaders: true)
        authority.setRefusesHeaders(!registers)
        (looks, look) = AsyncStream.makeStream()
    }

    func supply() -> CollectionSupply {
        CollectionSupply(
            settings: CollectionSupply.Settings(configuration(port: 1)), authority: authority, logger: quiet,
            now: { self.clock.withLock { $0 } },
            stock: { madeBefore in
                let stock = self.sealer.withLock { sealer in
                    let discarded = sealer.discardPrepared(madeBefore: madeBefore)
                    return CollectionSupply.Stock(ready: sealer.preparedCount, discarded: discarded)
                }
                self.look.yield(stock)
                return stock
            },
            report: { report in
                if case .collection(let collection) = report { self.sealer.withLock { _ = $0.offer(collection) } }
            })
    }

    func advance(_ seconds: UInt64) {
        clock.withLock { $0 += seconds * second }
    }

    /// Waits until the supply is content.
    /// - Returns: how many collections were too old since the last time.
    func settled() async -> Int {
        var discarded = 0
        for await stock in looks {
            discarded += stock.discarded.count
            if stock.ready == 3 { break }
        }
        return discarded
    }
}

@Suite(.timeLimit(.minutes(15))) struct CollectionSupplyTests {
    @Test(arguments: [true, false])
    func `a collection that has waited for an hour is replaced`(registers: Bool) async throws {
        let rig = try SupplyRig(registers: registers)
        let supply = rig.supply()
        let running = Task { await supply.run() }
        #expect(await rig.settled() == 0)
        // Until the next look, 300 s later, it is not yet an hour.
        rig.advance(3300)
        supply.collectionTaken([])
        #expect(await rig.settled() == 0)
        rig.advance(1)
        supply.collectionTaken([])
        #expect(await rig.settled() == 3)
        #expect(rig.sealer.withLock { $0.discardPrepared(madeBefore: 13_301 * second) }.isEmpty)
        // Nothing needs the headers of those that were never used.
        #expect(supply.unregisteredCount == (registers ? 0 : 3))
        #expect(rig.authority.registered.count == (registers ? 6 : 0))
        running.cancel()
        await running.value
    }

    @Test(arguments: [(60.0, 86_580), (0.5, 86_402), (86_400, 345_600), (1_000_000, 604_800)])
    func `a header is registered for a day and three rotations, a week at most`(
        rotation: Double, lifetime: Int
    ) async throws {
        let settings = CollectionSupply.Settings(configuration(port: 1) { $0.rotation.seconds = rotation })
        #expect(settings.lifetime == .seconds(lifetime))
    }

    @Test func `the KAS is given the lifetime`() async throws {
        let rig = try SupplyRig(registers: true)
        let supply = rig.supply()
        let running = Task { await supply.run() }
        _ = await rig.settled()
        #expect(rig.authority.lifetimes == [.seconds(86_580)])
        running.cancel()
        await running.value
    }

    @Test func `after an outage the header in use is the first to be registered`() async throws {
        let rig = try SupplyRig(registers: false)
        let supply = rig.supply()
        let running = Task { await supply.run() }
        _ = await rig.settled()
        // Three rotations in the outage.
        var used: [[UInt8]] = []
        for _ in 0..<3 {
            used.append(try #require(rig.sealer.withLock { takeNext(&$0) }))
            supply.collectionTaken(used[used.count - 1])
            _ = await rig.settled()
        }
        #expect(supply.unregisteredCount == 6)
        rig.authority.setRefusesHeaders(false)
        await rig.authority.registered(6)
        #expect(rig.authority.order.first == used.last)
        running.cancel()
        await running.value
    }

    @Test func `a header that is refused for good holds up no other`() async throws {
        let rig = try SupplyRig(registers: false)
        let supply = rig.supply()
        let running = Task { await supply.run() }
        _ = await rig.settled()
        let refused = try #require(rig.sealer.withLock { takeNext(&$0) })
        rig.authority.refuse(refused)
        supply.collectionTaken(refused)
        _ = await rig.settled()
        rig.authority.setRefusesHeaders(false)
        await rig.authority.registered(3)
        #expect(!rig.authority.registered.contains(refused))
        // The authority has it before the supply hears of it.
        while supply.unregisteredCount > 1 { try await Task.sleep(for: .milliseconds(10)) }
        running.cancel()
        await running.value
    }

    @Test func `pauses between requests to a KAS double up to their limit`() {
        let range = Duration.milliseconds(500)...(.seconds(15))
        #expect(
            (1...7).map { CollectionSupply.delay(after: $0, in: range) / .milliseconds(1) }
                == [500, 1000, 2000, 4000, 8000, 15_000, 15_000])
        #expect(CollectionSupply.delay(after: .max, in: range) == .seconds(15))
    }
}

/// Takes the next collection as a reconnect does.
/// - Returns: the hash of its header.
private func takeNext(_ sealer: inout StreamSealer) -> [UInt8]? {
    sealer.begin()
    _ = sealer.seal(.videoFormat(videoFormat), at: 0)
    _ = sealer.seal(video(0, key: true), at: 0)
    return sealer.currentCollection?.sealer.headerHash
}
