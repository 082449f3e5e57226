internal import Wire

/// Where each segment of an archive is, of a manifest that is one of profile S and consistent in itself.
///
/// Whether the manifest is the writer's is not known here: that takes the key, and ``TDFOpener``.
public struct TDFSegmentMap: Equatable, Sendable {
    /// One more than there are segments; the last is the size of all.
    private let clearOffsets: [Int64]
    private let encryptedOffsets: [Int64]
    /// All GMACs in order: what the root signature is over.
    let gmacs: [UInt8]
    let rootSignature: [UInt8]

    public init(_ manifest: TDFManifest) throws(TDFError) {
        try manifest.checkMembers()
        let integrity = manifest.encryptionInformation.integrityInformation
        let path = "encryptionInformation.integrityInformation"
        guard let signature = try? Base64.decode(integrity.rootSignature.signature), signature.count == 32 else {
            throw .manifest(path: "\(path).rootSignature.sig", .notBase64(byteCount: 32))
        }
        guard integrity.segments.count <= TDFManifest.maxSegments else {
            throw .manifest(path: "\(path).segments", .count(integrity.segments.count, 0...TDFManifest.maxSegments))
        }
        var clear: [Int64] = [0]
        var encrypted: [Int64] = [0]
        var gmacs: [UInt8] = []
        clear.reserveCapacity(integrity.segments.count + 1)
        encrypted.reserveCapacity(integrity.segments.count + 1)
        gmacs.reserveCapacity(integrity.segments.count * TDFSegmentEntry.gmacByteCount)
        for (index, segment) in integrity.segments.enumerated() {
            guard (0...TDFSegmentEntry.maxClearSize).contains(segment.clearSize) else {
                throw .manifest(
                    path: "\(path).segments.[\(index)].segmentSize",
                    .outOfRange(Int64(segment.clearSize), 0...Int64(TDFSegmentEntry.maxClearSize)))
            }
            guard segment.encryptedSize == segment.clearSize + TDFSegmentEntry.overhead else {
                throw .manifest(
                    path: "\(path).segments.[\(index)].encryptedSegmentSize",
                    .sizesDisagree(clear: Int64(segment.clearSize), encrypted: Int64(segment.encryptedSize)))
            }
            guard segment.gmac.count == TDFSegmentEntry.gmacByteCount else {
                throw .manifest(
                    path: "\(path).segments.[\(index)].hash", .notBase64(byteCount: TDFSegmentEntry.gmacByteCount))
            }
            clear.append(clear[index] + Int64(segment.clearSize))
            encrypted.append(encrypted[index] + Int64(segment.encryptedSize))
            gmacs += segment.gmac
        }
        clearOffsets = clear
        encryptedOffsets = encrypted
        self.gmacs = gmacs
        rootSignature = signature
    }

    public var count: Int { clearOffsets.count - 1 }

    /// Bytes of plaintext in all.
    public var clearSize: Int64 { clearOffsets[count] }

    /// Bytes of the payload.
    public var encryptedSize: Int64 { encryptedOffsets[count] }

    /// Where the plaintext of a segment is in the whole.
    public func clearRange(of index: Int) -> Range<Int64> { clearOffsets[index]..<clearOffsets[index + 1] }

    /// Where a segment is in the payload.
    public func encryptedRange(of index: Int) -> Range<Int64> { encryptedOffsets[index]..<encryptedOffsets[index + 1] }

    /// The segments that it takes to read a part of the plaintext; none for an empty part, and for what lies behind the end.
    public func segments(covering part: Range<Int64>) -> Range<Int> {
        let part = part.clamped(to: 0..<clearSize)
        guard !part.isEmpty else { return 0..<0 }
        // Empty segments share their offset with the next one: the last that begins there has the byte.
        let first = Self.firstIndex(in: clearOffsets) { $0 > part.lowerBound } - 1
        let end = Self.firstIndex(in: clearOffsets) { $0 >= part.upperBound }
        return first..<end
    }

    /// Without a key: whether these are the bytes that the manifest lists for a segment.
    public func checkHash(of index: Int, _ segment: ArraySlice<UInt8>) throws(TDFError) {
        let range = encryptedRange(of: index)
        guard Int64(segment.count) == range.upperBound - range.lowerBound else {
            throw .segmentLength(
                index: index, expected: range.upperBound - range.lowerBound, found: segment.count)
        }
        let begin = index * TDFSegmentEntry.gmacByteCount
        guard
            segment.suffix(TDFSegmentEntry.gmacByteCount)
                .elementsEqual(gmacs[begin..<(begin + TDFSegmentEntry.gmacByteCount)])
        else { throw .segmentHash(index: index) }
    }

    /// Of values that first are not, and then are as asked for.
    private static func firstIndex(in values: [Int64], where isReached: (Int64) -> Bool) -> Int {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            if isReached(values[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
