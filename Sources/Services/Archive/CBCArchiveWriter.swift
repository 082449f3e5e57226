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
    private let file: PayloadFile
    private var sealing: CBCSealing?
    private let envelope: TDFEnvelope
    private let iv: [UInt8]
    private let mimeType: String

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
                    recipient: recipient, policy: text, wrappedKeys: [sealing.wrappedKey],
                    policyBinding: sealing.policyBinding)
                iv = sealing.iv
                self.sealing = consume sealing
            } catch {
                throw .crypto(error)
            }
        } catch {
            throw .format(error)
        }
        file = try PayloadFile(path)
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
            try file.append(ciphertext[...])
        }
    }

    public func endSegment() {}

    public func finish(
        at time: Int64, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        guard let sealing = sealing.take() else { preconditionFailure("finished twice: the caller's fault") }
        let ending: (ciphertext: [UInt8], mac: [UInt8])
        do throws(TDFCryptoError) { ending = try sealing.finish() } catch { throw .format(.crypto(error)) }
        try file.append(ending.ciphertext[...])
        let manifest = CBCManifest(
            envelope: envelope, iv: iv, mac: ending.mac, mimeType: mimeType,
            meta: .init(
                assetId: RandomUUID().description.uppercased(),
                protectedAt: Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)))
        let json = try ArchiveReader.format { () throws(TDFError) in try ManifestJSON.encode(value: manifest) }
        try file.finish(manifest: json, replaces: replaces) { (temporary) throws(ArchiveError) in
            try CBCArchiveReader(temporary).verifyStructure(progress: progress)
        }
    }

    private static let pieceSize = 1 << 20
}
