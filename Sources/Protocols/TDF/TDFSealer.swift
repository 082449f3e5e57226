public import NanoTDF

/// Seals one archive, segment by segment. What becomes of the bytes is the caller's; the key is in the crypto's context
/// alone, and ends with this.
public struct TDFSealer: Sendable {
    /// To be kept before the first segment is.
    public let envelope: TDFEnvelope
    /// Segments sealed so far, without those that were withdrawn.
    public private(set) var count = 0

    private let context: any TDFSealingContext

    /// Draws the key of the archive.
    ///
    /// - Parameter alternatives: who can open it as well, each by itself.
    public init(
        recipient: TDFRecipient, alternatives: [TDFRecipient] = [], policy: PlaintextPolicy, crypto: any TDFCrypto
    ) throws(TDFError) {
        let text = try TDFEnvelope.text(of: policy)
        let sealing: TDFSealing
        do throws(TDFCryptoError) {
            sealing = try crypto.makeSealing(
                publicKeyPEMs: ([recipient] + alternatives).map(\.publicKeyPEM), policy: Array(text.utf8)[...])
        } catch {
            throw .crypto(error)
        }
        envelope = TDFEnvelope(
            recipient: recipient, alternatives: alternatives, policy: text, wrappedKeys: sealing.wrappedKeys,
            policyBinding: sealing.policyBinding)
        context = sealing.context
    }

    /// IV (12), ciphertext and tag (16) become the end of `output`.
    ///
    /// - Parameters:
    ///   - plaintext: may be empty.
    ///   - begin: where they begin in `output`; what stands there, and behind it, goes, when nothing is thrown. Nil: they are appended. Memory that a segment
    ///     before was sealed into is the cheapest.
    public mutating func seal(
        _ plaintext: ArraySlice<UInt8>, into output: inout [UInt8], at begin: Int? = nil
    ) throws(TDFError) -> TDFSealedSegment {
        guard plaintext.count <= TDFSegmentEntry.maxClearSize else {
            throw .segmentTooLarge(count: plaintext.count, limit: TDFSegmentEntry.maxClearSize)
        }
        guard count < TDFManifest.maxWrittenSegments else {
            throw .segmentsExhausted(limit: TDFManifest.maxWrittenSegments)
        }
        let begin = begin ?? output.count
        precondition((0...output.count).contains(begin), "behind the end: the caller's fault")
        let signature: [UInt8]
        do throws(TDFCryptoError) {
            signature = try context.seal(plaintext, into: &output, at: begin)
        } catch {
            throw .crypto(error)
        }
        count += 1
        return TDFSealedSegment(
            entry: TDFSegmentEntry(
                clearSize: plaintext.count, encryptedSize: output.count - begin,
                gmac: Array(output.suffix(TDFSegmentEntry.gmacByteCount))),
            rootSignature: signature)
    }

    /// The segment that was sealed last could not be kept: the archive goes on as if it had never been. Once for each segment.
    public mutating func withdraw() {
        context.withdraw()
        count -= 1
    }
}
