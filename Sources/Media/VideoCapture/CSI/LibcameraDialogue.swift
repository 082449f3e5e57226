internal import CV4L2

/// What is said to watchbox-libcamera and what it says (Sources/C/CV4L2/libcamera.h): one call at a time, frames between.
///
/// Whatever is wrong in a message is a reason to end the helper: it is a program of ours, and one that says such things is broken.
struct LibcameraDialogue {
    struct Answer: Equatable {
        /// An errno, or 0.
        var error: Int32
        var structure: [UInt8]
    }

    enum Event: Equatable {
        case answered(Answer)
        /// One more in `frames`, or a stream that broke: `failure`.
        case streamed
        /// It is there, and had nothing to say.
        case alive
    }

    /// What a helper of ours would not say.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case length(Int, request: UInt32)
        case unasked(request: UInt32)
        case descriptor(request: UInt32)
        case error(Int32, request: UInt32)
        case tooManyFrames
        case silent

        var description: String {
            switch self {
            case .length(let length, let request): "it sent \(length) bytes as \(Self.name(request))"
            case .unasked(let request): "it sent \(Self.name(request)) unasked"
            case .descriptor(let request): "it sent \(Self.name(request)) with a descriptor, or without one"
            case .error(let number, let request): "it sent \(Self.name(request)) with the error \(number)"
            case .tooManyFrames: "it sent more frames than it has buffers"
            case .silent: "it does not answer"
            }
        }

        /// "VIDIOC 42": the number of the call within its kind.
        private static func name(_ request: UInt32) -> String {
            "call \(request & 0xFF) of 0x\(String(request >> 8 & 0xFF, radix: 16))"
        }
    }

    /// Bytes.
    static let headLength = MemoryLayout<watchbox_libcamera_head>.size
    /// Buffers of a stream.
    static let maxFrames = 32
    /// Nanoseconds without a word, while frames are waited for, after which the helper is asked whether it is there; and how long it has to
    /// answer that. Two seconds in all, so that a helper that hangs costs its camera less than three.
    static let maxSilence: UInt64 = 1_000_000_000
    static let maxDelay: UInt64 = 1_000_000_000
    /// Nanoseconds that one look counts for at the most: only time in which this process ran counts, so that a process that was stopped, or a machine
    /// that slept, is not taken for a helper that hangs.
    static let maxStep: UInt64 = 500_000_000

    private struct Call: Equatable {
        var request: UInt32
        var serial: UInt32
    }

    private var serial: UInt32 = 0
    private var awaited: Call?
    private var question: Call?
    /// Of the last look, CLOCK_MONOTONIC, nanoseconds.
    private var lookedAt: UInt64
    /// Nanoseconds without a word, or without an answer to the question.
    private var silence: UInt64 = 0
    /// Structures of VIDIOC_DQBUF that nobody has taken yet, the oldest first.
    private(set) var frames: [[UInt8]] = []
    /// Why the stream broke, an errno.
    private(set) var failure: Int32?

    init(at now: UInt64) { lookedAt = now }

    /// Bytes of a request's structure, as its number says it.
    static func length(of request: UInt32) -> Int { Int(request >> 16 & 0x3FFF) }

    /// A call; its answer is awaited.
    mutating func call(_ request: UInt32, _ structure: [UInt8]) -> [UInt8] {
        let call = Call(request: request, serial: nextSerial())
        awaited = call
        return Self.message(call, structure)
    }

    /// One that has no answer.
    mutating func statement(_ request: UInt32, _ structure: [UInt8]) -> [UInt8] {
        Self.message(Call(request: request, serial: nextSerial()), structure)
    }

    mutating func takeFrame() -> [UInt8]? { frames.isEmpty ? nil : frames.removeFirst() }

    /// - Parameter hasDescriptor: it came with one.
    mutating func received(_ message: ArraySlice<UInt8>, hasDescriptor: Bool) throws(Fault) -> Event {
        guard message.count >= Self.headLength else { throw .length(message.count, request: 0) }
        let head = message.withUnsafeBytes { $0.loadUnaligned(as: watchbox_libcamera_head.self) }
        let structure = Array(message.dropFirst(Self.headLength))
        guard structure.count == Self.length(of: head.request) else {
            throw .length(structure.count, request: head.request)
        }
        if question == nil { silence = 0 }
        let call = Call(request: head.request, serial: head.serial)
        guard head.error >= 0, head.error < 4096 else { throw .error(head.error, request: head.request) }
        let isBuffer = head.request == UInt32(watchbox_VIDIOC_QUERYBUF) && head.serial != 0 && head.error == 0
        guard hasDescriptor == isBuffer else { throw .descriptor(request: head.request) }
        if head.serial == 0 { return try streamed(head, structure) }
        if call == question {
            question = nil
            silence = 0
            return .alive
        }
        guard call == awaited else { throw .unasked(request: head.request) }
        awaited = nil
        if head.request == UInt32(watchbox_VIDIOC_STREAMOFF) {
            // What came before it belongs to a stream that is over.
            frames = []
            failure = nil
        }
        return .answered(Answer(error: head.error, structure: structure))
    }

    private mutating func streamed(_ head: watchbox_libcamera_head, _ structure: [UInt8]) throws(Fault) -> Event {
        switch head.request {
        case UInt32(watchbox_VIDIOC_DQBUF):
            guard head.error == 0 else { throw .error(head.error, request: head.request) }
            guard frames.count < Self.maxFrames else { throw .tooManyFrames }
            frames.append(structure)
        case UInt32(watchbox_VIDIOC_STREAMOFF):
            guard head.error != 0 else { throw .error(0, request: head.request) }
            // That the camera is gone may follow.
            guard failure == nil || (head.error == ENODEV && failure != ENODEV) else {
                throw .unasked(request: head.request)
            }
            failure = head.error
        default: throw .unasked(request: head.request)
        }
        return .streamed
    }

    /// Nothing came, and frames are waited for.
    ///
    /// - Returns: a message to send, when the helper is to be asked whether it is there.
    mutating func timePassed(at now: UInt64) throws(Fault) -> [UInt8]? {
        silence += min(now > lookedAt ? now - lookedAt : 0, Self.maxStep)
        lookedAt = now
        guard question == nil else {
            guard silence <= Self.maxDelay else { throw .silent }
            return nil
        }
        guard silence > Self.maxSilence else { return nil }
        let call = Call(request: UInt32(watchbox_VIDIOC_QUERYCAP), serial: nextSerial())
        question = call
        silence = 0
        return Self.message(call, [UInt8](repeating: 0, count: Self.length(of: call.request)))
    }

    private mutating func nextSerial() -> UInt32 {
        serial = serial == .max ? 1 : serial + 1
        return serial
    }

    private static func message(_ call: Call, _ structure: [UInt8]) -> [UInt8] {
        var head = watchbox_libcamera_head()
        head.request = call.request
        head.serial = call.serial
        return withUnsafeBytes(of: &head) { Array($0) } + structure
    }
}
