import Compression
import Foundation
import TDF
import TestSupport
import Testing
import Wire

@testable import Archive

/// Every way to change an archive: refused with its place, or without effect on what comes out.
@Suite(.ownThread) struct ArchiveDamageTests {
    private static let plaintext = (0..<2500).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func fault(_ path: String) -> TDFError? {
        do {
            _ = try ArchiveStage.plaintext(path)
            return nil
        } catch let error as ArchiveError {
            guard case .format(let fault) = error else {
                Issue.record("\(error)")
                return nil
            }
            return fault
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func `a bit, two segments, their hashes, the last one, the policy`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make(Self.plaintext)
        #expect(fault(try stage.repacked(path) { _, _ in }) == nil)
        #expect(fault(try stage.repacked(path) { payload, _ in payload[1500] ^= 1 }) == .segmentTag(index: 1))
        func swapped(_ payload: inout [UInt8]) {
            payload = Array(payload[1028..<2056] + payload[..<1028] + payload[2056...])
        }
        #expect(fault(try stage.repacked(path) { payload, _ in swapped(&payload) }) == .segmentHash(index: 0))
        #expect(
            fault(
                try stage.repacked(path) { payload, manifest in
                    swapped(&payload)
                    manifest.encryptionInformation.integrityInformation.segments.swapAt(0, 1)
                }) == .rootSignature)
        #expect(
            fault(
                try stage.repacked(path) { payload, manifest in
                    payload.removeLast(528)
                    manifest.encryptionInformation.integrityInformation.segments.removeLast()
                }) == .rootSignature)
        #expect(
            fault(
                try stage.repacked(path) { _, manifest in
                    manifest.encryptionInformation.policy = Base64.encode(
                        Array(#"{"uuid":"0","body":{"dataAttributes":[],"dissem":["all"]}}"#.utf8))
                }) == .policyBinding)
        #expect(
            fault(try stage.repacked(path) { payload, _ in payload.removeLast() })
                == .payloadSize(segments: 2584, payload: 2583))
    }

    /// In a debug build each opening takes a millisecond.
    @Test func `each byte of a small archive, changed`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make(Array(Self.plaintext.prefix(300)), segmentSize: 128)
        let good = try ArchiveStage.bytes(path)
        let expected = try ArchiveStage.plaintext(path)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        for index in good.indices {
            for change: UInt8 in [1, 0x80] {
                try file.seek(toOffset: UInt64(index))
                try file.write(contentsOf: [good[index] ^ change])
                if let opened = try? ArchiveStage.plaintext(path) { #expect(opened == expected, "byte \(index)") }
            }
            try file.seek(toOffset: UInt64(index))
            try file.write(contentsOf: [good[index]])
        }
        #expect(try ArchiveStage.plaintext(path) == expected)
    }

    @Test func `each length of a small archive but its own is refused`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make(Array(Self.plaintext.prefix(300)), segmentSize: 128)
        let good = try ArchiveStage.bytes(path)
        try ArchiveStage.write(good + [0], path)
        #expect(throws: ArchiveError.self) { try ArchiveReader(path) }
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        for length in (0..<good.count).reversed() {
            try file.truncate(atOffset: UInt64(length))
            #expect(throws: ArchiveError.self, "\(length) bytes") { try ArchiveReader(path) }
        }
    }

    /// With its checksums, as somebody who means it would change it.
    @Test func `each byte of a manifest, changed`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make(Array(Self.plaintext.prefix(300)), segmentSize: 128)
        let archive = try ArchiveReader(path)
        let begin = Int(TDFContainer.payloadOffset)
        let payload = Array(try ArchiveStage.bytes(path)[begin..<(begin + Int(archive.map.encryptedSize))])
        let expected = Array(Self.plaintext.prefix(300))
        let json = try ManifestJSON.encode(archive.manifest)
        for index in json.indices {
            var changed = json
            changed[index] ^= 1
            let file = try stage.pack(payload, changed)
            if let opened = try? ArchiveStage.plaintext(file) { #expect(opened == expected, "byte \(index)") }
        }
    }

    @Test func `a manifest in another encoding is refused: its bounds would be counted wrongly`() throws {
        let stage = try ArchiveStage()
        let archive = try ArchiveReader(try stage.make([1, 2, 3]))
        let text = String(decoding: try ManifestJSON.encode(archive.manifest), as: UTF8.self)
        let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let broken = Array(text.replacing(#""meta":{"#, with: #""meta":{"x":"?","#).utf8).map {
            $0 == UInt8(ascii: "?") ? 0xFF : $0
        }
        for bytes in [wide, [0xFF, 0xFE] + wide, [0xEF, 0xBB, 0xBF] + Array(text.utf8), broken] {
            #expect(throws: TDFError.manifest(path: "", .unreadable("it is not UTF-8"))) {
                try ManifestJSON.decode(bytes)
            }
        }
        #expect(try ManifestJSON.decode(Array(text.utf8)) == archive.manifest)
    }

    @Test func `two manifests that differ are two archives in one`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make(Self.plaintext)
        let json = try ManifestJSON.encode(try ArchiveReader(path).manifest)
        var bytes = try ArchiveStage.bytes(path)
        let other = Array(String(decoding: json, as: UTF8.self).replacing("video/mp4", with: "video/mp5").utf8)
        // The second one, with its checksum in both of its headers.
        let places = bytes.indices.filter { bytes[$0...].starts(with: json) }
        let place = try #require(places.last)
        bytes.replaceSubrange(place..<(place + json.count), with: other)
        let checksums = [CRC32(json).value, CRC32(other).value].map { value in
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        }
        let headers = bytes.indices.filter { bytes[$0...].starts(with: checksums[0]) }
        #expect(headers.count == 4)
        for header in [headers[1], headers[3]] { bytes.replaceSubrange(header..<(header + 4), with: checksums[1]) }
        try ArchiveStage.write(bytes, path)
        #expect(fault(path) == .container(.manifestsDiffer, offset: Int64(place - 30 - "manifest.json".utf8.count)))
    }

    static let documents: [(String, String)] = [
        ("", "not valid JSON"), ("{", "not valid JSON"), ("[]", "the document"), ("{}", "payload is missing"),
        (String(repeating: "[", count: 100_000), "more than 16 levels, at byte 16"),
        ("[" + String(repeating: "0,", count: 2_000_000) + "0]", "values, at byte"),
        (#"{"payload":{"type":7}}"#, "payload.type"),
        (
            #"{"payload":{"type":"reference","url":"0.payload","protocol":"zip","isEncrypted":1}}"#,
            "payload.isEncrypted"
        ),
    ]

    @Test(arguments: 0..<documents.count)
    func `a manifest that is none says where`(index: Int) throws {
        let (text, reason) = Self.documents[index]
        do throws(TDFError) {
            _ = try ManifestJSON.decode(Array(text.utf8))
            Issue.record("it was taken")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    @Test func `a hash that is none is refused by the number of its segment`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make(Self.plaintext)
        let manifest = try ArchiveReader(path).manifest
        let hash = Base64.encode(manifest.encryptionInformation.integrityInformation.segments[1].gmac)
        for wrong in ["", "AAAA", "?", String(repeating: "A", count: 100)] {
            let text = String(decoding: try ManifestJSON.encode(manifest), as: UTF8.self)
                .replacing("\"\(hash)\"", with: "\"\(wrong)\"")
            do throws(TDFError) {
                _ = try ManifestJSON.decode(Array(text.utf8))
                Issue.record("it was taken")
            } catch {
                #expect("\(error)".contains("segments.[1].hash"), "\(error)")
            }
        }
    }
}
