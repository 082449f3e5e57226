internal import Compression
internal import Platform
internal import TDF

/// The ZIP file of an archive with one payload while it is written: header, payload, and at the end manifests and list of entries. It has its name
/// when it is whole; letting go before leaves nothing behind.
final class PayloadFile {
    private let file: UnfinishedFile
    private var checksum = CRC32()

    /// - Parameter path: of the archive. Written beside it at first.
    init(_ path: String) throws(ArchiveError) {
        do throws(FileFailure) {
            file = try UnfinishedFile(path)
            try file.append(TDFContainer.header(payloadSize: 0, crc32: 0)[...])
        } catch {
            throw .output(error)
        }
    }

    /// The next bytes of the payload.
    func append(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        checksum.update(bytes)
        do throws(FileFailure) { try file.append(bytes) } catch { throw .output(error) }
    }

    /// Ends the file, has it read again, and gives it its name.
    ///
    /// - Parameters:
    ///   - manifest: its JSON.
    ///   - replaces: a file that has that name.
    ///   - verify: reads the file of the given path; what it finds wrong with it is what the storage did not keep.
    func finish(
        manifest: [UInt8], replaces: Bool, verify: (_ temporary: String) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        let payloadSize = file.size - TDFContainer.payloadOffset
        let trailer = try ArchiveReader.format { () throws(TDFError) in
            try TDFContainer.trailer(
                payloadSize: payloadSize, payloadCRC32: checksum.value, manifest: manifest,
                manifestCRC32: CRC32(manifest).value)
        }
        do throws(FileFailure) {
            try file.append(trailer[...])
            try file.overwrite(TDFContainer.header(payloadSize: payloadSize, crc32: checksum.value), at: 0)
        } catch {
            throw .output(error)
        }
        do throws(ArchiveError) { try verify(file.temporary) } catch {
            guard case .format(let fault) = error else { throw error }
            throw .readBack(fault)
        }
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }
}
