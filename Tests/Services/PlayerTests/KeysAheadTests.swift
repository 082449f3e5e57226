import Testing

@testable import KeyAccessClient
@testable import Player

private let second: UInt64 = 1_000_000_000

@Suite struct KeysAheadTests {
    private func grant() throws -> CollectionGrant { CollectionGrant(key: try SealedStream.Collection().key) }

    @Test(
        arguments: [(60.0, 30), (10, 5), (86_400, 30), (0.001, 0.5), (.infinity, 30), (.nan, 30)] as [(Double, Double)])
    func `the moment is anywhere within half of a rotation, and within 30 s`(rotation: Double, most: Double) {
        var delays: [UInt64] = []
        for random in [0, .max / 3, .max / 2, .max - 1, .max] as [UInt64] {
            var keys = KeysAhead()
            delays += [keys.announced([1], rotation: rotation, at: 0, random: random)].compactMap(\.self)
        }
        #expect(delays.count == 5)
        #expect(delays.allSatisfy { $0 <= UInt64(most * 1e9) })
        #expect(Set(delays).count > 2)
    }

    @Test func `a key is kept aside, given once, and its moment remembered`() throws {
        var keys = KeysAhead()
        _ = keys.announced([1], rotation: 60, at: 0, random: 0)
        keys.arrived(try grant(), forHeader: [1], at: 7)
        #expect(keys.announced([1], rotation: 60, at: second, random: 0) == nil)
        #expect(keys.take([2]) == nil)
        #expect(keys.take([1])?.receivedAt == 7)
        #expect(keys.take([1]) == nil)
    }

    @Test func `a collection that was announced and made void costs nothing`() throws {
        var keys = KeysAhead()
        for number in 0..<10 as Range<UInt8> {
            #expect(keys.announced([number], rotation: 60, at: UInt64(number) * second, random: 0) != nil)
            keys.arrived(try grant(), forHeader: [number], at: 0)
        }
        #expect(keys.take([7]) == nil)
        #expect(keys.take([8]) != nil)
        #expect(keys.take([9]) != nil)
        // One that is no longer waited for.
        keys.arrived(try grant(), forHeader: [3], at: 0)
        #expect(keys.take([3]) == nil)
    }

    @Test func `a relay that announces without end does not make us ask without end`() {
        var keys = KeysAhead()
        var asked = 0
        for number in 0..<1000 as Range<UInt64> {
            let hash = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            if keys.announced(hash, rotation: 1, at: number * 1_000_000, random: 0) != nil { asked += 1 }
        }
        #expect(asked == 4)
    }
}
