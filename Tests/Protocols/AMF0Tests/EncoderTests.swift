import AMF0
import TestSupport
import Testing

@Suite struct EncoderTests {
    @Test(arguments: UInt64(1)...64)
    func `what is encoded is decoded`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let values = (0..<Int.random(in: 0...6, using: &random)).map { _ in value(depth: 0, &random) }
        #expect(try AMF0.decode(AMF0.encode(values)) == values)
    }

    private func value(depth: Int, _ random: inout SeededGenerator) -> AMF0Value {
        switch Int.random(in: 0...(depth < 4 ? 10 : 6), using: &random) {
        case 0: .number(Double.random(in: -1e12...1e12, using: &random))
        case 1: .boolean(Bool.random(using: &random))
        case 2: .string(text(&random))
        case 3: .null
        case 4: .undefined
        case 5:
            .date(
                milliseconds: Double.random(in: 0...2e12, using: &random),
                zone: Int16.random(in: -720...720, using: &random))
        case 6: .longString(text(&random))
        case 7: .object(object(depth, &random))
        case 8: .ecmaArray(object(depth, &random))
        case 9: .unsupported(marker: 0x0D)
        default: .strictArray((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth + 1, &random) })
        }
    }

    private func object(_ depth: Int, _ random: inout SeededGenerator) -> AMF0Object {
        AMF0Object(
            (0..<Int.random(in: 0...4, using: &random)).map { _ in
                AMF0Object.Entry(key: text(&random), value: value(depth: depth + 1, &random))
            })
    }

    private func text(_ random: inout SeededGenerator) -> String {
        let characters = Array("aZ0 \u{0}é€😀|@")
        return String(
            (0..<Int.random(in: 0...12, using: &random)).map { _ in characters.randomElement(using: &random)! })
    }

    @Test(arguments: [0, 1, 65534, 65535])
    func `a string up to 65 535 bytes is short`(length: Int) throws {
        let text = String(repeating: "x", count: length)
        let bytes = AMF0.encode([.string(text)])
        #expect(bytes.count == 3 + length)
        #expect(Array(bytes.prefix(3)) == [2, UInt8(length >> 8), UInt8(length & 255)])
        #expect(try AMF0.decode(bytes, limits: .data) == [.string(text)])
    }

    @Test func `a longer string becomes a long string`() throws {
        let text = String(repeating: "x", count: 65536)
        let bytes = AMF0.encode([.string(text)])
        #expect(Array(bytes.prefix(5)) == [0x0C, 0, 1, 0, 0])
        #expect(try AMF0.decode(bytes, limits: .data) == [.longString(text)])
    }

    @Test func `a key too long is cut between characters`() throws {
        let key = String(repeating: "€", count: 30_000)
        let bytes = AMF0.encode([.object(AMF0Object([.init(key: key, value: .null)]))])
        #expect(try AMF0.decode(bytes, limits: .data) == [.object([String(repeating: "€", count: 21_845): .null])])
        let odd = "xx" + key
        let cut = AMF0.encode([.object(AMF0Object([.init(key: odd, value: .null)]))])
        #expect(
            try AMF0.decode(cut, limits: .data) == [.object(["xx" + String(repeating: "€", count: 21_844): .null])])
    }

    @Test func `what was not kept is written as unsupported`() {
        #expect(AMF0.encode([.unsupported(marker: 0x10)]) == [0x0D])
    }
}
