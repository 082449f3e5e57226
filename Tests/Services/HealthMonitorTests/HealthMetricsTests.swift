import CameraModel
import ControlAPI
import PrometheusText
import Testing

@testable import BoxReadings
@testable import HealthMonitor

struct HealthMetricsTests {
    private let input = HealthMetrics.Input(
        version: "1.2.3", states: [.publish: .fail, .power: .unknown], recoveries: [.restartCamera: 4],
        pressure: PressureReading(memory: 0.1, processor: 0.2, storage: 0.3), celsius: 51.2,
        disk: DiskReading(sizeBytes: 1000, freeBytes: 400, blocksUsed: 0.6, inodesUsed: nil), isClockSynchronised: true,
        cameras: [
            (
                "front",
                status("front", frames: 100, acknowledgedSecondsAgo: 2) {
                    ($0.video.dropped, $0.video.late) = (7, 4)
                    $0.uplink = UplinkStatistics(
                        target: 850_000, most: 3_500_000, measured: 940_000, delayMilliseconds: 40, drops: 21,
                        changes: 7)
                }
            ), ("back", nil),
        ],
        time: 1_780_000_000)

    /// docs/ref/health.md, "Metrics".
    private static let labels: Set<String> = [
        "camera", "check", "reason", "state", "level", "resource", "version", "slot",
    ]

    @Test func `every family has a name of ours, a type, a help and only allowed labels`() {
        for family in HealthMetrics.families(input) {
            #expect(family.name.hasPrefix("watchbox_"))
            #expect(family.name.allSatisfy { $0.isLowercase || $0 == "_" })
            #expect(!family.help.isEmpty)
            #expect(!family.samples.isEmpty, "\(family.name)")
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
            for sample in family.samples { #expect(Set(sample.labels.map(\.name)).isSubset(of: Self.labels)) }
            let series = family.samples.map { sample in sample.labels.map { "\($0.name)=\($0.value)" } }
            #expect(Set(series).count == series.count, "\(family.name)")
        }
        let names = HealthMetrics.families(input).map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func `the text says what was put in`() {
        let lines = MetricFamily.text(HealthMetrics.families(input)).split(separator: "\n").map(String.init)
        for line in [
            "# TYPE watchbox_health_state gauge",
            "# TYPE watchbox_recoveries_total counter",
            "watchbox_build_info{version=\"1.2.3\",slot=\"none\"} 1",
            "watchbox_health_state{check=\"publish\",state=\"fail\"} 1",
            "watchbox_health_state{check=\"publish\",state=\"ok\"} 0",
            "watchbox_health_state{check=\"power\",state=\"unknown\"} 1",
            "watchbox_recoveries_total{level=\"L1\"} 4",
            "watchbox_recoveries_total{level=\"L5\"} 0",
            "watchbox_pressure_ratio{resource=\"cpu\"} 0.2",
            "watchbox_temperature_celsius 51.2",
            "watchbox_storage_free_bytes 400",
            "watchbox_storage_size_bytes 1000",
            "watchbox_clock_synced 1",
            "watchbox_camera_up{camera=\"front\"} 1",
            "watchbox_camera_up{camera=\"back\"} 0",
            "watchbox_frames_published_total{camera=\"front\"} 100",
            "watchbox_frames_dropped_total{camera=\"front\",reason=\"congestion\"} 3",
            "watchbox_frames_dropped_total{camera=\"front\",reason=\"late\"} 4",
            "watchbox_publish_last_ack_timestamp_seconds{camera=\"front\"} 1779999998",
            "watchbox_key_iv_used_ratio{camera=\"front\"} 0.1",
            "watchbox_uplink_target_bits_per_second{camera=\"front\"} 850000",
            "watchbox_uplink_limit_bits_per_second{camera=\"front\"} 3500000",
            "watchbox_uplink_measured_bits_per_second{camera=\"front\"} 940000",
            "watchbox_uplink_delay_seconds{camera=\"front\"} 0.04",
            "watchbox_uplink_frames_dropped_total{camera=\"front\"} 21",
            "watchbox_uplink_bitrate_changes_total{camera=\"front\"} 7",
        ] { #expect(lines.contains(line), "\(line)") }
        // A camera that does not answer has no figures: the last ones would be a lie.
        #expect(!lines.contains { $0.hasPrefix("watchbox_frames") && $0.contains("back") })
    }

    @Test func `what is not known is left out`() {
        let names = HealthMetrics.families(.init(version: "1")).map(\.name)
        #expect(!names.contains("watchbox_temperature_celsius"))
        #expect(!names.contains("watchbox_clock_synced"))
        #expect(!names.contains("watchbox_storage_free_bytes"))
        #expect(names.contains("watchbox_build_info"))
    }
}
