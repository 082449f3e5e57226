import Glibc
import Media
import VideoCodec

/// Encodes frames with one encoder, and keeps what went in and what came out.
struct EncodeRun {
    private let encoder: String
    private let width: Int
    private let height: Int
    private let count: Int
    private let stride: Int
    private let rate: Double
    private let deadline: Double
    private let changes: [Int: Int]
    private let keys: Set<Int>
    private let coded: UnsafeMutablePointer<FILE>?
    private let raw: UnsafeMutablePointer<FILE>?
    private var configuration: VideoEncoderConfiguration

    init(_ arguments: inout Arguments) throws {
        let expectedStride = try arguments.count("--stride")
        rate = try arguments.number("--rate") ?? 15
        let gop = try arguments.number("--gop") ?? 1
        let buffers = try arguments.count("--buffers")
        deadline = try arguments.number("--deadline") ?? 30
        var changes: [Int: Int] = [:]
        for text in try arguments.options("--change") {
            let parts = text.split(separator: ":").compactMap { Int($0) }
            guard parts.count == 2 else { throw UsageError("--change \(text) is not FRAME:BITS") }
            changes[parts[0]] = parts[1]
        }
        self.changes = changes
        keys = Set(try arguments.options("--key-at").compactMap { Int($0) })
        coded = try Self.file(try arguments.option("--coded"))
        raw = try Self.file(try arguments.option("--raw"))
        encoder = try arguments.next("an encoder")
        (width, height) = try Arguments.size(try arguments.next("a size"))
        guard let count = Int(try arguments.next("a count of frames")) else {
            throw UsageError("the count is not a number")
        }
        self.count = count
        stride = expectedStride ?? width
        try arguments.end()
        guard width >= 64, height >= 64, stride >= width, stride.isMultiple(of: 2) else {
            throw UsageError("frames are 64x64 or larger, and their lines as long or longer")
        }
        configuration = VideoEncoderConfiguration(
            width: width, height: height, frameRate: rate, bitsPerSecond: 2_000_000)
        configuration.encoders = [encoder]
        configuration.keyFrameInterval = gop
        if let buffers { configuration.captureBuffers = buffers }
    }

    private static func file(_ path: String?) throws(UsageError) -> UnsafeMutablePointer<FILE>? {
        guard let path else { return nil }
        guard let file = fopen(path, "w") else { throw UsageError("\(path) cannot be written") }
        return file
    }

    func run() throws {
        let heartbeat = EncoderHeartbeat()
        let guardian = StuckGuard(heartbeat, seconds: deadline)
        guardian.start()
        let begin = monotonicNanoseconds()
        let encoder = try VideoEncoder(configuration, heartbeat: heartbeat)
        Report.say(
            "opened",
            [
                "encoder": .text(encoder.choice.encoder), "reason": .text(encoder.choice.reason),
                "lineAlignment": .number(encoder.lineAlignment), "seconds": .real(Self.seconds(since: begin)),
                "formats": .number(encoder.acceptedPixelFormats.count),
            ])
        let source = MovingImage(width: width, height: height, stride: stride)
        var output = EncodedOutput(file: coded, rate: rate)
        for number in 0..<count {
            if let bits = changes[number] {
                var changed = encoder.configuration
                changed.bitsPerSecond = bits
                try encoder.reconfigure(changed)
            }
            if keys.contains(number) { encoder.requestKeyFrame() }
            let frame = try source.frame(number, raw: raw)
            let time = MediaTime(nanoseconds: Int64(Double(number) * 1e9 / rate))
            try output.take(try encoder.encode(frame, at: time, captureInstant: monotonicNanoseconds()))
            guardian.frames = number + 1
        }
        let sent = monotonicNanoseconds()
        try output.take(try encoder.finish())
        if let coded { fclose(coded) }
        if let raw { fclose(raw) }
        let counters = encoder.counters
        Report.say(
            "end",
            [
                "sent": .number(count), "units": .list(output.numbers.map { .number($0) }),
                "keys": .list(output.keys.map { .number($0) }), "formats": .number(output.formats),
                "errors": .number(counters.errors), "drops": .number(counters.drops),
                "unmatched": .number(counters.unmatched), "realigned": .number(counters.realigned),
                "openings": .number(counters.openings), "forcedKeyFrames": .number(counters.forcedKeyFrames),
                "seconds": .real(Self.seconds(since: begin)), "finishSeconds": .real(Self.seconds(since: sent)),
                "encodeSeconds": .real(Double(encoder.encodeNanoseconds.total) / 1e9),
            ])
    }

    static func seconds(since instant: UInt64) -> Double {
        Double(monotonicNanoseconds() - instant) / 1e9
    }
}

/// What an encoder gave, as a byte stream that any decoder reads.
struct EncodedOutput {
    private let file: UnsafeMutablePointer<FILE>?
    private let rate: Double
    /// Of the frames that came out, in order.
    private(set) var numbers: [Int] = []
    private(set) var keys: [Int] = []
    private(set) var formats = 0
    private var parameterSets: [[UInt8]] = []

    init(file: UnsafeMutablePointer<FILE>?, rate: Double) {
        self.file = file
        self.rate = rate
    }

    mutating func take(_ events: [MediaEvent]) throws {
        for event in events {
            switch event {
            case .videoFormat(let format):
                formats += 1
                guard format.codec == .h264 else { continue }
                let record = try AVCConfigurationRecord.parse(format.configurationRecord[...])
                parameterSets = record.sequenceParameterSets + record.pictureParameterSets
            case .audioFormat: break
            case .accessUnit(let unit):
                let number = Int((Double(unit.presentationTime.nanoseconds) * rate / 1e9).rounded())
                numbers.append(number)
                if unit.isKeyFrame {
                    keys.append(number)
                    for set in parameterSets { write([0, 0, 0, 1] + set) }
                }
                write(try AnnexB.bytes(fromLengthPrefixed: unit.data[...]))
            }
        }
    }

    private func write(_ bytes: [UInt8]) {
        if let file { fwrite(bytes, 1, bytes.count, file) }
    }
}
