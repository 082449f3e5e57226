internal import FoundationEssentials
internal import Platform

/// Runs an `EncoderProbe` in a process of its own, which is killed when it does not end in time.
///
/// The child writes an `EncoderProbeResult` as JSON to its standard output.
public struct EncoderProbeChild: Sendable {
    public var executable: String
    /// In front of `--encoder E --size WxH --rate N`.
    public var arguments: [String]
    public var deadline: Duration

    public init(
        executable: String = "/proc/self/exe", arguments: [String] = ["encoder-probe"],
        deadline: Duration = .seconds(5)
    ) {
        self.executable = executable
        self.arguments = arguments
        self.deadline = deadline
    }

    /// Blocks until the child ended, at most for the deadline and a little. Every failure is in the result.
    public func run(encoder: String, width: Int, height: Int, rate: Double) -> EncoderProbeResult {
        func failed(_ reason: String) -> EncoderProbeResult {
            EncoderProbeResult(encoder: encoder, works: false, reason: reason)
        }
        let number = rate == rate.rounded() ? Int(exactly: rate).map { "\($0)" } ?? "\(rate)" : "\(rate)"
        let command =
            [executable] + arguments
            + ["--encoder", encoder, "--size", "\(width)x\(height)", "--rate", number]
        let child: ChildProcess
        do {
            child = try ChildProcess(executable, command)
        } catch {
            return failed("the probe could not be started: \(error)")
        }
        switch child.output(limit: Self.maxOutputLength, within: deadline) {
        case .late: return failed("did not answer within \(Self.text(deadline))")
        case .tooLong: return failed("the probe wrote more than \(Self.maxOutputLength) bytes")
        case .ended(let status, let bytes):
            guard var result = try? JSONDecoder().decode(EncoderProbeResult.self, from: Data(bytes)) else {
                return failed("the probe ended with \(Self.text(status: status)) and without a result")
            }
            guard result.encoder == encoder, result.fps.isFinite, result.packets >= 0 else {
                return failed("the probe answered for another encoder")
            }
            // Whatever a driver is called ends up in a log line.
            result.reason = String(
                String.UnicodeScalarView(result.reason.unicodeScalars.lazy.map { $0.value < 0x20 ? " " : $0 })
                    .prefix(Self.maxReasonLength))
            return result
        }
    }

    private static let maxOutputLength = 64 << 10
    private static let maxReasonLength = 500

    private static func text(_ duration: Duration) -> String {
        "\(EncoderCapacity.text(duration / .seconds(1))) s"
    }

    private static func text(status: Int32?) -> String {
        guard let status else { return "an unknown status" }
        let signal = status & 0x7F
        return signal == 0 ? "status \((status >> 8) & 0xFF)" : "signal \(signal)"
    }
}
