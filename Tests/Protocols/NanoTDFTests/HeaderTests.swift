import NanoTDF
import TestSupport
import Testing
import Wire

@Suite struct HeaderTests {
    @Test func `every stored header is written as it was read`() throws {
        let headers = try Vectors.headers()
        #expect(headers.count == 10 + 5 + 3 + 8 + 2)
        for header in headers { #expect(try NanoTDFHeader.parse(header).encoded() == header) }
    }

    @Test func `every strict prefix is truncated`() throws {
        for header in try Vectors.headers() {
            for length in header.indices {
                guard case .wire(.truncated(let offset, let needed, let available)) = failure(header[..<length]) else {
                    Issue.record("\(length) bytes: \(String(describing: failure(header[..<length])))")
                    continue
                }
                #expect(offset + available == length && needed > available)
            }
        }
    }

    @Test func `one byte more is refused with its place`() throws {
        for header in try Vectors.headers() {
            #expect(failure((header + [0])[...]) == .wire(.trailingBytes(offset: header.count, count: 1)))
        }
    }

    @Test func `offsets count from the first byte of a slice`() throws {
        let header = try #require(try Vectors.headers().first)
        let slice = ([9, 9, 9] + header)[3...]
        #expect(try NanoTDFHeader.parse(slice) == NanoTDFHeader.parse(header))
        #expect(failure(([9] + header + [0])[1...]) == .wire(.trailingBytes(offset: header.count, count: 1)))
    }

    /// A small valid header: L1L, locator "a", P-256, tag 16, policy `{}`.
    private static let small: [UInt8] =
        [0x4C, 0x31, 0x4C, 1, 1, 0x61, 0, 5, 1, 0, 2, 0x7B, 0x7D] + [UInt8](repeating: 7, count: 8)
        + [2] + [UInt8](repeating: 9, count: 32)

    @Test(arguments: [
        (0, 0x4D, NanoTDFError.invalid(.magic, offset: 0)),
        (1, 0x30, .invalid(.magic, offset: 1)),
        (2, 0x4B, .invalid(.version, offset: 2)),
        (3, 0x04, .invalid(.locatorProtocol, offset: 3)),
        (3, 0x41, .invalid(.keyIdentifierSize, offset: 3)),
        (4, 0x00, .invalid(.locatorLength, offset: 4)),
        (6, 0x03, .unsupported(.curve(.secp256k1))),
        (6, 0x04, .invalid(.bindingMode, offset: 6)),
        (6, 0x08, .invalid(.bindingMode, offset: 6)),
        (7, 0x06, .invalid(.payloadConfiguration, offset: 7)),
        (8, 0x04, .invalid(.policyType, offset: 8)),
        (10, 0x00, .invalid(.policyLength, offset: 9)),
        (21, 0x04, .invalid(.ephemeralKey, offset: 21)),
    ])
    func `a bad field is named with its offset`(offset: Int, value: UInt8, error: NanoTDFError) throws {
        _ = try NanoTDFHeader.parse(Self.small)
        var header = Self.small
        header[offset] = value
        #expect(failure(header[...]) == error)
    }

    @Test func `a policy over the limit is refused before it is read`() {
        var header = Array(Self.small[..<9])
        header += [0x40, 0x01]
        #expect(failure(header[...]) == .tooLarge(.policy, count: 16_385, limit: 16_384, offset: 9))
        header[9...] = [0x40, 0x00]
        #expect(failure(header[...]) == .wire(.truncated(offset: 11, needed: 16_384, available: 0)))
        header = [UInt8](repeating: 0, count: 65_537)
        #expect(failure(header[...]) == .tooLarge(.headerLength, count: 65_537, limit: 65_536, offset: 0))
    }

    @Test(arguments: [(UInt8(0), EllipticCurve.secp256r1, 33), (1, .secp384r1, 49), (2, .secp521r1, 67)])
    func `each curve has its key size, in both versions`(bits: UInt8, curve: EllipticCurve, size: Int) throws {
        let locator: [UInt8] = [0x4C, 0x31, 0x4C, 1, 1, 0x61]
        let policy: [UInt8] = [5, 1, 0, 2, 0x7B, 0x7D] + [UInt8](repeating: 7, count: 8)
        let point = [3] + [UInt8](repeating: 9, count: size - 1)
        let l1l = locator + [bits] + policy + point
        let header = try NanoTDFHeader.parse(l1l)
        #expect(header.curve == curve && header.ephemeralPublicKey == point && header.kasPublicKey == nil)
        #expect(try header.encoded() == l1l)
        var l1m = locator + [bits] + point + [bits] + policy + point
        l1m[2] = 0x4D
        let arkavo = try NanoTDFHeader.parse(l1m)
        #expect(arkavo.version == .l1m && arkavo.kasPublicKey?.point == point)
        #expect(try arkavo.encoded() == l1m)
        #expect(failure(l1m.dropLast()) != nil)
    }

    @Test(arguments: [(UInt8(0), 8), (1, 12), (2, 13), (3, 14), (4, 15), (5, 16)])
    func `each cipher has its tag size`(cipher: UInt8, tag: Int) throws {
        var header = Self.small
        header[7] = cipher
        #expect(try NanoTDFHeader.parse(header).tagByteCount == tag)
    }

    @Test func `each policy type is read and written`() throws {
        let front = Array(Self.small[..<8])
        let back = Array(Self.small[13...])
        let locator: [UInt8] = [0x10, 3, 0x61, 0x2F, 0x62, 0x65, 0x31]
        let point = [2] + [UInt8](repeating: 4, count: 32)
        let policies: [[UInt8]] = [
            [0] + locator, [1, 0, 2, 0x7B, 0x7D], [2, 0, 3, 1, 2, 3], [3, 0, 3, 1, 2, 3] + locator + point,
        ]
        for (type, policy) in policies.enumerated() {
            let header = try NanoTDFHeader.parse(front + policy + back)
            #expect(Int(header.policy.typeCode) == type)
            #expect(try header.encoded() == front + policy + back)
        }
    }

    @Test func `both forms of an ECDSA binding are read`() throws {
        var front = Array(Self.small[..<13])
        front[6] = 0x80
        let point = Array(Self.small[21...])
        let fixed = [UInt8](repeating: 0xAA, count: 64)
        // What Go and JS write when r has lost a leading zero byte.
        let prefixed = [31] + [UInt8](repeating: 0xBB, count: 31) + [32] + [UInt8](repeating: 0xCC, count: 32)
        for binding in [fixed, prefixed] {
            let header = try NanoTDFHeader.parse(front + binding + point)
            #expect(header.binding == binding && header.usesECDSABinding)
            #expect(try header.encoded() == front + binding + point)
        }
        // A fixed form whose bytes look like the other one: what follows decides.
        var treacherous = [UInt8](repeating: 1, count: 64)
        treacherous[3] = 1
        treacherous[4] = 2
        #expect(try NanoTDFHeader.parse(front + treacherous + point).binding == treacherous)
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `flipped bits throw or parse, and what parses is written back`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for var header in try Vectors.headers() {
            for _ in 0..<8 {
                let bit = Int.random(in: 0..<(header.count * 8), using: &generator)
                header[bit / 8] ^= 1 << UInt8(bit % 8)
            }
            if let parsed = try? NanoTDFHeader.parse(header) { #expect(try parsed.encoded() == header) }
            let noise = generator.bytes(Int.random(in: 0...300, using: &generator))
            _ = failure(([0x4C, 0x31, 0x4C] + noise)[...])
            _ = try? SingleNanoTDF.parse((header + noise)[...])
            _ = try? CollectionFile.parse((noise + header)[...])
        }
    }

    @Test func `a locator keeps its parts`() throws {
        let locator = try ResourceLocator(url: "https://kas.example.net:8443/kas/", keyIdentifier: Array("cam".utf8))
        #expect(locator.scheme == .https && locator.text == "kas.example.net:8443/kas")
        #expect(locator.paddedKeyIdentifier.count == 8 && locator.keyIdentifier == Array("cam".utf8))
        #expect(throws: NanoTDFError.invalid(.locatorProtocol, offset: 0)) {
            try ResourceLocator(url: "ftp://kas.example.net")
        }
        #expect(throws: NanoTDFError.invalid(.locatorLength, offset: 0)) { try ResourceLocator(url: "https://") }
        #expect(throws: NanoTDFError.invalid(.keyIdentifierSize, offset: 0)) {
            try ResourceLocator(url: "https://a", keyIdentifier: [UInt8](repeating: 1, count: 33))
        }
        #expect(throws: NanoTDFError.invalid(.locatorLength, offset: 0)) {
            try ResourceLocator(scheme: .http, body: [UInt8](repeating: 0x61, count: 256))
        }
    }

    private func failure(_ bytes: ArraySlice<UInt8>) -> NanoTDFError? {
        do throws(NanoTDFError) {
            _ = try NanoTDFHeader.parse(bytes)
            return nil
        } catch {
            return error
        }
    }
}
