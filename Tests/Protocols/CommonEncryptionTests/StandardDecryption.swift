import CommonEncryption
import Cryptography

/// Decrypts a track of a fragment block by block, as ISO/IEC 23001-7 has it, for films that have one run in each track: another implementation than the
/// one under test, which knows neither NAL units nor its code.
enum StandardDecryption {
    struct Broken: Error { var what: String }

    /// - Parameters:
    ///   - fragment: `moof` and `mdat`.
    ///   - index: of the track, in the order of `traf`.
    /// - Returns: the samples, and how many bytes of them were encrypted.
    static func samples(
        of fragment: [UInt8], track index: Int, key: [UInt8], iv: [UInt8], pattern: (crypt: Int, skip: Int)
    ) throws -> (samples: [[UInt8]], encrypted: Int) {
        let cipher = try AES128CBC(key: key.span)
        let (sizes, offset, traf) = try layout(fragment, index)
        let parts = try subsamples(traf, sizes)
        var begin = offset
        var samples: [[UInt8]] = []
        var encrypted = 0
        for (number, size) in sizes.enumerated() {
            var sample = Array(fragment[begin..<(begin + size)])
            begin += size
            var place = 0
            for (clear, protected) in parts?[number] ?? [(0, size)] {
                place += clear
                var previous = iv
                for block in 0..<(protected / 16) {
                    let range = (place + block * 16)..<(place + block * 16 + 16)
                    let period = pattern.crypt + pattern.skip
                    guard period == 0 || block % period < pattern.crypt else { continue }
                    let ciphertext = Array(sample[range])
                    var plaintext = ciphertext
                    try cipher.decrypt(&plaintext, iv: previous)
                    sample.replaceSubrange(range, with: plaintext)
                    previous = ciphertext
                    encrypted += 16
                }
                place += protected
            }
            guard place == size else { throw Broken(what: "\(place) of \(size) bytes") }
            samples.append(sample)
        }
        return (samples, encrypted)
    }

    /// How many tracks have samples in a fragment: at its end there may be no sound.
    static func tracks(of fragment: [UInt8]) throws -> Int {
        guard let moof = SimpleBox.first("moof", in: fragment[...]) else { throw Broken(what: "moof") }
        return SimpleBox.list(moof.content).count { $0.kind == "traf" }
    }

    /// Sizes of samples, where the first one is, and the content of `traf`.
    private static func layout(
        _ fragment: [UInt8], _ index: Int
    ) throws -> (sizes: [Int], offset: Int, traf: ArraySlice<UInt8>) {
        guard let moof = SimpleBox.first("moof", in: fragment[...]) else { throw Broken(what: "moof") }
        let traf = SimpleBox.list(moof.content).filter { $0.kind == "traf" }[index].content
        guard let tfhd = SimpleBox.first("tfhd", in: traf), let trun = SimpleBox.first("trun", in: traf) else {
            throw Broken(what: "traf")
        }
        var head = tfhd.content
        let headFlags = head.take(4).number & 0xFF_FFFF
        _ = head.take(4)
        for (bit, width) in [(1, 8), (2, 4), (8, 4)] where headFlags & bit != 0 { _ = head.take(width) }
        let usual = headFlags & 16 != 0 ? head.take(4).number : 0
        var run = trun.content
        let flags = run.take(4).number & 0xFF_FFFF
        let count = run.take(4).number
        let offset = run.take(4).number
        if flags & 4 != 0 { _ = run.take(4) }
        let sizes = (0..<count).map { _ in
            if flags & 0x100 != 0 { _ = run.take(4) }
            let size = flags & 0x200 != 0 ? run.take(4).number : usual
            if flags & 0x400 != 0 { _ = run.take(4) }
            if flags & 0x800 != 0 { _ = run.take(4) }
            return size
        }
        return (sizes, offset, traf)
    }

    /// By `saio` and `saiz`, and where there are any, compared with `senc`.
    private static func subsamples(
        _ traf: ArraySlice<UInt8>, _ sizes: [Int]
    ) throws -> [[(clear: Int, protected: Int)]]? {
        guard let senc = SimpleBox.first("senc", in: traf) else { return nil }
        guard let saio = SimpleBox.first("saio", in: traf), let saiz = SimpleBox.first("saiz", in: traf) else {
            throw Broken(what: "saio, saiz")
        }
        // `moof` is the first box: its offsets are those of the fragment.
        guard saio.content.suffix(4).number == senc.content.startIndex + 8 else { throw Broken(what: "saio") }
        var rest = senc.content.dropFirst(8)
        let lengths = saiz.content.dropFirst(9)
        guard lengths.count == sizes.count else { throw Broken(what: "saiz") }
        let all = lengths.map { length in
            var entry = rest.take(Int(length))
            let count = entry.take(2).number
            return (0..<count).map { _ in (entry.take(2).number, entry.take(4).number) }
        }
        guard rest.isEmpty else { throw Broken(what: "senc") }
        return all
    }
}
