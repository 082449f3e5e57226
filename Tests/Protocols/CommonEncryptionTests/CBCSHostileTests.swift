import TestSupport
import Testing

@testable import CommonEncryption

@Suite(.ownThread) struct CBCSHostileTests {
    private static func film() throws -> ClearFilm { try ClearFilm(FilmCase.all[0], try ForeignFFmpeg()) }

    @Test(
        .enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"), arguments: [0, 1, 2],
        FilmCase.possible.filter { ["H.264, B-frames", "H.265"].contains($0.name) })
    func `damaged films are refused, or as long as they were`(seed: UInt64, kind: FilmCase) throws {
        var generator = SeededGenerator(seed: seed)
        let film = try ClearFilm(kind, try ForeignFFmpeg())
        let encrypted = try FilmKey.encrypted(film)
        let moofSize = film.fragments[0][..<4].number
        let protectedMoofSize = encrypted.fragments[0][..<4].number
        var refused = 0
        func damage(_ bytes: inout [UInt8], within count: Int) {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<min(count, bytes.count), using: &generator)
                // Sizes and counts have big values in their first bytes, and small ones in their last.
                bytes[index] =
                    Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator) : [0, 1, 0x7F, 0x80, 0xFF].randomElement() ?? 0
            }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
            }
        }
        for _ in 0..<400 {
            var start = film.initSegment
            var fragment = film.fragments[0]
            var protectedStart = encrypted.initSegment
            var protectedFragment = encrypted.fragments[0]
            if Bool.random(using: &generator) {
                damage(&start, within: start.count)
                damage(&protectedStart, within: protectedStart.count)
            } else {
                damage(&fragment, within: moofSize + 200)
                damage(&protectedFragment, within: protectedMoofSize + 200)
            }
            do throws(CommonEncryptionError) {
                var encryptor = try CBCSEncryptor(
                    initSegment: start, keyID: FilmKey.keyID, iv: FilmKey.iv, cipher: XORCipher())
                let result = try encryptor.encrypt(fragment)
                #expect(result.count < fragment.count + 10_000)
            } catch { refused += 1 }
            do throws(CommonEncryptionError) {
                let decryptor = try CBCSDecryptor(initSegment: protectedStart, cipher: XORCipher())
                let result = try decryptor.decrypt(protectedFragment)
                #expect(result.count <= protectedFragment.count)
            } catch { refused += 1 }
        }
        #expect(refused > 100)
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
    func `every truncation of a fragment is refused`() throws {
        let film = try Self.film()
        let fragment = film.fragments[0]
        let moofSize = fragment[..<4].number
        for count in Array(1..<(moofSize + 64)) + [fragment.count - 1] {
            var encryptor = try FilmKey.encryptor(film)
            #expect(throws: CommonEncryptionError.self, "\(count) bytes") {
                try encryptor.encrypt(Array(fragment.prefix(count)))
            }
        }
        for count in 0..<film.initSegment.count {
            #expect(throws: CommonEncryptionError.self, "\(count) bytes") {
                try CBCSEncryptor(
                    initSegment: Array(film.initSegment.prefix(count)), keyID: FilmKey.keyID, iv: FilmKey.iv,
                    cipher: XORCipher())
            }
        }
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
    func `what is encrypted already, and what would stay readable, is refused`() throws {
        let film = try Self.film()
        let encrypted = try FilmKey.encrypted(film)
        #expect(throws: CommonEncryptionError.self) { try FilmKey.encryptor(encrypted) }
        var encryptor = try FilmKey.encryptor(film)
        do throws(CommonEncryptionError) {
            _ = try encryptor.encrypt(encrypted.fragments[0])
            Issue.record("it was encrypted twice")
        } catch {
            guard case .movie(.alreadyProtected, _, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
        // A track of subtitles.
        var other = film.initSegment
        let place = try #require(other.indices.first { other[$0...].starts(with: Array("mp4a".utf8)) })
        other.replaceSubrange(place..<(place + 4), with: Array("tx3g".utf8))
        do throws(CommonEncryptionError) {
            _ = try CBCSEncryptor(initSegment: other, keyID: FilmKey.keyID, iv: FilmKey.iv, cipher: XORCipher())
            Issue.record("it was taken")
        } catch {
            guard case .movie(.unsupported, "tx3g", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
    func `runs that share bytes, lie outside or have too many samples are refused`() throws {
        let film = try Self.film()
        let fragment = film.fragments[0]
        let moof = try #require(SimpleBox.first("moof", in: fragment[...]))
        let runs = SimpleBox.list(moof.content).filter { $0.kind == "traf" }
            .compactMap { SimpleBox.first("trun", in: $0.content)?.content.startIndex }
        try #require(runs.count == 2)
        /// Behind version, flags and the count of samples.
        let offsets = runs.map { $0 + 8 }
        func fault(_ change: (inout [UInt8]) -> Void) throws -> CommonEncryptionError.Fault? {
            var damaged = fragment
            change(&damaged)
            var encryptor = try FilmKey.encryptor(film)
            do throws(CommonEncryptionError) {
                _ = try encryptor.encrypt(damaged)
                return nil
            } catch {
                guard case .movie(let fault, _, _) = error else { throw error }
                return fault
            }
        }
        #expect(try fault { _ in } == nil)
        // The sound is said to be where the pictures are.
        let pictures = Array(fragment[offsets[0]..<(offsets[0] + 4)])
        #expect(try fault { $0.replaceSubrange(offsets[1]..<(offsets[1] + 4), with: pictures) } == .overlap)
        // In the boxes before the media, behind them, and before the fragment.
        for number: [UInt8] in [[0, 0, 0, 16], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0, 0]] {
            #expect(try fault { $0.replaceSubrange(offsets[0]..<(offsets[0] + 4), with: number) } == .outside)
        }
        #expect(
            try fault { $0.replaceSubrange((runs[0] + 4)..<(runs[0] + 8), with: [0xFF, 0xFF, 0xFF, 0xFF]) }
                == .count(Int(UInt32.max), limit: 100_000))
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
    func `a box whose size has 64 bits becomes one with 32`() throws {
        let film = try Self.film()
        let fragment = film.fragments[0]
        let moof = try #require(SimpleBox.first("moof", in: fragment[...]))
        var large = Array(moof.bytes)
        for traf in SimpleBox.list(moof.content) where traf.kind == "traf" {
            let place = try #require(SimpleBox.first("trun", in: traf.content)).content.startIndex + 8
            // The media are eight bytes further on.
            let offset = UInt32(fragment[place..<(place + 4)].number + 8)
            large.replaceSubrange(place..<(place + 4), with: [UInt8](bigEndian: offset))
        }
        let media = fragment.dropFirst(large.count + 8)
        let size = UInt32(media.count + 16)
        large += [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0] + [UInt8](bigEndian: size) + media
        var encryptor = try FilmKey.encryptor(film)
        let encrypted = try encryptor.encrypt(large)
        var other = try FilmKey.encryptor(film)
        #expect(try encrypted == other.encrypt(fragment))
        let decryptor = try CBCSDecryptor(initSegment: encryptor.initSegment, cipher: FilmKey.cipher())
        #expect(try decryptor.decrypt(encrypted) == fragment)
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"), arguments: [1, 3, 4096])
    func `a film is cut into the same pieces however it comes`(step: Int) throws {
        let film = try Self.film()
        let bytes = film.bytes
        var splitter = MovieSplitter()
        var pieces: [MovieSplitter.Piece] = []
        for begin in stride(from: 0, to: bytes.count, by: step) {
            splitter.append(bytes[begin..<min(begin + step, bytes.count)])
            while let piece = try splitter.next() { pieces.append(piece) }
        }
        try splitter.finish()
        #expect(pieces == [.start(film.initSegment)] + film.fragments.map { .fragment($0) })
        splitter.append([0, 0, 0])
        #expect(throws: CommonEncryptionError.self) { try splitter.finish() }
        // A box that is longer than what is held.
        splitter = MovieSplitter()
        splitter.append([0x7F, 0, 0, 0] + Array("ftyp".utf8))
        #expect(throws: CommonEncryptionError.movie(.size(0x7F00_0000), box: "ftyp", offset: 0)) {
            try splitter.next()
        }
    }

    @Test func `clear runs longer than their field, and a pattern at the end`() throws {
        var parts: [Subsample] = []
        parts.append(clear: 140_000, protected: 33)
        #expect(parts.map(\.clear) == [65_535, 65_535, 8930])
        #expect(parts.map(\.protected) == [0, 0, 33])
        // Twenty-one blocks and a half: 0, 10 and 20 are encrypted.
        var bytes = [UInt8](repeating: 0, count: 5 + 21 * 16 + 8)
        try SamplePattern.video.apply(to: &bytes, in: 5..<bytes.count) { (blocks) throws(CommonEncryptionError) in
            #expect(blocks.count == 48)
            for index in blocks.indices { blocks[index] = UInt8(1 + index / 16) }
        }
        for (index, byte) in bytes.enumerated() {
            let block = index < 5 ? nil : Optional((index - 5) / 16)
            #expect(byte == (block == 0 ? 1 : block == 10 ? 2 : block == 20 ? 3 : 0))
        }
    }
}

/// No encryption, but another content: what damage does is the same.
private final class XORCipher: BlockChaining {
    func encrypt(_ blocks: inout [UInt8], iv: [UInt8]) { for index in blocks.indices { blocks[index] ^= 0x5A } }

    func decrypt(_ blocks: inout [UInt8], iv: [UInt8]) { encrypt(&blocks, iv: iv) }
}
