public import Wire

/// Why an archive could not be read or written. Holds no key and no plaintext.
public enum TDFError: WireFailure, Equatable, Sendable {
    /// What is wrong with the ZIP file around an archive.
    public enum ContainerFault: Equatable, Sendable {
        /// The file ends without a ZIP end record, so it was cut, or is no archive.
        case noEndRecord
        /// A record of `needed` bytes begins here, and only `available` are left.
        case truncated(needed: Int, available: Int)
        /// Another record, or something else, is where this one should be.
        case noRecord(Record)
        /// More entries, or a longer list of them, than an archive has.
        case directoryTooLarge(count: Int64, limit: Int)
        /// The list of entries does not end where the end record begins.
        case directoryMisplaced
        /// Parts of one file on several disks.
        case severalDisks
        /// The 32-bit and the 64-bit end record say different things.
        case endRecordsDiffer
        /// The extra fields of an entry do not add up, or lack a size that they should hold.
        case extraFields
        case compressed(entry: String, method: UInt16)
        case encrypted(entry: String)
        case unexpectedEntry(String)
        case duplicateEntry(String)
        case missingEntry(String)
        /// The entry reaches into another one, or over the end of the data.
        case overlap(entry: String)
        /// So many bytes before the entry, or before the list of entries, belong to none: another reader might take them for something.
        case gap(count: Int64)
        /// The header before the data says something else than the list of entries.
        case headersDiffer(entry: String)
        case checksum(entry: String)
        case manifestTooLarge(Int64, limit: Int)
        /// `0.manifest.json` and `manifest.json` are not the same bytes: two readers would see two archives.
        case manifestsDiffer
    }

    /// Records of a ZIP file (APPNOTE.TXT 6.3.10, §4.3).
    public enum Record: String, Equatable, Sendable {
        case localHeader = "local file header"
        case directoryEntry = "central directory header"
        case zip64EndRecord = "ZIP64 end of central directory record"
    }

    /// What is wrong with the value at one place of a manifest.
    public enum ManifestFault: Equatable, Sendable {
        /// Not JSON, too deep, or a value that is missing or of another type; the reason says which.
        case unreadable(String)
        /// A value that the format has and this implementation does not read. `found` is shortened to printable text.
        case unsupported(found: String, expected: String)
        /// Not base64 of so many bytes.
        case notBase64(byteCount: Int)
        case outOfRange(Int64, ClosedRange<Int64>)
        case count(Int, ClosedRange<Int>)
        /// An encrypted segment is not 28 bytes longer than the clear one.
        case sizesDisagree(clear: Int64, encrypted: Int64)
        /// The key is the XOR of several shares, each at another KAS.
        case splitKey(shares: Int)
        /// It says something else than what it is about.
        case differs(found: String, expected: String)
    }

    case wire(WireError)
    /// `offset` counts from the first byte of the file.
    case container(ContainerFault, offset: Int64)
    /// `path` is that of the JSON value, such as `encryptionInformation.method.algorithm`.
    case manifest(path: String, ManifestFault)
    /// Of the index of a binder; `path` is that of the JSON value, such as `recordings.[3].bytes`.
    case index(path: String, ManifestFault)
    /// The bytes of a recording in a binder are not those that the index lists.
    case recordingHash(name: String)
    /// The segments of the manifest have other sizes together than the payload.
    case payloadSize(segments: Int64, payload: Int64)
    /// The policy is not the one that the key was wrapped for.
    case policyBinding
    /// The list of segments is not the writer's: one is missing, added, moved or changed.
    case rootSignature
    /// The bytes of a segment are not those that the manifest lists.
    case segmentHash(index: Int)
    /// The segment does not decrypt under the key.
    case segmentTag(index: Int)
    /// Fewer or more bytes than the manifest lists were given for a segment.
    case segmentLength(index: Int, expected: Int64, found: Int)
    /// Of profile F: no whole blocks, or more than any film has, so no payload of that.
    case payloadLength(Int64)
    /// Of profile F: it has no MAC, so anybody may have changed it.
    case payloadNotAuthenticated
    /// Of profile F: no binding says which policy it was sealed under, so anybody may have changed or removed that.
    case policyNotBound
    /// Of profile F: payload or IV are not those that the MAC is of, or the key is another archive's.
    case payloadMAC
    /// Of profile F, without a MAC: it does not decrypt under the key.
    case payloadDecryption
    /// Of the policy's base64, in bytes; no reader takes more.
    case policyTooLong(Int, limit: Int)
    /// The plaintext does not fit one segment.
    case segmentTooLarge(count: Int, limit: Int)
    /// An archive cannot have more segments than that.
    case segmentsExhausted(limit: Int)
    case crypto(TDFCryptoError)
}

