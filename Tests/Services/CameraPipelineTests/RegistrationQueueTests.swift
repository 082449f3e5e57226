import Cryptography
import Testing

@testable import CameraPipeline
@testable import NanoTDF

private final class NoProof: PossessionProof {
    func mac(of message: [UInt8]) -> [UInt8] { [] }
}

private func claim(_ number: Int) -> CollectionClaim {
    CollectionClaim(
        headerBytes: [], headerHash: [UInt8(number >> 8), UInt8(number & 0xFF)], proof: NoProof())
}

private func hash(_ number: Int) -> [UInt8] { claim(number).headerHash }

@Suite struct RegistrationQueueTests {
    @Test func `what viewers need now comes first, then the newest`() {
        var queue = RegistrationQueue()
        for number in 1...5 { queue.made(claim(number)) }
        #expect(!queue.isUrgent)
        queue.taken(hash(3))
        #expect(queue.isUrgent)
        var order: [[UInt8]] = []
        while let next = queue.next(at: 0) {
            order.append(next.headerHash)
            queue.settled(next.headerHash)
        }
        #expect(order == [3, 5, 4, 2, 1].map(hash))
        #expect(!queue.isUrgent && queue.count == 0)
    }

    @Test func `what was confirmed or discarded waits no more`() {
        var queue = RegistrationQueue()
        for number in 1...3 { queue.made(claim(number)) }
        let first = queue.settled(hash(2))
        let again = queue.settled(hash(2))
        #expect(first && !again)
        queue.discarded([hash(1), hash(3)])
        #expect(queue.next(at: 0) == nil)
    }

    @Test func `the oldest is forgotten, the one in use never`() {
        var queue = RegistrationQueue()
        queue.made(claim(0))
        queue.taken(hash(0))
        for number in 1...1000 { queue.made(claim(number)) }
        #expect(queue.count == RegistrationQueue.limit)
        #expect(queue.next(at: 0)?.headerHash == hash(0))
        queue.settled(hash(0))
        #expect(queue.next(at: 0)?.headerHash == hash(1000))
    }

    @Test func `one that is refused holds up no other, and is asked for again while it is of use`() {
        var queue = RegistrationQueue()
        for number in 1...3 { queue.made(claim(number)) }
        queue.taken(hash(1))
        queue.refused(hash(1), at: 100)
        #expect(!queue.isUrgent)
        #expect(queue.next(at: 100)?.headerHash == hash(3))
        queue.refused(hash(3), at: 100)
        queue.settled(hash(2))
        #expect(queue.next(at: 100) == nil && queue.count == 2)
        #expect(queue.next(at: 100 + RegistrationQueue.secondThoughts)?.headerHash == hash(1))
        // Over: nothing needs it any more.
        queue.taken(hash(3))
        #expect(queue.count == 1)
        #expect(queue.next(at: 100 + RegistrationQueue.secondThoughts)?.headerHash == hash(3))
    }
}
