import Testing

@testable import RTMP

struct StrangerMemoryTests {
    /// The attack: as many chunk streams as may be, each with the beginning of a message that never ends.
    @Test(arguments: [ChunkLimits.unauthenticated, .player], [16, 100, 2000])
    func `unfinished messages hold at most 64 KiB, however they are cut`(limits: ChunkLimits, size: Int) {
        let length = limits.messageLength
        var bytes: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, UInt8(size >> 8), UInt8(size & 255)]
        for round in 0...limits.partialBytes / size / 7 {
            for stream in UInt8(10)..<17 {
                bytes +=
                    round == 0
                    ? [stream, 0, 0, 0, 0, UInt8(length >> 8), UInt8(length & 255), 20, 0, 0, 0, 0] : [0xC0 | stream]
                bytes += [UInt8](repeating: 65, count: size)
            }
        }
        var reader = ChunkReader(limits: limits)
        var held = 0
        var error: RTMPError?
        var rest = bytes[...]
        do throws(RTMPError) {
            while !rest.isEmpty {
                // What one read of a socket brings at most.
                reader.append(rest.prefix(64 << 10))
                rest = rest.dropFirst(64 << 10)
                while try reader.next() != nil {}
                held = max(held, reader.heldBytes)
            }
        } catch let refusal {
            error = refusal
        }
        guard case .partialMessagesTooLarge(limits.partialBytes, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(held <= 64 << 10)
    }

    @Test func `what was sent of a message is held, and hardly more`() throws {
        var reader = ChunkReader(limits: .unauthenticated)
        let header: [UInt8] = [3, 0, 0, 0, 0, 0x40, 0, 20, 0, 0, 0, 0]
        reader.append((header + [UInt8](repeating: 65, count: 100))[...])
        #expect(try reader.next() == nil)
        #expect(reader.isInsideMessage && (100...4096).contains(reader.heldBytes))
    }
}
