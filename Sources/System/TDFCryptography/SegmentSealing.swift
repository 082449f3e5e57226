internal import Cryptography
internal import NanoTDF
internal import Synchronization
internal import TDF

/// The key of one archive while it is written: in the two contexts of libcrypto, which wipe it, and nowhere else.
final class SegmentSealing: TDFSealingContext {
    private struct State: ~Copyable {
        var cipher: CipherContext
        var signature: RunningHMAC
        /// Without the segment that was sealed last.
        var former: RunningHMAC?
        /// Of the segment that comes next.
        var counter: UInt64 = 1
        /// After a failure, in which signature and segments may have gone apart.
        var isBroken = false
    }

    private let state: Mutex<State>

    init(key: Span<UInt8>) throws(CryptoError) {
        state = Mutex(
            State(cipher: try CipherContext(key: key, encrypts: true), signature: try RunningHMAC(key: key)))
    }

    func seal(
        _ plaintext: ArraySlice<UInt8>, into output: inout [UInt8], at begin: Int
    ) throws(TDFCryptoError) -> [UInt8] {
        do throws(CryptoError) {
            return try state.withLock { (state) throws(CryptoError) in
                guard !state.isBroken else { throw .libraryFailed(call: "sealing, after it failed once,") }
                // 4 bytes of zero, and the counter: one key has one context, so no fixed field has to tell two apart.
                let iv = [UInt8](repeating: 0, count: 4) + Self.bigEndian(state.counter)
                // Counted first: what failed halfway is not tried again under the same IV.
                state.counter += 1
                Self.makeRoom(begin + plaintext.count + TDFSegmentEntry.overhead, in: &output)
                output.replaceSubrange(begin..<(begin + iv.count), with: iv)
                do throws(CryptoError) {
                    state.former = try state.signature.copy()
                    try Self.encrypt(plaintext, &state.cipher, iv: iv, to: &output, at: begin + iv.count)
                    try state.signature.update(output.suffix(TDFSegmentEntry.gmacByteCount))
                    return try state.signature.value()
                } catch {
                    state.isBroken = true
                    output.removeLast(output.count - begin)
                    throw error
                }
            }
        } catch {
            throw TDFCryptoError(error)
        }
    }

    func withdraw() {
        state.withLock { state in
            guard let former = state.former.take() else {
                preconditionFailure("nothing to withdraw: the caller's fault")
            }
            // Its IV stays used.
            state.signature = former
        }
    }

    private static func encrypt(
        _ plaintext: ArraySlice<UInt8>, _ cipher: inout CipherContext, iv: [UInt8], to output: inout [UInt8],
        at offset: Int
    ) throws(CryptoError) {
        var failure: CryptoError?
        output.withUnsafeMutableBufferPointer { output in
            let body = output.baseAddress! + offset
            iv.withUnsafeBufferPointer { iv in
                plaintext.withUnsafeBufferPointer { input in
                    do throws(CryptoError) {
                        // An empty slice may have no address; the place of the tag serves as one that is not read.
                        try cipher.seal(
                            input.baseAddress ?? UnsafePointer(body), count: input.count, to: body,
                            tag: body + input.count, nonce: iv.baseAddress!)
                    } catch {
                        failure = error
                    }
                }
            }
        }
        if let failure { throw failure }
    }

    /// Room for what is sealed: what was sealed before or zeros, never the plaintext, which nothing would tell from it.
    ///
    /// An array of so many zeros would be half a megabyte of fresh memory for each segment.
    private static func makeRoom(_ count: Int, in output: inout [UInt8]) {
        if output.count > count { output.removeLast(output.count - count) }
        output.reserveCapacity(count)
        var missing = count - output.count
        while missing > 0 {
            let step = zeros.prefix(missing)
            output += step
            missing -= step.count
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 16 << 10)

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}

/// The key of one archive while it is read.
final class SegmentOpening: TDFOpeningContext {
    private let cipher: Mutex<CipherContext>
    private let key: CollectionKey

    init(key: Span<UInt8>) throws(CryptoError) {
        cipher = Mutex(try CipherContext(key: key, encrypts: false))
        guard let copy = try? CollectionKey(copying: key) else { throw .invalidKey(.length(key.count)) }
        self.key = copy
    }

    func open(_ segment: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8]? {
        do throws(CryptoError) {
            guard segment.count >= TDFSegmentEntry.overhead else { throw .invalidLength(segment.count) }
            let iv = Array(segment.prefix(12))
            return try cipher.withLock { (cipher) throws(CryptoError) in
                try cipher.open(
                    segment.dropFirst(12).dropLast(TDFSegmentEntry.gmacByteCount),
                    tag: segment.suffix(TDFSegmentEntry.gmacByteCount), nonce: iv)
            }
        } catch {
            throw TDFCryptoError(error)
        }
    }

    func hmacSHA256(_ message: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8] {
        do throws(CryptoError) {
            return try key.withBytes { (key) throws(CryptoError) in
                var hmac = try RunningHMAC(key: key)
                try hmac.update(message)
                return try hmac.value()
            }
        } catch {
            throw TDFCryptoError(error)
        }
    }
}
