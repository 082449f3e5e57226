import Compression
import Foundation
import TDF
import Testing

@testable import Archive

/// ZIP files that other writers make, or that somebody makes against readers: written field by field.
struct ForeignZIPTests {
    /// One entry, as it is to stand in the file.
    private struct Entry {
        var name: String
        var content: [UInt8]
        var method: UInt16 = 0
        var flags: UInt16 = 0
        /// A descriptor follows, and the header holds neither size nor checksum.
        var isDescribed = false
        /// In the list; nil: that of the content.
        var listedSize: UInt32?
        var listedOffset: UInt32?
        var localName: String?
        /// Before its header.
        var prefix: [UInt8] = []
        /// In the header, although a descriptor follows.
        var describedSize: UInt32 = 0
        /// Byte of the descriptor that is another one.
        var descriptorFault: Int?
    }

    private static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian, Array.init)
    }

    private static func file(_ entries: [Entry], comment: [UInt8] = [], count: UInt16? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        var list: [UInt8] = []
        for entry in entries {
            let size = UInt32(entry.content.count)
            let checksum = CRC32(entry.content).value
            let flags = entry.flags | (entry.isDescribed ? 8 : 0)
            let name = Array((entry.localName ?? entry.name).utf8)
            bytes += entry.prefix
            let offset = UInt32(bytes.count)
            bytes += number(UInt32(0x0403_4B50)) + number(UInt16(20)) + number(flags) + number(entry.method)
            bytes += number(UInt32(0)) + number(entry.isDescribed ? 0 : checksum)
            let localSize = entry.isDescribed ? entry.describedSize : size
            bytes += number(localSize) + number(localSize)
            bytes += number(UInt16(name.count)) + number(UInt16(0)) + name + entry.content
            if entry.isDescribed {
                bytes += number(UInt32(0x0807_4B50)) + number(checksum) + number(size) + number(size)
                if let place = entry.descriptorFault { bytes[bytes.count - 16 + place] ^= 1 }
            }
            list += number(UInt32(0x0201_4B50)) + number(UInt16(20)) + number(UInt16(20)) + number(flags)
            list += number(entry.method) + number(UInt32(0)) + number(checksum)
            list += number(entry.listedSize ?? size) + number(entry.listedSize ?? size)
            list += number(UInt16(entry.name.utf8.count)) + [UInt8](repeating: 0, count: 12)
            list += number(entry.listedOffset ?? offset) + Array(entry.name.utf8)
        }
        let offset = UInt32(bytes.count)
        let total = count ?? UInt16(entries.count)
        return bytes + list + number(UInt32(0x0605_4B50)) + number(UInt32(0)) + number(total) + number(total)
            + number(UInt32(list.count)) + number(offset) + number(UInt16(comment.count)) + comment
    }

    private let stage: ArchiveStage
    private let payload: [UInt8]
    private let json: [UInt8]

    init() throws {
        stage = try ArchiveStage()
        let path = try stage.make([1, 2, 3])
        let archive = try ArchiveReader(path)
        payload = Array(try ArchiveStage.bytes(path)[59..<(59 + Int(archive.map.encryptedSize))])
        json = try ManifestJSON.encode(archive.manifest)
    }

    private func entries() -> [Entry] {
        [Entry(name: "0.payload", content: payload), Entry(name: "0.manifest.json", content: json)]
    }

    private func fault(_ bytes: [UInt8]) throws -> TDFError.ContainerFault? {
        try ArchiveStage.write(bytes, stage.path("foreign.tdf"))
        do throws(ArchiveError) {
            _ = try ArchiveReader(stage.path("foreign.tdf"))
            return nil
        } catch {
            guard case .format(.container(let fault, let offset)) = error else {
                Issue.record("\(error)")
                return nil
            }
            #expect(offset >= 0 && offset <= Int64(bytes.count))
            return fault
        }
    }

    @Test func `one manifest, either name, and sizes behind the data are read`() throws {
        var entries = entries()
        for name in TDFContainer.manifestNames {
            entries[1].name = name
            for isDescribed in [false, true] {
                entries[0].isDescribed = isDescribed
                entries[1].isDescribed = isDescribed
                #expect(try fault(Self.file(entries)) == nil)
                #expect(try ArchiveStage.plaintext(stage.path("foreign.tdf")) == [1, 2, 3])
                #expect(try fault(Self.file(entries.reversed())) == nil)
            }
        }
    }

    @Test func `bytes that belong to no entry are refused: another reader may read them`() throws {
        let whole = Self.file(entries())
        // Everything is 40 bytes later than its offsets say, as after a second archive put in front; readers that add the difference exist.
        let front = try fault([UInt8](repeating: 0x41, count: 40) + whole)
        #expect(front == .directoryMisplaced, "\(String(describing: front))")
        var entries = entries()
        entries[0].prefix = Array("#!/bin/sh\nexit\n".utf8)
        #expect(try fault(Self.file(entries)) == .gap(count: 15))
        entries[0].prefix = []
        entries[1].prefix = [0]
        #expect(try fault(Self.file(entries)) == .gap(count: 1))
        entries[1].prefix = [UInt8](repeating: 0, count: 3000)
        #expect(try fault(Self.file(entries)) == .gap(count: 3000))
        entries[1].prefix = []
        entries[0].isDescribed = true
        // Of another size than the entry has.
        for damaged in [2, 5, 9, 13] {
            entries[0].descriptorFault = damaged
            #expect(try fault(Self.file(entries)) == .gap(count: 16), "\(damaged)")
        }
        entries[0].descriptorFault = nil
        entries[0].describedSize = 7
        #expect(try fault(Self.file(entries)) == .headersDiffer(entry: "0.payload"))
    }

    @Test func `what archives do not have is refused by its name`() throws {
        func changed(_ change: (inout [Entry]) -> Void) throws -> TDFError.ContainerFault? {
            var entries = entries()
            change(&entries)
            return try fault(Self.file(entries))
        }
        #expect(try changed { $0[0].method = 8 } == .compressed(entry: "0.payload", method: 8))
        #expect(try changed { $0[1].flags = 1 } == .encrypted(entry: "0.manifest.json"))
        #expect(try changed { $0[1].flags = 1 << 13 } == .encrypted(entry: "0.manifest.json"))
        #expect(try changed { $0.append($0[1]) } == .duplicateEntry("0.manifest.json"))
        #expect(try changed { $0.append(Entry(name: "evil.sh", content: [])) } == .unexpectedEntry("evil.sh"))
        #expect(
            try changed { $0.append(Entry(name: "\u{1B}[2Jé", content: [])) } == .unexpectedEntry("?[2J?"))
        #expect(try changed { $0.remove(at: 0) } == .missingEntry("0.payload"))
        #expect(try changed { $0.remove(at: 1) } == .missingEntry("0.manifest.json"))
        #expect(try changed { $0 = [] } == .missingEntry("0.payload"))
        #expect(try changed { $0[0].localName = "1.payload" } == .headersDiffer(entry: "0.payload"))
        #expect(try changed { $0[0].listedSize = 30 } == .headersDiffer(entry: "0.payload"))
        #expect(try changed { $0[0].listedSize = 0xFFFF_FFF0 } == .overlap(entry: "0.payload"))
        #expect(try changed { $0[1].listedOffset = 0xFFFF_FFF0 } == .overlap(entry: "0.manifest.json"))
        #expect(try changed { $0[0].listedOffset = 3 } == .gap(count: 3))
        var other = Self.file(entries())
        other[0] ^= 1
        #expect(try fault(other) == .noRecord(.localHeader))
        #expect(
            try changed {
                $0[0].isDescribed = true
                $0[0].listedSize = UInt32(payload.count + 40)
            } == .overlap(entry: "0.payload"))
        #expect(
            try changed { $0 += (0..<20).map { Entry(name: "\($0)", content: []) } }
                == .directoryTooLarge(count: 22, limit: 16))
    }

    @Test func `an end that could be read in two ways is refused`() throws {
        #expect(try fault(Self.file(entries(), comment: Array("hello".utf8))) == .noEndRecord)
        #expect(try fault(Self.file(entries(), count: 1)) == .directoryMisplaced)
        #expect(try fault(Self.file(entries(), count: 3)) == .truncated(needed: 4, available: 0))
        #expect(try fault([0x4D, 0x5A] + Self.file(entries())) == .directoryMisplaced)
        #expect(try fault([]) == .noEndRecord)
    }
}
