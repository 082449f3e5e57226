internal import CameraModel

/// What a camera's process says of its device and its encoder, as text.
enum CaptureText {
    /// `libx264`, `h264_v4l2m2m (hardware)`; nil before there is one.
    static func encoder(_ capture: CaptureStatistics) -> String? {
        capture.encoder.map { name in capture.isHardwareEncoder == true ? "\(name) (hardware)" : name }
    }

    static func facts(_ capture: CaptureStatistics) -> [(String, String)] {
        var facts: [(String, String)] = []
        let device = [capture.card, capture.device.map { "at \($0)" }].compactMap { $0 }.joined(separator: " ")
        if !device.isEmpty { facts.append(("Camera", device)) }
        if capture.state != .streaming, let reason = capture.reason { facts.append(("Waits", reason)) }
        if let format = capture.pixelFormat {
            facts.append(
                ("Delivers", "\(format) \(frame(capture.captureWidth, capture.captureHeight, capture.captureRate))"))
        }
        if let encoder = encoder(capture) {
            facts.append(("Encoder", encoder + (capture.encoderReason.map { ": \($0)" } ?? "")))
            facts.append(("Publishes", frame(capture.width, capture.height, capture.rate)))
        }
        if let limit = capture.limit { facts.append(("Limit", limit)) }
        if capture.captured > 0 { facts.append(("Frames", frames(capture))) }
        if let latency = capture.latencyNanoseconds {
            let own = capture.ownDurations.percentile(0.5).map { ", at most \(milliseconds($0)) of it ours" } ?? ""
            facts.append(("Latency", milliseconds(latency) + own))
        }
        if let audio = capture.audio { facts.append(("Audio", audio)) }
        if let reason = capture.audioReason { facts.append(("No audio", reason)) }
        if let network = capture.network { facts += NetworkText.facts(network) }
        return facts
    }

    private static func frames(_ capture: CaptureStatistics) -> String {
        let counts: [(UInt64, String)] = [
            (capture.captured, "captured"), (capture.superseded, "given up for newer ones"),
            (capture.thinned, "left out for the rate"),
            (capture.lost, capture.network == nil ? "missing in the driver's count" : "packets lost"),
            (capture.damaged, "damaged"), (capture.withheld, "held back until a key frame"),
            (capture.encoderErrors, "lost in the encoder"),
            (capture.encoderDrops, "dropped by the encoder"),
        ]
        return counts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
            .map { "\($0.element.0) \($0.element.1)" }.joined(separator: ", ")
    }

    private static func frame(_ width: Int?, _ height: Int?, _ rate: Double?) -> String {
        var parts: [String] = []
        if let width, let height { parts.append("\(width)x\(height)") }
        if let rate { parts.append("\(Quantity.tenths(rate)) fps") }
        return parts.joined(separator: ", ")
    }

    private static func milliseconds(_ nanoseconds: UInt64) -> String {
        "\(Quantity.tenths(Double(nanoseconds) / 1e6)) ms"
    }
}
