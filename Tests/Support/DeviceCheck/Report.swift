import Glibc
import VideoCapture
import VideoCodec

/// Lines of JSON on standard output.
enum Report {
    /// What JSON can say.
    indirect enum Value {
        case text(String)
        case number(Int)
        case real(Double)
        case bool(Bool)
        case list([Value])
        case object([String: Value])
        case null

        var json: String {
            switch self {
            case .text(let text): "\"" + text.unicodeScalars.map(Self.escaped).joined() + "\""
            case .number(let number): "\(number)"
            case .real(let number): number.isFinite ? "\(number)" : "null"
            case .bool(let value): value ? "true" : "false"
            case .list(let values): "[" + values.map(\.json).joined(separator: ", ") + "]"
            case .object(let fields):
                "{"
                    + fields.sorted { $0.key < $1.key }.map { Value.text($0.key).json + ": " + $0.value.json }
                    .joined(separator: ", ") + "}"
            case .null: "null"
            }
        }

        private static func escaped(_ scalar: Unicode.Scalar) -> String {
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 32:
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }

        static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
        static func number(_ number: UInt64) -> Value { .number(Int(clamping: number)) }
        static func number(_ number: UInt64?) -> Value { number.map { .number(Int(clamping: $0)) } ?? .null }
    }

    static func line(_ value: Value) {
        write(value.json + "\n", to: STDOUT_FILENO)
    }

    /// At once, so that whoever waits for a line has it.
    static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }

    static func say(_ event: String, _ fields: [String: Value] = [:]) {
        line(.object(fields.merging(["event": .text(event)]) { _, event in event }))
    }

    static func say(_ error: any Error) {
        var fields: [String: Value] = ["error": .text("\(error)")]
        if let error = error as? CaptureError {
            fields["case"] = .text(caseName(error))
            fields["what"] = .text(error.what)
            fields["why"] = .text(error.why)
            fields["hint"] = .text(error.hint)
            fields["remedy"] = .text("\(error.remedy)")
        } else if let error = error as? VideoCodecError {
            fields["case"] = .text(caseName(error))
        }
        say("error", fields)
    }

    /// A case's values say its name; those without are named here.
    private static func caseName(_ error: any Error) -> String {
        switch error as? CaptureError {
        case .disconnected?: "disconnected"
        case .formatChanged?: "formatChanged"
        default: Mirror(reflecting: error).children.first?.label ?? "\(error)"
        }
    }
}

/// CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
