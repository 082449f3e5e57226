internal import Compression
public import KeyAccess
public import NanoTDF
public import TDF
internal import TDFCryptography

/// An archive of profile F in a file: encrypted as a whole, so it is read as a whole.
public struct CBCArchiveReader: Sendable {
    public let manifest: CBCManifest
    /// Bytes of the file.
    public let size: Int64
    /// Bytes of the payload: 1 to 16 more than the film has.
    public var payloadSize: Int64 { payload.size }
    /// It has a MAC, which the key verifies.
    public var isAuthenticated: Bool { mac != nil }

    private let payload: FilePart
    private let payloadEntry: ZIPEntry
    private let iv: [UInt8]
    private let mac: [UInt8]?

    /// Whether a file is meant to be one: whether what is wrong with it is to be told as of one.
    public static func isMeant(by path: String) -> Bool {
        guard let file = try? FilePart(path), let contents = try? ZIPContents(file, limits: .archive),
            let json = try? TDFContents(contents, file).json
        else { return false }
        return ManifestJSON.algorithm(of: json) == CBCManifest.algorithm
    }

    /// Reads the manifest. What it refuses is listed in docs/ref/archive-format.md.
    public init(_ path: String) throws(ArchiveError) {
        let file = try FilePart(path)
        let contents = try TDFContents(try ZIPContents(file, limits: .archive), file)
        (manifest, iv, mac) = try ArchiveReader.format { () throws(TDFError) in
            let manifest = try ManifestJSON.decode(CBCManifest.self, contents.json)
            let (iv, mac) = try manifest.checked()
            try CBCManifest.checkPayload(size: contents.payload.entry.size)
            return (manifest, iv, mac)
        }
        size = file.size
        payload = file.part(contents.payload.data)
        payloadEntry = contents.payload.entry
    }

    /// What can be verified without a key: that the payload has its checksum. It notices accidents alone.
    public func verifyStructure(
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        var checksum = CRC32()
        try payload.forEachPiece { (bytes, offset) throws(ArchiveError) in
            try progress(offset)
            checksum.update(bytes)
        }
        guard checksum.value == payloadEntry.crc32 else {
            throw .format(.container(.checksum(entry: payloadEntry.name), offset: payloadEntry.offset))
        }
    }

    /// Who may have the key, as the manifest says; nil when it says nothing, or cannot be read. Verified in an ``OpenedCBCArchive`` alone.
    public var policy: AccessPolicy? { manifest.encryptionInformation.policy.flatMap(ManifestJSON.policy) }

    /// The archive with its key.
    ///
    /// - Parameters:
    ///   - index: of the entry of `keyAccess` that the key came from.
    ///   - isUnauthenticatedAllowed: also one without a MAC, or whose policy is not bound to the key: anybody may have changed it.
    /// - Throws: when the policy binding does not verify, or there is none, or no MAC.
    public func opened(
        _ key: ContentKey, fromKeyAccess index: Int = 0, isUnauthenticatedAllowed: Bool = false
    ) throws(ArchiveError) -> OpenedCBCArchive {
        let opening = CBCOpening(key, iv: iv)
        return try ArchiveReader.format { () throws(TDFError) in
            guard mac != nil || isUnauthenticatedAllowed else { throw .payloadNotAuthenticated }
            let policy = manifest.encryptionInformation.policy ?? ""
            let binding = manifest.encryptionInformation.keyAccess[index].policyBinding
            // Also without a policy: whoever removes the binding could remove that as well.
            guard binding != nil || isUnauthenticatedAllowed else { throw .policyNotBound }
            if binding != nil {
                let expected: [UInt8]
                do throws(TDFCryptoError) { expected = try opening.hmacSHA256(Array(policy.utf8)[...]) } catch {
                    throw .crypto(error)
                }
                guard TDFOpener.holds(binding, expected, OpenSSLTDFCrypto()) else { throw .policyBinding }
            }
            return OpenedCBCArchive(payload: payload, opening: opening, mac: mac, isPolicyBound: binding != nil)
        }
    }
}
