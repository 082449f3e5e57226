internal import Compression
internal import FoundationEssentials
public import NanoTDF
internal import Platform
public import TDF
internal import TDFCryptography
internal import Wire

/// Writes one archive of profile F: what comes is encrypted as one, so memory holds a piece of it. The file has its name when it is whole; letting
/// go before leaves nothing behind.
public final class CBCArchiveWriter: ArchiveSealing {
    private let file: UnfinishedFile
    private var sealing: CBCSealing?
    private let envelope: TDFEnvelope
    private let iv: [UInt8]
    private let mimeType: String
    private var checksum = CRC32()

    /// - Parameter path: of the archive. Written beside it at first.
    public init(
        _ path: String, recipient: TDFRecipient, policy: PlaintextPolicy, mimeType: String = "video/mp4"
    ) throws(ArchiveError) {
        self.mimeType = mimeType
        // The key first: what cannot be wrapped needs no file.
        do throws(TDFError) {
            let text = try TDFEnvelope.text(of: policy)
            do throws(TDFCryptoError) {
                let sealing = try CBCSealing.begin(publicKeyPEM: recipient.publicKeyPEM, policy: Array(text.utf8)[...])
                envelope = TDFEnvelope(
                    recipient: recipient, policy: text, wrappedKey: sealing.wrappedKey,
                    policyBinding: sealing.policyBinding)
                iv = sealing.iv
                self.sealing = consume sealing
            } catch {
                throw .crypto(error)
            }
        } catch {
            throw .format(error)
        }
        do throws(FileFailure) {
            file = try UnfinishedFile(path)
            try file.append(TDFContainer.header(payloadSize: 0, crc32: 0)[...])
        } catch {
            throw .output(error)
        }
    }

    public func write(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            let ciphertext: [UInt8]
            do throws(TDFCryptoError) { ciphertext = try sealing?.update(piece) ?? [] } catch {
                throw .format(.crypto(error))
            }
            try append(ciphertext)
        }
    }

    public func endSegment() {}

    public func finish(
        at time: Int64, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        guard let sealing = sealing.take() else { preconditionFailure("finished twice: the caller's fault") }
        let ending: (ciphertext: [UInt8], mac: [UInt8])
        do throws(TDFCryptoError) { ending = try sealing.finish() } catch { throw .format(.crypto(error)) }
        try append(ending.ciphertext)
        let manifest = CBCManifest(
            envelope: envelope, iv: iv, mac: ending.mac, mimeType: mimeType,
            meta: .init(
                assetId: RandomUUID().description.uppercased(),
                protectedAt: Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)))
        let payloadSize = file.size - TDFContainer.payloadOffset
        let trailer = try ArchiveReader.format { () throws(TDFError) in
            let json = try ManifestJSON.encode(value: manifest)
            return try TDFContainer.trailer(
                payloadSize: payloadSize, payloadCRC32: checksum.value, manifest: json,
                manifestCRC32: CRC32(json).value)
        }
        do throws(FileFailure) {
            try file.append(trailer[...])
            try file.overwrite(TDFContainer.header(payloadSize: payloadSize, crc32: checksum.value), at: 0)
        } catch {
            throw .output(error)
        }
        do throws(ArchiveError) {
            try CBCArchiveReader(file.temporary).verifyStructure(progress: progress)
        } catch {
            guard case .format(let fault) = error else { throw error }
            throw .readBack(fault)
        }
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }

    private static let pieceSize = 1 << 20

    private func append(_ ciphertext: [UInt8]) throws(ArchiveError) {
        checksum.update(ciphertext[...])
        do throws(FileFailure) { try file.append(ciphertext[...]) } catch { throw .output(error) }
    }
}
