public import Media
public import Wire

/// Why a fragmented MP4 could not be encrypted or decrypted sample by sample. Holds no key and no media.
public enum CommonEncryptionError: WireFailure, Equatable, Sendable {
    /// What is wrong with a box.
    public enum Fault: Equatable, Sendable {
        /// The box is shorter than its header, longer than what it is in, or its end is not said.
        case size(UInt64)
        case count(Int, limit: Int)
        case missing
        case twice
        /// Not where it has to be: an `mdat` that does not follow its `moof`, or a box that belongs somewhere else.
        case misplaced
        /// Of a kind, a version or a value that the format has and this implementation does not read.
        case unsupported(String)
        /// It is encrypted already.
        case alreadyProtected
        /// A number that does not fit what it counts.
        case value(UInt64)
        /// Samples that lie outside of the media data.
        case outside
        /// Samples that share bytes.
        case overlap
        /// Clear and encrypted bytes of a sample do not add up to its size.
        case subsamples(sum: UInt64, sample: Int)
        /// Media data that belong to no sample: they would stay readable.
        case unnamed(Int)
        /// A box says something else of the samples than `senc` does.
        case differs
    }

    case wire(WireError)
    /// `offset` counts from the first byte of what was given.
    case movie(Fault, box: String, offset: Int)
    /// A slice, or a parameter set, of the sample that begins at `offset` cannot be read.
    case media(MediaError, offset: Int)
    /// AES failed; `call` is the library's name for it.
    case cipher(call: String)
}

extension CommonEncryptionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "\(error)"
        case .movie(let fault, let box, let offset): "\(box): \(fault) (byte \(offset))"
        case .media(let error, let offset): "the sample at byte \(offset): \(error)"
        case .cipher(let call): "\(call) failed"
        }
    }
}

extension CommonEncryptionError.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .size(let size): "a box of \(size) bytes does not fit where it is"
        case .count(let count, let limit): "\(count) of them, at most \(limit) are read"
        case .missing: "it is missing"
        case .twice: "it is there twice"
        case .misplaced: "it is not where it has to be"
        case .unsupported(let what): "\(what) is not read here"
        case .alreadyProtected: "it is encrypted already"
        case .value(let value): "\(value) is out of range"
        case .outside: "its samples lie outside of the media data"
        case .overlap: "its samples share bytes"
        case .subsamples(let sum, let sample): "the parts of a sample of \(sample) bytes have \(sum) bytes together"
        case .unnamed(let count): "\(count) bytes belong to no sample, and would stay readable"
        case .differs: "it does not agree with senc"
        }
    }
}
