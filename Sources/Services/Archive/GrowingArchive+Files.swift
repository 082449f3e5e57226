internal import Compression
internal import Platform
internal import TDF

extension GrowingArchive {
    /// Of the file that grows.
    public static let partSuffix = ".part"
    static let journalSuffix = ".journal"

    /// The two files of an archive that grows.
    struct Place {
        private let directory: String
        private let part: String
        private let journal: String

        init(_ name: String, in directory: String) {
            self.directory = directory
            part = "\(directory)/\(name)\(GrowingArchive.partSuffix)"
            journal = "\(directory)/\(name)\(GrowingArchive.journalSuffix)"
        }

        /// - Throws: then neither of both is left.
        func create(_ head: [UInt8]) throws(FileFailure) -> (journal: PlainFile, payload: PlainFile) {
            let file = try PlainFile(creating: journal)
            do throws(FileFailure) {
                try file.write(head[...], at: 0)
                try file.flush()
                let payload = try PlainFile(creating: part)
                do throws(FileFailure) {
                    try payload.write(TDFContainer.header(payloadSize: 0, crc32: 0)[...], at: 0)
                    // The names as well: what is sealed from here on is lost without its journal.
                    try DurableFile.flushDirectory(of: part)
                } catch {
                    try? DurableFile.remove(part, isFlushed: false)
                    throw error
                }
                return (file, payload)
            } catch {
                try? DurableFile.remove(journal, isFlushed: false)
                throw error
            }
        }

        /// What a crash left.
        ///
        /// - Returns: nil when no archive can be made of it: one of both is missing, or the journal's head is not whole.
        func open() throws(FileFailure) -> (payload: PlainFile, content: Content)? {
            guard let payload = try opened(part), let file = try opened(journal) else { return nil }
            let bytes = try file.read(0..<min(try file.size(), Int64(ArchiveJournal.maxSize)))
            guard let (json, entries) = ArchiveJournal.read(bytes, checksum: { CRC32($0).value }),
                let head = try? ManifestJSON.decode(Head.self, json), (try? head.check()) != nil
            else { return nil }
            return (payload, try Self.content(head, entries, of: payload))
        }

        /// Up to the first segment that the payload has not as it was: a power cut leaves any part of what was not flushed, in
        /// any order.
        static func content(
            _ head: Head, _ entries: [ArchiveJournal.Entry], of payload: PlainFile
        ) throws(FileFailure) -> Content {
            var content = Content(head)
            var checksum = CRC32()
            for entry in entries {
                let segment = entry.segment.entry
                let bytes = try payload.read(content.end..<(content.end + Int64(segment.encryptedSize)))
                checksum.update(bytes[...])
                guard bytes.count == segment.encryptedSize,
                    bytes.suffix(segment.gmac.count).elementsEqual(segment.gmac), checksum.value == entry.payloadCRC32
                else { break }
                content.append(entry)
            }
            return content
        }

        private func opened(_ path: String) throws(FileFailure) -> PlainFile? {
            do throws(FileFailure) { return try PlainFile(opening: path) } catch {
                if error.isMissing { return nil }
                throw error
            }
        }

        func complete(
            _ payload: PlainFile, _ content: Content, named: (_ begin: Int64, _ milliseconds: UInt32) -> String
        ) throws(ArchiveError) -> Ending {
            guard let last = content.last else { return try discard() }
            let (header, trailer) = try ArchiveReader.format { () throws(TDFError) in try content.container(last) }
            let target = "\(directory)/\(named(content.head.begin, last.duration))"
            do throws(FileFailure) {
                // An attempt before, or a segment for which there was no room.
                try payload.truncate(to: content.end)
                try payload.write(trailer[...], at: content.end)
                try payload.write(header[...], at: 0)
                try payload.flush()
                try DurableFile.move(part, to: target, isFlushed: false)
            } catch {
                throw .output(error)
            }
            // It is ended, and no failure from here on is a reason to do it again. Only where the name is on the disk can the
            // journal go; one that stays is removed, or needed, when somebody finishes it.
            if (try? DurableFile.flushDirectory(of: target)) != nil {
                try? DurableFile.remove(journal, isFlushed: false)
            }
            return .archive(path: target, milliseconds: last.duration)
        }

        /// Not flushed: what comes back is discarded again.
        func discard() throws(ArchiveError) -> Ending {
            do throws(FileFailure) {
                try DurableFile.remove(part, isFlushed: false)
                try DurableFile.remove(journal, isFlushed: false)
            } catch {
                throw .output(error)
            }
            return .empty
        }
    }
}
