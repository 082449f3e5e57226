import AMF0
import TestSupport
import Testing
import Wire

@Suite struct CaptureTests {
    @Test(arguments: captures)
    func `what programs sent is read, and written back byte for byte`(capture: Capture) throws {
        let bytes = try capture.bytes
        #expect(try AMF0.decode(bytes) == capture.values)
        #expect(AMF0.encode(capture.values) == bytes)
        // The same as a slice that does not begin at 0.
        #expect(try AMF0.decode(([7, 7, 7] + bytes)[3...]) == capture.values)
    }

    @Test(arguments: captures)
    func `a strict prefix holds the whole values before it, or is truncated`(capture: Capture) throws {
        let bytes = try capture.bytes
        let boundaries = (0...capture.values.count).map { AMF0.encode(Array(capture.values.prefix($0))).count }
        for length in 0..<bytes.count {
            if let whole = boundaries.firstIndex(of: length) {
                #expect(try AMF0.decode(bytes[..<length]) == Array(capture.values.prefix(whole)))
                continue
            }
            let error = #expect(throws: AMF0Error.self) { try AMF0.decode(bytes[..<length]) }
            guard case .wire(.truncated(let offset, let needed, let available)) = error else {
                Issue.record("\(length) bytes: \(String(describing: error))")
                continue
            }
            #expect(offset + available == length)
            #expect(needed > available)
        }
    }

    /// Damage is read as something else or refused; it never traps. What was read can be written.
    @Test(arguments: UInt64(1)...64)
    func `flipped bits throw or return`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for capture in captures {
            var bytes = try capture.bytes
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
                guard let values = try? AMF0.decode(bytes) else { continue }
                let again = try AMF0.decode(AMF0.encode(values))
                #expect(AMF0.encode(again) == AMF0.encode(values))
            }
        }
    }

    /// Whole bytes replaced, removed, doubled: lengths and markers go wrong together.
    @Test(arguments: UInt64(1)...64)
    func `spliced bytes throw or return`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for capture in captures {
            var bytes = try capture.bytes
            for _ in 0..<8 {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...0x11, using: &random)
                case 1: bytes.insert(contentsOf: bytes[position...].prefix(9), at: position)
                case 2: bytes.replaceSubrange(position..<min(position + 2, bytes.count), with: [0xFF, 0xFF])
                default: if bytes.count > 1 { bytes.remove(at: position) }
                }
                _ = try? AMF0.decode(bytes)
                _ = try? AMF0.decode(bytes, limits: .file)
            }
        }
    }
}
