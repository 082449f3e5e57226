internal import Glibc
internal import Platform
internal import Wire

/// What a decoding child is for, and how it learns that: the arguments of `watchboxd decode`.
public enum DecoderRole: Equatable, Sendable {
    /// JPEG images become planes in shared memory of so many bytes.
    case frames(memory: Int)
    case audio(AudioEncoding)

    public var arguments: [String] {
        switch self {
        case .frames(let memory): ["decode", "--frames", "\(memory)"]
        case .audio(let coding): ["decode", "--audio", coding.rawValue]
        }
    }
}

/// Codings of audio that libavcodec decodes.
public enum AudioEncoding: String, CaseIterable, Sendable {
    /// RFC 6716; stereo, 48 000 samples a second, whatever was encoded.
    case opus
    /// ITU-T G.726 at 8000 samples a second, as RFC 3551 packs it: the first sample in the lowest bits.
    case g726r16 = "g726-16"
    case g726r24 = "g726-24"
    case g726r32 = "g726-32"
    case g726r40 = "g726-40"
    /// As ITU-T I.366.2 packs it (AAL2): the first sample in the highest bits.
    case aal2r16 = "aal2-g726-16"
    case aal2r24 = "aal2-g726-24"
    case aal2r32 = "aal2-g726-32"
    case aal2r40 = "aal2-g726-40"

    /// Samples a second.
    public var sampleRate: Int { self == .opus ? 48_000 : 8_000 }
    public var channels: Int { self == .opus ? 2 : 1 }

    /// Bits of a sample of G.726.
    var bitsPerSample: Int {
        switch self {
        case .opus: 0
        case .g726r16, .aal2r16: 2
        case .g726r24, .aal2r24: 3
        case .g726r32, .aal2r32: 4
        case .g726r40, .aal2r40: 5
        }
    }

    /// FFmpeg's name of the decoder.
    var decoder: String {
        switch self {
        case .opus: "opus"
        case .g726r16, .g726r24, .g726r32, .g726r40: "g726le"
        case .aal2r16, .aal2r24, .aal2r32, .aal2r40: "g726"
        }
    }
}

/// How a decoding child is started.
public struct DecoderProgram: Sendable {
    public var executable: String
    /// In front of those of the role.
    public var arguments: [String]
    /// For one frame or packet; a child that takes longer is ended.
    public var deadline: Duration

    public init(
        executable: String = "/proc/self/exe", arguments: [String] = [], deadline: Duration = .seconds(5)
    ) {
        self.executable = executable
        self.arguments = arguments
        self.deadline = deadline
    }

    /// A child in its sandbox.
    /// - Throws: `.lost` when it does not start, or does not report a sandbox.
    func start(
        _ role: DecoderRole, memory: Int32? = nil, isStopped: () -> Bool
    ) throws(DecoderFault) -> (child: ChildProcess, report: DecoderSandbox.Report) {
        let child: ChildProcess
        do throws(ChildProcess.Failure) {
            child = try ChildProcess(
                executable, [executable] + arguments + role.arguments, connection: .messages(memory: memory),
                isSandboxed: true)
        } catch {
            throw .lost("the decoder cannot be started: \(error)")
        }
        var buffer = [UInt8](repeating: 0, count: 512)
        // Loading libav from a cold card takes its time.
        guard let message = child.receive(into: &buffer, within: max(deadline, .seconds(20)), isStopped: isStopped)
        else {
            let ending = child.ending(isStopped: isStopped)
            throw .lost(ending.map { "the decoder ended with \($0)" } ?? "the decoder did not start in time")
        }
        var line = Array(message)
        guard let report = DecoderSandbox.Report(takenFrom: &line) else {
            let text = Array(message).printable
            throw .lost(text.isEmpty ? "the decoder does not report its sandbox" : text)
        }
        guard report.isHeld else { throw .lost(report.lack ?? "the decoder is not held") }
        SandboxShortfall.note(report)
        return (child, report)
    }
}

/// Why nothing came of what was to be decoded.
public enum DecoderFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is damaged, or of a kind that is not taken; the child goes on.
    case damaged(String)
    /// The child ended, hung, or did not start: it is gone, and a new one is needed.
    case lost(String)
    /// What was decoded before is still in use.
    case busy

    static var nonsense: DecoderFault { .lost("the decoder answered something other than what was asked") }

    public var description: String {
        switch self {
        case .damaged(let reason), .lost(let reason): reason
        case .busy: "the frames before are still in use"
        }
    }
}

/// Messages between a decoding child and its parent: words of 32 bits, then bytes.
enum DecoderMessage {
    static let sequencePlace = 0
    /// 0: decoded; 1: damaged.
    static let statusPlace = 1

    static func encode(_ words: [UInt32], _ bytes: ArraySlice<UInt8> = []) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(words.count * 4 + bytes.count)
        for word in words { withUnsafeBytes(of: word.littleEndian) { message += $0 } }
        return message + bytes
    }

    /// Nil when there are fewer words.
    static func words(_ message: ArraySlice<UInt8>, count: Int) -> [UInt32]? {
        guard message.count >= count * 4 else { return nil }
        return (0..<count).map { index in
            (0..<4).reduce(0) { $0 | UInt32(message[message.startIndex + index * 4 + $1]) << UInt32($1 * 8) }
        }
    }
}

extension [UInt8] {
    /// What a child wrote, for a log line: nothing in it moves a cursor, or turns the direction of what is read.
    var printable: String {
        ShownText.cleaned(String(decoding: prefix(300), as: UTF8.self))
    }
}