extension TDFError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "\(error)"
        case .container(let fault, let offset): "\(fault) (byte \(offset) of the file)"
        case .manifest(let path, let fault): path.isEmpty ? "manifest: \(fault)" : "manifest, \(path): \(fault)"
        case .index(let path, let fault):
            path.isEmpty
                ? "\(BinderContainer.indexName): \(fault)" : "\(BinderContainer.indexName), \(path): \(fault)"
        case .recordingHash(let name): "\(name): its SHA-256 is not the one that the index lists"
        case .payloadSize(let segments, let payload):
            "the segments of the manifest have \(segments) bytes together, and the payload has \(payload)"
        case .policyBinding: "the policy is not the one that the key was wrapped for"
        case .rootSignature:
            "the root signature does not verify: segments are missing, moved or changed, or the key is another archive's"
        case .segmentHash(let index): "segment \(index): its bytes are not those that the manifest lists"
        case .segmentTag(let index): "segment \(index): it does not decrypt under the key"
        case .segmentLength(let index, let expected, let found):
            "segment \(index): \(found) bytes, and the manifest lists \(expected)"
        case .payloadLength(let count): "the payload has \(count) bytes: whole blocks of 16 are read, up to 16 TiB"
        case .payloadNotAuthenticated: "it has no MAC: whether anybody changed it cannot be told"
        case .policyNotBound:
            "it has no policy binding: whether anybody changed or removed its policy cannot be told"
        case .payloadMAC: "the MAC does not verify: the film was changed, or the key is another archive's"
        case .payloadDecryption: "it does not decrypt under the key"
        case .policyTooLong(let count, let limit): "the policy has \(count) bytes, at most \(limit) are read"
        case .segmentTooLarge(let count, let limit): "\(count) bytes in one segment, at most \(limit) fit"
        case .segmentsExhausted(let limit): "an archive has at most \(limit) segments"
        case .crypto(let error): "\(error)"
        }
    }
}

extension TDFError.ContainerFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noEndRecord: "there is no ZIP end record at the end of the file: it was cut, or is no archive"
        case .truncated(let needed, let available): "cut: \(needed) bytes needed, \(available) left"
        case .noRecord(let record): "there is no \(record.rawValue) where one should be"
        case .directoryTooLarge(let count, let limit): "the list of entries has \(count), at most \(limit) allowed"
        case .directoryMisplaced: "the list of entries does not end where the end record begins"
        case .severalDisks: "the ZIP file is one part of several"
        case .endRecordsDiffer: "the end record and its 64-bit form say different things"
        case .extraFields: "the extra fields of an entry do not add up"
        case .compressed(let entry, let method): "\(entry) is compressed (method \(method)), and archives are not"
        case .encrypted(let entry): "\(entry) is encrypted as a ZIP entry, and archives are not"
        case .unexpectedEntry(let entry): "\(entry) is no entry of an archive"
        case .duplicateEntry(let entry): "\(entry) is there twice"
        case .missingEntry(let entry): "there is no entry \(entry)"
        case .overlap(let entry): "\(entry) reaches into what is not its own"
        case .gap(let count): "\(count) bytes before it belong to no entry"
        case .headersDiffer(let entry): "the header before \(entry) says something else than the list of entries"
        case .checksum(let entry): "the CRC-32 of \(entry) is not the one that its entry has"
        case .manifestTooLarge(let count, let limit): "the manifest has \(count) bytes, at most \(limit) allowed"
        case .manifestsDiffer: "0.manifest.json and manifest.json are not the same"
        }
    }
}

extension TDFError.ManifestFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .unsupported(let found, let expected): "it is \"\(found)\", and \(expected) is read here"
        case .notBase64(let byteCount): "it is not base64 of \(byteCount) bytes"
        case .outOfRange(let value, let range):
            "\(value) is not within \(range.lowerBound) and \(range.upperBound)"
        case .count(let count, let range): "\(count) of them, \(range.lowerBound) to \(range.upperBound) allowed"
        case .sizesDisagree(let clear, let encrypted):
            "\(encrypted) encrypted bytes of \(clear) clear ones, where IV and tag are \(TDFSegmentEntry.overhead)"
        case .differs(let found, let expected): "it says \(found), and \(expected) is there"
        case .splitKey(let shares): "the key is split over \(shares) key access servers, which is not read here"
        }
    }
}
