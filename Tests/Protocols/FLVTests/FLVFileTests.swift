import FLV
import TestSupport
import Testing
import Wire

@Suite struct FLVFileTests {
    private func tags(_ bytes: [UInt8]) throws -> [FLVTag] {
        var reader = FLVFileReader()
        reader.append(bytes)
        var tags: [FLVTag] = []
        while let tag = try reader.nextTag() { tags.append(tag) }
        try reader.finish()
        return tags
    }

    /// ffprobe counts 50 video and 95 audio packets in the recording.
    @Test func `a recording of ffmpeg is read, and written back byte for byte`() throws {
        let bytes = try fixture("ffmpeg-5.1-x264-aac.flv")
        let tags = try tags(bytes)
        #expect(tags.filter { $0.type == FLVTag.script }.count == 1)
        // Sequence header, 50 frames, end of sequence; AudioSpecificConfig, 95 frames.
        #expect(tags.filter { $0.type == FLVTag.video }.count == 52)
        #expect(tags.filter { $0.type == FLVTag.audio }.count == 96)
        var written = FLVFileWriter.header(hasVideo: true, hasAudio: true)
        for tag in tags { try FLVFileWriter.append(tag, to: &written) }
        #expect(written == bytes)
    }

    @Test(arguments: [1, 2, 7, 1000])
    func `pieces of any size give the same tags`(size: Int) throws {
        let bytes = try fixture("ffmpeg-5.1-x264-aac.flv")
        var reader = FLVFileReader()
        var dripped: [FLVTag] = []
        var start = 0
        while start < bytes.count {
            reader.append(bytes[start..<min(start + size, bytes.count)])
            start += size
            while let tag = try reader.nextTag() { dripped.append(tag) }
        }
        try reader.finish()
        #expect(try dripped == tags(bytes))
    }

    @Test func `a file that ends within a tag says so`() throws {
        let bytes = try fixture("ffmpeg-5.1-x264-aac.flv")
        // The first tag: file header 9, size 4, tag header 11, body 293, size 4.
        let lengths: [(Int, FLVError?)] = [
            (0, .wire(.truncated(offset: 0, needed: 9, available: 0))),
            (8, .wire(.truncated(offset: 0, needed: 9, available: 8))),
            (9, nil), (13, nil),
            (14, .wire(.truncated(offset: 9, needed: 15, available: 5))),
            (23, .wire(.truncated(offset: 9, needed: 15, available: 14))),
            (24, .wire(.truncated(offset: 9, needed: 308, available: 15))),
            (316, .wire(.truncated(offset: 9, needed: 308, available: 307))),
            (317, nil), (319, nil), (321, nil),
            (322, .wire(.truncated(offset: 317, needed: 15, available: 5))),
        ]
        for (length, error) in lengths {
            var reader = FLVFileReader()
            reader.append(bytes[..<length])
            while try reader.nextTag() != nil {}
            if let error {
                #expect(throws: error, "\(length) bytes") { try reader.finish() }
            } else {
                #expect(throws: Never.self, "\(length) bytes") { try reader.finish() }
            }
        }
    }

    @Test(arguments: [
        ("474c560105000000090000", FLVError.notFLV(offset: 0)), ("464c4601", .notFLV(offset: 2)),
        ("464c5602", .notFLV(offset: 3)), ("464c560105 00000008", .notFLV(offset: 5)),
        ("464c560105 00001001", .notFLV(offset: 5)), ("464c560105 ffffffff", .notFLV(offset: 5)),
        ("464c560105 00000009 00000000 0a 000000 00000000 000000", .unknownTagType(10, offset: 13)),
        ("464c560105 00000009 00000000 29 000000 00000000 000000", .unknownTagType(0x29, offset: 13)),
    ])
    func `what is not FLV is refused as soon as it shows`(hexadecimal: String, error: FLVError) throws {
        var reader = FLVFileReader()
        reader.append(try Hexadecimal.decode(hexadecimal.filter { $0 != " " }))
        #expect(throws: error) { try reader.nextTag() }
    }

    @Test func `a longer file header is passed over`() throws {
        var reader = FLVFileReader()
        reader.append([0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 12, 1, 2])
        #expect(try reader.nextTag() == nil)
        reader.append([3, 0, 0, 0, 0, 8, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0])
        #expect(try reader.nextTag() == nil)
        reader.append([0xAB])
        #expect(try reader.nextTag() == FLVTag(type: 8, timestamp: 0x7FFF_FFFF, body: [0xAB]))
    }

    @Test func `a tag beyond the limit is refused before its body is there`() throws {
        var reader = FLVFileReader(maximumTagSize: 1000)
        reader.append(FLVFileWriter.header(hasVideo: true, hasAudio: false))
        reader.append([9, 0, 0x03, 0xE9, 0, 0, 0, 0, 0, 0, 0])
        #expect(throws: FLVError.tagTooLong(bytes: 1001, limit: 1000)) { try reader.nextTag() }
        var bytes: [UInt8] = []
        #expect(throws: FLVError.tagTooLong(bytes: 0x100_0000, limit: 0xFF_FFFF)) {
            try FLVFileWriter.append(
                type: 9, timestamp: 0, prefix: [1], payload: [UInt8](repeating: 0, count: 0xFF_FFFF)[...], to: &bytes)
        }
        #expect(bytes.isEmpty)
    }

    @Test(arguments: UInt64(1)...64)
    func `random tags come back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let tags = (0..<10).map { _ in
            FLVTag(
                type: [8, 9, 18].randomElement(using: &random)!, timestamp: UInt32(truncatingIfNeeded: random.next()),
                body: random.bytes(Int.random(in: 0...300, using: &random)))
        }
        var bytes = FLVFileWriter.header(hasVideo: true, hasAudio: true)
        for tag in tags { try FLVFileWriter.append(tag, to: &bytes) }
        #expect(try self.tags(bytes) == tags)
    }
}
