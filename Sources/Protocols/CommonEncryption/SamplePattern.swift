/// Which blocks of a protected range are encrypted, and from what they are chained (ISO/IEC 23001-7 §9.6, §10.4).
struct SamplePattern: Equatable, Sendable {
    static let blockSize = 16
    /// Of video: one block of ten.
    static let video = SamplePattern(encrypted: 1, clear: 9)
    /// Of audio: all blocks.
    static let whole = SamplePattern(encrypted: 0, clear: 0)

    /// crypt_byte_block, 0…15. Both 0: all blocks.
    let encrypted: Int
    /// skip_byte_block, 0…15.
    let clear: Int

    /// Encrypts or decrypts the blocks of one range: they are chained over the clear ones between them, and what is left behind
    /// the last whole block stays clear.
    func apply(
        to bytes: inout [UInt8], in range: Range<Int>,
        _ body: (inout [UInt8]) throws(CommonEncryptionError) -> Void
    ) throws(CommonEncryptionError) {
        let size = Self.blockSize
        let places = (0..<(range.count / size)).lazy.filter { isEncrypted($0) }.map { range.lowerBound + $0 * size }
        var blocks: [UInt8] = []
        for place in places { blocks += bytes[place..<(place + size)] }
        guard !blocks.isEmpty else { return }
        try body(&blocks)
        var begin = 0
        for place in places {
            bytes.replaceSubrange(place..<(place + size), with: blocks[begin..<(begin + size)])
            begin += size
        }
    }

    private func isEncrypted(_ block: Int) -> Bool {
        encrypted + clear == 0 || block % (encrypted + clear) < encrypted
    }
}
