import TestSupport

/// Documents with faults, the same for the same seed.
struct Mutator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    static func corpus(seed: UInt64) -> [String] {
        [
            DocumentWriter(seed: seed).text, DocumentWriter(seed: seed + 1000).text,
            "a=[[[1,{b=[{c='x'}]}]]]\n[[t]]\nx=1\n[t.y]\n[[t]]\n'q'.\"r\"=1979-05-27 07:32:00\ns=\"\"\"\n\\\n\"\"\"\"\"\n",
            "[a.b.c]\n[a]\nx.y = 1\nx.z = 0xff\n[a.x.w]\n[[a.l]]\n[[a.l.m]]\n[a.l.n]\nk = { p.q = 1, p.r = [1, 2.5e3] }\n",
        ]
    }

    private static let pieces: [[UInt8]] =
        [
            "\"", "'", "\"\"\"", "'''", "[", "]", "{", "}", "[[", "]]", "=", ".", ",", "#", "\n", "\r\n", "\r", "\\",
            "\\u0041", "\u{0}", " ", "\t", "é", "\u{2028}", "\u{85}", "\u{A0}", "\u{FEFF}", "1", "-", "nan", "0x",
            "1e9",
            "a", "true", "a.b=", ":", "T", "+", "07:32:00", "1979-05-27", "_", "[a]\n", "[[a]]\n", "a = {}\n",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]]

    mutating func mutate(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 0...6, using: &generator))
            switch Int.random(in: 0...4, using: &generator) {
            case 0: bytes.removeSubrange(place..<end)
            case 1: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &generator))
            case 2: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            default: bytes.insert(contentsOf: Self.pieces.randomElement(using: &generator) ?? [], at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
