import Testing
import Wire

@testable import AMF0

@Suite struct DecoderTests {
    @Test(
        arguments: [
            ("00 3ff8000000000000", .number(1.5)),
            ("00 7ff0000000000000", .number(.infinity)),
            ("01 00", .boolean(false)),
            ("01 02", .boolean(true)),
            ("02 0000", .string("")),
            ("02 0003 e2 82 ac", .string("\u{20AC}")),
            ("03 0000 09", .object([:])),
            ("03 0000 05 0000 09", .object(["": .null])),
            ("05", .null),
            ("06", .undefined),
            ("07 0001", .unsupported(marker: 0x07)),
            ("08 00000000 0000 09", .ecmaArray([:])),
            ("08 ffffffff 0001 61 05 0000 09", .ecmaArray(["a": .null])),
            ("0a 00000000", .strictArray([])),
            ("0a 00000002 05 0100", .strictArray([.null, .boolean(false)])),
            ("0b 4270000000000000 ffc4", .date(milliseconds: 1_099_511_627_776, zone: -60)),
            ("0c 00000001 61", .longString("a")),
            ("0d", .unsupported(marker: 0x0D)),
            ("0f 00000004 3c612f3e", .unsupported(marker: 0x0F)),
            ("10 0001 43 0001 61 05 0000 09", .unsupported(marker: 0x10)),
        ] as [(String, AMF0Value)])
    func `each marker`(hexadecimal: String, value: AMF0Value) throws {
        let bytes = try Hexadecimal.decode(hexadecimal.filter { $0 != " " })
        #expect(try AMF0.decode(bytes) == [value])
        #expect(try AMF0.decode(bytes + [5]) == [value, .null])
    }

    @Test func `a value that is not a number stays one`() throws {
        let values = try AMF0.decode([0x00, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0])
        #expect(values.first?.numberValue?.isNaN == true)
    }

    @Test(arguments: [0x04, 0x09, 0x0E, 0x11, 0x12, 0x7F, 0xFF] as [UInt8])
    func `a marker without a known length is refused where it stands`(marker: UInt8) {
        #expect(throws: AMF0Error.unknownMarker(marker, offset: 1)) { try AMF0.decode([5, marker, 0, 0]) }
        #expect(throws: AMF0Error.unknownMarker(marker, offset: 4)) {
            try AMF0.decode([3, 0, 1, 0x61, marker, 0, 0, 9])
        }
    }

    @Test func `invalid UTF-8 is repaired`() throws {
        #expect(try AMF0.decode([0x02, 0, 3, 0x61, 0xFF, 0x62]) == [.string("a\u{FFFD}b")])
        #expect(try AMF0.decode([0x03, 0, 1, 0xC3, 5, 0, 0, 9]) == [.object(["\u{FFFD}": .null])])
    }

    @Test func `nothing is nothing`() throws {
        #expect(try AMF0.decode([]) == [])
    }

    @Test(arguments: [1, 2, 16])
    func `nesting ends at the limit`(depth: Int) throws {
        let limits = AMF0Limits(depth: depth, entriesPerContainer: 256, entries: 4096, bytes: 64 << 10)
        for (opening, closing) in [([0x03, 0, 0] as [UInt8], [0, 0, 9] as [UInt8]), ([0x0A, 0, 0, 0, 1], [])] {
            let core: [UInt8] = [5]
            func nested(_ levels: Int) -> [UInt8] {
                (0..<levels).reduce(core) { inner, _ in opening + inner + closing }
            }
            #expect(try AMF0.decode(nested(depth), limits: limits).count == 1)
            #expect(throws: AMF0Error.tooDeep(offset: depth * opening.count, limit: depth)) {
                try AMF0.decode(nested(depth + 1), limits: limits)
            }
        }
    }

    @Test func `a bomb of brackets ends at the limit`() {
        let bomb = (0..<20_000).flatMap { _ in [0x03, 0, 0] as [UInt8] }
        #expect(throws: AMF0Error.tooDeep(offset: 48, limit: 16)) { try AMF0.decode(bomb) }
    }

    @Test func `a strict array that declares more than the limit allocates nothing`() {
        #expect(throws: AMF0Error.tooManyEntries(offset: 0, limit: 256)) {
            try AMF0.decode([0x0A, 0xFF, 0xFF, 0xFF, 0xFF])
        }
        #expect(throws: AMF0Error.tooManyEntries(offset: 0, limit: 256)) { try AMF0.decode([0x0A, 0, 0, 1, 1]) }
        #expect(throws: AMF0Error.wire(.truncated(offset: 5, needed: 1, available: 0))) {
            try AMF0.decode([0x0A, 0, 0, 1, 0])
        }
    }

    @Test func `entries of one container end at the limit`() throws {
        func object(_ count: Int) -> [UInt8] {
            [3 as UInt8] + (0..<count).flatMap { _ in [0, 1, 0x61, 5] as [UInt8] } + [0, 0, 9]
        }
        #expect(try AMF0.decode(object(256)).first?.objectValue?.entries.count == 256)
        #expect(throws: AMF0Error.tooManyEntries(offset: 0, limit: 256)) { try AMF0.decode(object(257)) }
    }

    @Test func `values at the top end at the same limit`() throws {
        #expect(try AMF0.decode([UInt8](repeating: 5, count: 256)).count == 256)
        #expect(throws: AMF0Error.tooManyEntries(offset: 256, limit: 256)) {
            try AMF0.decode([UInt8](repeating: 5, count: 257))
        }
    }

    @Test func `entries of all containers end at the limit`() throws {
        let limits = AMF0Limits(depth: 2, entriesPerContainer: 10, entries: 20, bytes: 1000)
        let five: [UInt8] = [0x0A, 0, 0, 0, 5, 5, 5, 5, 5, 5]
        // Each array counts as a value at the top, and its five.
        #expect(try AMF0.decode(five + five + five + [5, 5], limits: limits).count == 5)
        #expect(throws: AMF0Error.tooManyEntries(offset: 32, limit: 20)) {
            try AMF0.decode(five + five + five + [5, 5, 5], limits: limits)
        }
    }

    @Test func `the size ends at the limit`() throws {
        func string(_ bytes: Int) -> [UInt8] {
            let length = bytes - 5
            return [
                0x0C, UInt8(length >> 24), UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255),
            ]
                + [UInt8](repeating: 0x61, count: length)
        }
        #expect(try AMF0.decode(string(65536)).count == 1)
        #expect(throws: AMF0Error.tooLong(bytes: 65537, limit: 65536)) { try AMF0.decode(string(65537)) }
        #expect(try AMF0.decode(string(262_144), limits: .data).count == 1)
        #expect(throws: AMF0Error.tooLong(bytes: 262_145, limit: 262_144)) {
            try AMF0.decode(string(262_145), limits: .data)
        }
    }

    @Test func `errors say where`() {
        #expect(
            AMF0Error.wire(.truncated(offset: 1, needed: 8, available: 2)).description
                == "AMF0 truncated at byte 1: 8 bytes needed, 2 left")
        #expect(AMF0Error.unknownMarker(17, offset: 4).description == "AMF0 marker 17 at byte 4 is unknown")
        #expect(AMF0Error.tooLong(bytes: 9, limit: 8).description == "AMF0 of 9 bytes; 8 are allowed")
    }
}
