import TestSupport
import Testing
import Wire

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `RFC 4648 §10`(plain: String, encoded: String) throws {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(try Base64.decode(encoded) == Array(plain.utf8))
        let bare = encoded.filter { $0 != "=" }
        #expect(Base64.encode(plain.utf8, alphabet: .url) == bare)
        #expect(try Base64.decode(bare) == Array(plain.utf8))
    }

    @Test func `both alphabets are read, each is written`() throws {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF, 0x3E, 0x3F]
        #expect(Base64.encode(bytes) == "++//Pj8=")
        #expect(Base64.encode(bytes, alphabet: .url) == "--__Pj8")
        #expect(try Base64.decode("++//Pj8=") == bytes)
        #expect(try Base64.decode("--__Pj8") == bytes)
        #expect(try Base64.decode(Substring("--__Pj8=")) == bytes)
    }

    @Test(arguments: [
        ("Zg==\n", Base64.Fault.invalidCharacter(offset: 2)), ("Zm 9v", .invalidCharacter(offset: 2)),
        ("Zm\u{e9}v", .invalidCharacter(offset: 2)), ("Z", .invalidLength(1)), ("Zm9vY", .invalidLength(5)),
        ("Zg=", .invalidLength(3)), ("=", .invalidLength(1)), ("Z===", .invalidCharacter(offset: 1)),
        ("====", .invalidCharacter(offset: 0)), ("Zg==Zg==", .invalidCharacter(offset: 2)),
        ("Zh==", .invalidLength(4)), ("Zm9=", .invalidLength(4)), ("Zm9vYmF%", .invalidCharacter(offset: 7)),
    ])
    func `anything else is refused`(text: String, fault: Base64.Fault) {
        #expect(throws: fault) { try Base64.decode(text) }
    }

    @Test(arguments: UInt64(1)...64)
    func `random bytes come back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(Int(seed))
        #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
        #expect(try Base64.decode(Base64.encode(bytes, alphabet: .url)) == bytes)
    }

    /// What decodes at all encodes to the same text: no two strings for one value.
    @Test(arguments: UInt64(1)...64)
    func `random text is refused or canonical`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let characters = Array("ABab01+/=".utf8)
        for _ in 0..<50 {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in characters.randomElement(using: &random)!
            }
            guard let bytes = try? Base64.decode(utf8: text) else { continue }
            let padded = Base64.encode(bytes)
            let string = String(decoding: text, as: UTF8.self)
            #expect(padded == string || padded.filter { $0 != "=" } == string)
        }
    }
}
