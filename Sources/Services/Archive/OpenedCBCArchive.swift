internal import Cryptography
internal import Platform
internal import TDF
internal import TDFCryptography

/// An archive of profile F with its key.
public struct OpenedCBCArchive: Sendable {
    private let payload: FilePart
    private let opening: CBCOpening
    private let mac: [UInt8]?

    /// The policy is the one that it was sealed under; false: anybody may have changed or removed it.
    public let isPolicyBound: Bool
    /// The MAC says of the film what the binding says of the policy; false: anybody may have changed it.
    public var isAuthenticated: Bool { mac != nil }

    init(payload: FilePart, opening: CBCOpening, mac: [UInt8]?, isPolicyBound: Bool) {
        self.payload = payload
        self.opening = opening
        self.mac = mac
        self.isPolicyBound = isPolicyBound
    }

    /// Bytes that ``read(progress:output:)`` counts up to.
    public var work: Int64 { (mac == nil ? 1 : 2) * payload.size }

    /// Reads all of it twice: first the MAC is verified, then it is decrypted, with the MAC up to each piece compared with what it was the first
    /// time. So what was changed in between gives nothing either.
    ///
    /// - Parameter output: is given one piece of the plaintext after the other.
    public func read(
        progress: ArchiveProgress = { (_) throws(ArchiveError) in },
        output: (ArraySlice<UInt8>) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        let marks = try mac.map { (mac) throws(ArchiveError) in try verified(mac, progress) }
        let begin = marks == nil ? 0 : payload.size
        var authentication = try crypto { () throws(TDFCryptoError) in try opening.authentication() }
        var decryption = try crypto { () throws(TDFCryptoError) in try opening.decryption() }
        var place = 0
        try payload.forEachPiece { (bytes, offset) throws(ArchiveError) in
            try progress(begin + offset)
            if let marks {
                let mark = try crypto { () throws(TDFCryptoError) in try authentication.update(bytes) }
                guard place + mark.count <= marks.count,
                    constantTimeEqual(marks[place..<(place + mark.count)], mark[...])
                else { throw .format(.payloadMAC) }
                place += mark.count
            }
            try output(try crypto { () throws(TDFCryptoError) in try decryption.update(bytes) }[...])
        }
        let rest: [UInt8]?
        do throws(TDFCryptoError) { rest = try decryption.finish() } catch { throw .format(.crypto(error)) }
        guard let rest else { throw .format(.payloadDecryption) }
        try output(rest[...])
    }

    /// Writes the content into a file, which has its name when all of it was read.
    ///
    /// - Parameter replaces: a file that has that name.
    public func export(
        to path: String, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        let file: UnfinishedFile
        do throws(FileFailure) { file = try UnfinishedFile(path) } catch { throw .output(error) }
        try read(progress: progress) { (bytes) throws(ArchiveError) in
            do throws(FileFailure) { try file.append(bytes) } catch { throw .output(error) }
        }
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }

    /// - Returns: the MAC up to the end of each piece, one after the other.
    private func verified(_ mac: [UInt8], _ progress: ArchiveProgress) throws(ArchiveError) -> [UInt8] {
        var authentication = try crypto { () throws(TDFCryptoError) in try opening.authentication() }
        var marks: [UInt8] = []
        try payload.forEachPiece { (bytes, offset) throws(ArchiveError) in
            try progress(offset)
            marks += try crypto { () throws(TDFCryptoError) in try authentication.update(bytes) }
        }
        guard constantTimeEqual(marks.suffix(mac.count), mac[...]) else { throw .format(.payloadMAC) }
        return marks
    }

    private func crypto<R: ~Copyable>(_ body: () throws(TDFCryptoError) -> R) throws(ArchiveError) -> R {
        do throws(TDFCryptoError) { return try body() } catch { throw .format(.crypto(error)) }
    }
}
