import TestSupport
import Testing

@testable import CommonEncryption

/// Boxes that say something of encryption, and such that hide media.
@Suite(.ownThread, .enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
struct CBCSBoxTests {
    private let film: ClearFilm
    private let encrypted: ClearFilm

    init() throws {
        film = try ClearFilm(FilmCase.all[0], try ForeignFFmpeg())
        encrypted = try FilmKey.encrypted(film)
    }

    private static func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        [UInt8](bigEndian: UInt32(content.count + 8)) + Array(kind.utf8) + content
    }

    /// With another box at the end of the first one that a path leads to, and with data offsets that count it.
    private static func adding(_ box: [UInt8], to path: [String], of bytes: [UInt8]) -> [UInt8] {
        var found = false
        func inside(_ bytes: ArraySlice<UInt8>, _ path: ArraySlice<String>) -> [UInt8] {
            var output: [UInt8] = []
            for child in SimpleBox.list(bytes) {
                guard let kind = path.first, child.kind == kind, !found else {
                    output += child.bytes
                    continue
                }
                var content = inside(child.content, path.dropFirst())
                if path.count == 1 {
                    content = Array(child.content) + box
                    found = true
                }
                output += Self.box(kind, content)
            }
            return output
        }
        var changed = inside(bytes[...], path[...])
        guard path.first == "moof", let moof = SimpleBox.first("moof", in: changed[...]) else { return changed }
        for traf in SimpleBox.list(moof.content) where traf.kind == "traf" {
            for trun in SimpleBox.list(traf.content) where trun.kind == "trun" {
                let place = trun.content.startIndex + 8
                let offset = UInt32(changed[place..<(place + 4)].number + box.count)
                changed.replaceSubrange(place..<(place + 4), with: [UInt8](bigEndian: offset))
            }
        }
        return changed
    }

    private static func group(_ type: String) -> [UInt8] {
        box("sbgp", [0, 0, 0, 0] + Array(type.utf8) + [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1])
    }

    private func inspect(_ fragment: [UInt8]) throws {
        let inspector = try CBCSInspector(initSegment: encrypted.initSegment)
        var count = CBCSInspector.Count()
        try inspector.add(fragment, to: &count)
    }

    private func decrypt(_ fragment: [UInt8]) throws -> [UInt8] {
        try CBCSDecryptor(initSegment: encrypted.initSegment, cipher: FilmKey.cipher()).decrypt(fragment)
    }

    @Test func `groups of samples pass, but for those with a key of their own`() throws {
        let roll = Self.adding(Self.group("roll"), to: ["moof", "traf"], of: film.fragments[0])
        try #require(roll.count == film.fragments[0].count + 28)
        var encryptor = try FilmKey.encryptor(film)
        let protected = try encryptor.encrypt(roll)
        try inspect(protected)
        #expect(try decrypt(protected) == roll)
        // `saio` counts from `moof`, so what is added stands behind `senc`.
        let own = Self.adding(Self.group("seig"), to: ["moof", "traf"], of: encrypted.fragments[0])
        #expect(throws: CommonEncryptionError.self) { try inspect(own) }
        #expect(throws: CommonEncryptionError.self) { try decrypt(own) }
        let clear = Self.adding(Self.group("seig"), to: ["moof", "traf"], of: film.fragments[0])
        #expect(throws: CommonEncryptionError.self) { try encryptor.encrypt(clear) }
        let path = ["moov", "trak", "mdia", "minf", "stbl"]
        for type in ["roll", "seig"] {
            var head = film
            head.initSegment = Self.adding(Self.group(type), to: path, of: film.initSegment)
            var protectedHead = encrypted
            protectedHead.initSegment = Self.adding(Self.group(type), to: path, of: encrypted.initSegment)
            let cipher = try FilmKey.cipher()
            let attempts: [() throws -> Void] = [
                { _ = try FilmKey.encryptor(head) },
                { _ = try CBCSInspector(initSegment: protectedHead.initSegment) },
                { _ = try CBCSDecryptor(initSegment: protectedHead.initSegment, cipher: cipher) },
            ]
            for attempt in attempts {
                if type == "roll" {
                    try attempt()
                } else {
                    #expect(throws: CommonEncryptionError.self) { try attempt() }
                }
            }
        }
    }

    @Test func `what saiz and saio say has to be what senc is`() throws {
        let fragment = encrypted.fragments[0]
        try inspect(fragment)
        let moof = try #require(SimpleBox.first("moof", in: fragment[...]))
        let traf = try #require(SimpleBox.first("traf", in: moof.content))
        let places = Dictionary(
            uniqueKeysWithValues: SimpleBox.list(traf.content).map { ($0.kind, $0.content.startIndex) })
        let saiz = try #require(places["saiz"])
        let saio = try #require(places["saio"])
        let senc = try #require(places["senc"])
        let changes: [(String, (inout [UInt8]) -> Void)] = [
            ("size of the first", { $0[saiz + 9] &+= 6 }), ("count", { $0[saiz + 8] &-= 1 }),
            ("offset", { $0[saio + 11] ^= 1 }), ("count of offsets", { $0[saio + 7] = 2 }),
            ("no senc", { $0.replaceSubrange((senc - 4)..<senc, with: Array("free".utf8)) }),
            ("no saio", { $0.replaceSubrange((saio - 4)..<saio, with: Array("free".utf8)) }),
        ]
        for (name, change) in changes {
            var other = fragment
            change(&other)
            #expect(throws: CommonEncryptionError.self, "\(name)") { try inspect(other) }
            #expect(throws: CommonEncryptionError.self, "\(name)") { _ = try decrypt(other) }
        }
    }

    @Test func `media that belong to no sample, or are no AAC, are refused`() throws {
        let fragment = film.fragments[0]
        let moof = try #require(SimpleBox.first("moof", in: fragment[...]))
        let media = fragment.dropFirst(moof.bytes.count + 8)
        var encryptor = try FilmKey.encryptor(film)
        let longer = Array(moof.bytes) + Self.box("mdat", Array(media) + Array("words".utf8))
        #expect(
            throws: CommonEncryptionError.movie(.unnamed(5), box: "mdat", offset: moof.bytes.count)
        ) { try encryptor.encrypt(longer) }
        #expect(throws: CommonEncryptionError.self) {
            try encryptor.encrypt(fragment + Self.box("imda", Array("words".utf8)))
        }
        var head = film.initSegment
        // DecoderConfigDescriptor: its tag, and a length of one byte or of four.
        let place = try #require(head.indices.first { head[$0...].starts(with: Array("esds".utf8)) })
        let tag = try #require(head[place...].firstIndex(of: 4))
        let type = try #require(head[tag...].firstIndex(of: 0x40))
        head[type] = 0x6B
        #expect(throws: CommonEncryptionError.self) {
            try CBCSEncryptor(
                initSegment: head, keyID: FilmKey.keyID, iv: FilmKey.iv, cipher: FilmKey.cipher())
        }
    }

    @Test func `a film that ends between moof and mdat is no whole one`() throws {
        let moof = try #require(SimpleBox.first("moof", in: film.fragments[0][...]))
        var splitter = MovieSplitter()
        splitter.append(film.initSegment[...])
        splitter.append(moof.bytes)
        while try splitter.next() != nil {}
        #expect(throws: CommonEncryptionError.self) { try splitter.finish() }
        splitter.append(film.fragments[0].dropFirst(moof.bytes.count))
        while try splitter.next() != nil {}
        try splitter.finish()
    }
}
