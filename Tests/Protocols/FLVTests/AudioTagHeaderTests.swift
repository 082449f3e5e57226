import FLV
import Testing
import Wire

@Suite struct AudioTagHeaderTests {
    @Test(arguments: [
        ("af00", AudioTagHeader(kind: .sequenceHeader), true), ("af01", AudioTagHeader(kind: .rawFrame), true),
        ("aa01", AudioTagHeader(kind: .rawFrame), false), ("a000", AudioTagHeader(kind: .sequenceHeader), false),
        ("906d703461", AudioTagHeader(kind: .sequenceHeader), false),
        ("916d703461", AudioTagHeader(kind: .rawFrame), false),
        ("946d703461", AudioTagHeader(kind: .other(4)), true), ("95", AudioTagHeader(kind: .other(5)), true),
        ("970011016d703461", AudioTagHeader(kind: .rawFrame), false),
    ])
    func `prefixes are read`(hexadecimal: String, header: AudioTagHeader, isCanonical: Bool) throws {
        let bytes = try Hexadecimal.decode(hexadecimal)
        let parsed = try AudioTagHeader.parse((bytes + [1, 2, 3])[...])
        #expect(parsed.header == header)
        #expect(Array(parsed.payload) == [1, 2, 3])
        if isCanonical { #expect(header.encoded() == bytes) }
        for length in 0..<bytes.count {
            let error = #expect(throws: FLVError.self) { try AudioTagHeader.parse(bytes[..<length]) }
            guard case .wire(.truncated(let offset, _, let available)) = error else {
                Issue.record("\(length) bytes: \(String(describing: error))")
                continue
            }
            #expect(offset + available == length)
        }
    }

    @Test(arguments: [
        ("2f00", FLVError.unsupportedAudioFormat(2)), ("af02", .unknownAudioPacketType(2)),
        ("914f707573", .unsupportedFourCC(0x4F70_7573)),
    ])
    func `other audio is refused`(hexadecimal: String, error: FLVError) throws {
        let bytes = try Hexadecimal.decode(hexadecimal)
        #expect(throws: error) { try AudioTagHeader.parse(bytes[...]) }
    }
}
