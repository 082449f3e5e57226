internal import CameraModel
public import ControlAPI

/// A camera's figures in Prometheus's names (health-and-watchdog.md §7).
public enum CameraMetrics {
    public static func families(_ status: CameraStatusDocument) -> [MetricFamily] {
        let statistics = status.statistics
        let camera = (name: "camera", value: statistics.camera)
        func one(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Double) -> MetricFamily {
            MetricFamily(name, kind, help: help, samples: [.init(value, labels: [camera])])
        }
        var families = [
            one(
                "watchbox_camera_up", .gauge, "1 while the relay has accepted the stream.",
                statistics.state == .publishing ? 1 : 0),
            one(
                "watchbox_frames_captured_total", .counter, "Pictures that the source delivered.",
                Double(statistics.video.delivered)),
            one(
                "watchbox_frames_published_total", .counter, "Pictures that were sealed and handed to the transport.",
                Double(statistics.video.sealed)),
            MetricFamily(
                "watchbox_frames_dropped_total", .counter, help: "Pictures given up before encryption, by reason.",
                samples: [
                    .init(Double(statistics.video.dropped), labels: [camera, (name: "reason", value: "congestion")]),
                    .init(Double(statistics.video.refused), labels: [camera, (name: "reason", value: "too_long")]),
                ]),
            one(
                "watchbox_bytes_published_total", .counter, "Bytes of media that were sealed.",
                Double(statistics.video.bytes) + Double(statistics.audio.bytes)),
            one(
                "watchbox_key_iv_used_ratio", .gauge, "Part of the collection's counter that is used, 0 to 1.",
                status.ivUsedRatio),
            one(
                "watchbox_relay_reconnects_total", .counter, "Connections to the relay after the first.",
                Double(statistics.reconnects)),
        ]
        if let acknowledged = statistics.lastAcknowledged {
            families.append(
                one(
                    "watchbox_publish_last_ack_age_seconds", .gauge, "Since the relay last acknowledged.",
                    Double(status.instant > acknowledged ? status.instant - acknowledged : 0) / 1e9))
        }
        return families
    }
}
