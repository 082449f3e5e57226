internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

/// What a camera's process says of its device, its encoder and its audio. Its text is bounded: a process that was
/// broken into says what it likes.
enum CaptureChecks {
    private static let maxTextLength = 200
    /// The encoder's name where the camera encodes.
    private static let passthrough = "passthrough"

    /// Nothing about what the source does not have.
    static func findings(_ capture: CaptureStatistics?, _ id: String) -> [Finding] {
        guard let capture else { return [] }
        return [encoder(capture, id), audio(capture, id)].compactMap(\.self)
    }

    /// It waits for somebody: no restart and no reset plugs a camera in, or chooses another size. A camera on the
    /// network is tried again by its own process, which knows when: a restart would try a refused password once more,
    /// and no reboot of this box repairs a camera.
    static func isForPerson(_ capture: CaptureStatistics?) -> Bool {
        guard let capture, capture.state == .waiting else { return false }
        guard capture.network == nil else { return true }
        let codes: [ErrorCode] = [.deviceMissing, .deviceNotPermitted, .deviceUnusable, .formatRefused]
        return codes.contains(code(capture))
    }

    static func code(_ capture: CaptureStatistics) -> ErrorCode {
        capture.code ?? (capture.network == nil ? .deviceMissing : .cameraUnreachable)
    }

    static func reason(_ capture: CaptureStatistics) -> String {
        text(capture.reason) ?? "the camera is not there"
    }

    /// The kernel's name of a USB port: `1-1.4`.
    static func isPort(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count <= 32, parts.count == 2 else { return false }
        let numbers = [parts[0]] + parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return numbers.allSatisfy { number in
            (1...3).contains(number.utf8.count) && number.utf8.allSatisfy { (48...57).contains($0) }
        }
    }

    private static func encoder(_ capture: CaptureStatistics, _ id: String) -> Finding? {
        guard let encoder = text(capture.encoder) else { return nil }
        let isHardware = capture.isHardwareEncoder == true
        // What the process says, not the number of hangs: software may have been asked for.
        if capture.code == .hardwareEncoderOff {
            let why = text(capture.encoderReason) ?? "it hung again and again and is left alone"
            return Finding(
                .encoder, id, .warn, "the hardware encoder is not used for a while; \(encoder) encodes: \(why)",
                code: .hardwareEncoderOff)
        }
        if let limit = text(capture.limit) { return Finding(.encoder, id, .warn, limit, code: .encoderLimited) }
        if capture.encoderHangs > 0 {
            let times = capture.encoderHangs == 1 ? "time" : "times"
            return Finding(
                .encoder, id, .warn,
                "the hardware encoder hung \(capture.encoderHangs) \(times) lately; \(encoder) encodes",
                code: .encoderHung)
        }
        let size = capture.width.flatMap { width in capture.height.map { ", \(width)x\($0)" } } ?? ""
        let rate = capture.rate.map { " at \($0.tenths) fps" } ?? ""
        let how =
            encoder == passthrough
            ? "as the camera encodes it" : "\(encoder) (\(isHardware ? "hardware" : "software"))"
        return Finding(.encoder, id, .ok, "\(how)\(size)\(rate)")
    }

    private static func audio(_ capture: CaptureStatistics, _ id: String) -> Finding? {
        if let reason = text(capture.audioReason) {
            return Finding(.audio, id, .warn, "no audio: \(reason)", code: .audioMissing)
        }
        return text(capture.audio).map { Finding(.audio, id, .ok, "\($0) delivers") }
    }

    private static func text(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return text.count > maxTextLength ? "\(text.prefix(maxTextLength))…" : text
    }
}
