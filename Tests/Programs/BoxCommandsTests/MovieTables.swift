/// Where an MP4 that ends with its index says which bytes its frames are; numbers of 4 bytes each.
struct MovieTables {
    private let bytes: [UInt8]
    private static let containers: Set<String> = ["moov", "trak", "mdia", "minf", "stbl"]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A number in the first box of a kind, counted from the end of its header.
    func first(_ kind: String, at offset: Int) -> UInt32? {
        guard let place = bytes.firstRange(of: Array(kind.utf8)) else { return nil }
        return Self.number(bytes[(place.upperBound + offset)...])
    }

    /// The film with other content of some boxes.
    func replaced(_ boxes: [String: [UInt32]]) -> [UInt8] { Self.replaced(bytes[...], boxes) }

    private static func replaced(_ bytes: ArraySlice<UInt8>, _ boxes: [String: [UInt32]]) -> [UInt8] {
        var rest = bytes
        var result: [UInt8] = []
        while rest.count >= 8 {
            let box = rest.prefix(Int(number(rest)))
            let kind = String(decoding: box.dropFirst(4).prefix(4), as: UTF8.self)
            let content =
                boxes[kind].map { $0.flatMap(Self.bytes) }
                ?? (containers.contains(kind) ? replaced(box.dropFirst(8), boxes) : Array(box.dropFirst(8)))
            result += Self.bytes(UInt32(content.count + 8)) + box.dropFirst(4).prefix(4) + content
            rest = rest.dropFirst(box.count)
        }
        return result
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
