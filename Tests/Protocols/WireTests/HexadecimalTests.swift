import Testing
import Wire

@Suite struct HexadecimalTests {
    @Test func `every byte has two lower-case digits`() throws {
        let all = Array(UInt8.min...UInt8.max)
        let text = Hexadecimal.encode(all)
        #expect(text.count == 512)
        #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
        #expect(text.hasSuffix("fdfeff"))
        #expect(try Hexadecimal.decode(text) == all)
        #expect(try Hexadecimal.decode(text.uppercased()) == all)
        #expect(try Hexadecimal.decode("").isEmpty)
    }

    @Test(arguments: [
        ("0", Hexadecimal.Fault.invalidLength(1)), ("0g", .invalidCharacter(offset: 1)),
        ("g0", .invalidCharacter(offset: 0)), ("00 1", .invalidCharacter(offset: 2)),
        ("0x01", .invalidCharacter(offset: 1)), ("000", .invalidLength(3)), ("0/", .invalidCharacter(offset: 1)),
        ("0:", .invalidCharacter(offset: 1)), ("@0", .invalidCharacter(offset: 0)),
        ("`0", .invalidCharacter(offset: 0)),
    ])
    func `anything else is refused`(text: String, fault: Hexadecimal.Fault) {
        #expect(throws: fault) { try Hexadecimal.decode(text) }
    }

    @Test func `a number has all of its digits`() {
        #expect(Hexadecimal.encode(0 as UInt8) == "00")
        #expect(Hexadecimal.encode(0x1F as UInt32) == "0000001f")
        #expect(Hexadecimal.encode(UInt64.max) == "ffffffffffffffff")
    }

    @Test func `one spelling alone is lower`() {
        #expect(Hexadecimal.isLower("09af", count: 4))
        for text in ["09aF", "09ag", "09a", "09aff", "", "0\u{301}a"] { #expect(!Hexadecimal.isLower(text, count: 4)) }
    }
}
