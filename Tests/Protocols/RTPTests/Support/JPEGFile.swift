/// What a decoder takes from a JPEG file, however its headers are written.
enum JPEGFile {
    /// Size, sampling and quantization of each component, Huffman tables in order of their numbers, scan. Empty when the
    /// file cannot be read.
    static func essence(of file: [UInt8]) -> [UInt8] {
        var quantization: [UInt8: [UInt8]] = [:]
        var huffman: [UInt8: [UInt8]] = [:]
        var frame: [UInt8] = []
        var index = 2
        while index + 4 <= file.count, file[index] == 0xFF {
            let marker = file[index + 1]
            let end = index + 2 + (Int(file[index + 2]) << 8 | Int(file[index + 3]))
            guard end <= file.count else { return [] }
            var body = file[(index + 4)..<end]
            switch marker {
            case 0xDB:
                while let id = body.popFirst() {
                    let size = id & 0x10 == 0 ? 64 : 128
                    quantization[id & 15] = Array(body.prefix(size))
                    body = body.dropFirst(size)
                }
            case 0xC4:
                while let id = body.popFirst() {
                    let size = 16 + body.prefix(16).reduce(0) { $0 + Int($1) }
                    huffman[id] = Array(body.prefix(size))
                    body = body.dropFirst(size)
                }
            case 0xC0: frame = Array(body)
            case 0xDA:
                guard frame.count == 15, file.suffix(2) == [0xFF, 0xD9] else { return [] }
                var essence = Array(frame[1..<6])
                for component in 0..<3 {
                    essence.append(frame[7 + 3 * component])
                    essence += quantization[frame[8 + 3 * component]] ?? []
                }
                for id in huffman.keys.sorted() { essence += [id] + (huffman[id] ?? []) }
                return essence + file[end..<(file.count - 2)]
            default: break
            }
            index = end
        }
        return []
    }
}
