import Cryptography
import NanoTDF
import NanoTDFCryptography
import Testing
import Wire

@Suite struct ItemTests {
    @Test func `the prefix must match what follows`() {
        let item: [UInt8] = [0, 0, 1, 0, 0, 16] + [UInt8](repeating: 5, count: 16)
        #expect(throws: Never.self) { try ContainerItem.parse(item[...], tagByteCount: 16) }
        for length in item.indices {
            #expect(throws: NanoTDFError.self) { try ContainerItem.parse(item[..<length], tagByteCount: 16) }
        }
        #expect(throws: NanoTDFError.wire(.trailingBytes(offset: 22, count: 1))) {
            try ContainerItem.parse((item + [0])[...], tagByteCount: 16)
        }
        #expect(throws: NanoTDFError.wire(.truncated(offset: 6, needed: 17, available: 16))) {
            try ContainerItem.parse(([0, 0, 1, 0, 0, 17] + item[6...])[...], tagByteCount: 16)
        }
    }

    @Test func `an item shorter than its tag is refused`() {
        for length in 0..<16 as Range<UInt8> {
            let item = [0, 0, 1, 0, 0, length] + [UInt8](repeating: 5, count: Int(length))
            #expect(throws: NanoTDFError.invalid(.itemLength, offset: 3)) {
                try ContainerItem.parse(item[...], tagByteCount: 16)
            }
        }
    }

    @Test func `an item over the limit is refused by its length field`() {
        let limit = 4 << 20
        let largest: [UInt8] = [0, 0, 1, 0x3F, 0xFF, 0xFA] + [UInt8](repeating: 0, count: limit - 6)
        #expect(throws: Never.self) { try ContainerItem.parse(largest[...], tagByteCount: 16) }
        #expect(throws: NanoTDFError.tooLarge(.itemLength, count: limit - 5, limit: limit - 6, offset: 3)) {
            try ContainerItem.parse([0, 0, 1, 0x3F, 0xFF, 0xFB], tagByteCount: 16)
        }
    }

    @Test(arguments: [8, 12, 13, 14, 15, 16])
    func `every framing and tag size holds the same item`(tag: Int) throws {
        let body = [UInt8](repeating: 0xAB, count: 5 + tag)
        let count = UInt8(body.count)
        let framed: [(ItemFraming, [UInt8])] = [
            (.container, [0, 0, 9, 0, 0, count] + body),
            (.dataset, [0, 0, count + 3, 0, 0, 9] + body),
            (.selfDescribing, [0, 0, 9, 0, 0, 0, count] + body),
            (.bare, [0, 0, 9] + body),
        ]
        for (framing, bytes) in framed {
            var items = ItemSequence(bytes[...], framing: framing, tagByteCount: tag)
            let item = try #require(try items.next())
            #expect(item.counter == 9 && item.ciphertext.count == 5 && item.tag.count == tag)
            #expect(try items.next() == nil)
            for length in 1..<bytes.count where framing != .bare {
                var cut = ItemSequence(bytes[..<length], framing: framing, tagByteCount: tag)
                #expect(throws: NanoTDFError.self) { try cut.next() }
            }
        }
        var twice = ItemSequence((framed[0].1 + framed[0].1)[...], framing: .container, tagByteCount: tag)
        #expect(try twice.next() == twice.next())
        #expect(try twice.next() == nil)
    }

    @Test func `a declared length of four bytes can't ask for memory`() {
        var items = ItemSequence([0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF], framing: .selfDescribing, tagByteCount: 16)
        #expect(throws: NanoTDFError.tooLarge(.itemLength, count: 0xFFFF_FFFF, limit: 0xFF_FFFF, offset: 3)) {
            try items.next()
        }
    }

    @Test func `a collection file opens in any order, with counter 0 and repeats`() throws {
        let station = try Station()
        let sealer = try station.collection()
        let items = try [[1], [2, 2], []].map { try sealer.sealed($0) }
        var file: [UInt8] = []
        file.appendUInt32(UInt32(sealer.headerBytes.count))
        file += sealer.headerBytes
        file.appendUInt32(4)
        file += items[2] + items[0] + items[0] + items[1]
        let collection = try CollectionFile.parse(file[...])
        var reader = try ItemReader(key: try station.key(for: sealer), crypto: OpenSSLCrypto())
        #expect(try collection.items.map { try reader.open($0) } == [[], [1], [1], [2, 2]])
        file[4 + sealer.headerBytes.count] = 0xFF
        #expect(throws: NanoTDFError.invalid(.itemCount, offset: 4 + sealer.headerBytes.count)) {
            try CollectionFile.parse(file[...])
        }
    }

    @Test func `a single NanoTDF ends where its payload ends`() throws {
        let whole = bytes(try #require(try Vectors.collection(Vectors.otdfPython).items?.first).nanotdf_hex)
        for length in whole.indices {
            #expect(throws: NanoTDFError.self) { try SingleNanoTDF.parse(whole[..<length]) }
        }
        #expect(throws: NanoTDFError.wire(.trailingBytes(offset: whole.count, count: 1))) {
            try SingleNanoTDF.parse((whole + [0])[...])
        }
    }

    @Test func `the signature of a single NanoTDF covers header and payload`() throws {
        let whole = try Base64.decode(try Vectors.specification().vectors[0].nanotdf_b64)
        let single = try SingleNanoTDF.parse(whole[...])
        #expect(single.signature?.publicKey.count == 33 && single.signature?.value.count == 64)
        #expect(single.verifiesSignature(crypto: OpenSSLCrypto()) == true)
        var changed = whole
        changed[single.headerByteCount + 6] ^= 1
        #expect(try SingleNanoTDF.parse(changed[...]).verifiesSignature(crypto: OpenSSLCrypto()) == false)
        let unsigned = try Base64.decode(try Vectors.specification().vectors[1].nanotdf_b64)
        #expect(try SingleNanoTDF.parse(unsigned[...]).verifiesSignature(crypto: OpenSSLCrypto()) == nil)
    }
}
