internal import BoxReadings
internal import CameraModel
internal import ControlAPI
internal import PrometheusText

/// The figures of the box in Prometheus's names, and those of all its cameras.
enum HealthMetrics {
    struct Input: Sendable {
        var version: String
        var states: [CheckName: HealthState] = [:]
        var recoveries: [LadderLevel: UInt64] = [:]
        var pressure = PressureReading()
        var celsius: Double?
        var disk: DiskReading?
        var isClockSynchronised: Bool?
        /// Active cameras; nil for one that does not answer.
        var cameras: [(id: String, document: CameraStatusDocument?)] = []
        /// Seconds since 1970.
        var time: Double = 0
    }

    static func families(_ input: Input) -> [MetricFamily] {
        box(input) + cameras(input)
    }

    private static func box(_ input: Input) -> [MetricFamily] {
        var families = [
            MetricFamily(
                "watchbox_build_info", .gauge, help: "Always 1; the labels show the version and the system's slot.",
                // There are no slots before there are system images.
                samples: [.init(1, labels: [(name: "version", value: input.version), (name: "slot", value: "none")])]),
            MetricFamily(
                "watchbox_health_state", .gauge, help: "1 for the state that a check is in, the worst of its objects.",
                samples: input.states.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { check, state in
                    HealthState.allCases.map { each in
                        .init(
                            each == state ? 1 : 0,
                            labels: [(name: "check", value: check.rawValue), (name: "state", value: each.rawValue)])
                    }
                }),
            MetricFamily(
                "watchbox_recoveries_total", .counter, help: "Steps of the escalation ladder, by level.",
                samples: LadderLevel.allCases.map {
                    .init(Double(input.recoveries[$0] ?? 0), labels: [(name: "level", value: $0.rawValue)])
                }),
        ]
        let pressures = [
            ("cpu", input.pressure.processor), ("io", input.pressure.storage), ("memory", input.pressure.memory),
        ]
        func add(_ name: String, _ help: String, _ samples: [MetricFamily.Sample]) {
            if !samples.isEmpty { families.append(MetricFamily(name, .gauge, help: help, samples: samples)) }
        }
        add(
            "watchbox_pressure_ratio", "Part of the last minute in which some task waited for a resource, 0 to 1.",
            pressures.compactMap { name, value in value.map { .init($0, labels: [(name: "resource", value: name)]) } })
        add("watchbox_temperature_celsius", "Of the hottest thermal zone.", input.celsius.map { [.init($0)] } ?? [])
        add(
            "watchbox_storage_free_bytes", "Free on the data file system for unprivileged users.",
            input.disk.map { [.init(Double($0.freeBytes))] } ?? [])
        add(
            "watchbox_storage_size_bytes", "Size of the data file system.",
            input.disk.map { [.init(Double($0.sizeBytes))] } ?? [])
        add(
            "watchbox_clock_synced", "1 while the clock follows a time server.",
            input.isClockSynchronised.map { [.init($0 ? 1 : 0)] } ?? [])
        return families
    }

    private static func cameras(_ input: Input) -> [MetricFamily] {
        guard !input.cameras.isEmpty else { return [] }
        let known = input.cameras.compactMap { camera in camera.document.map { (camera.id, $0) } }
        func label(_ id: String) -> (name: String, value: String) { (name: "camera", value: id) }
        func each(_ value: (CameraStatusDocument) -> Double?) -> [MetricFamily.Sample] {
            known.compactMap { id, document in value(document).map { .init($0, labels: [label(id)]) } }
        }
        func reason(_ id: String, _ reason: String, _ value: UInt64) -> MetricFamily.Sample {
            .init(Double(value), labels: [label(id), (name: "reason", value: reason)])
        }
        let families = [
            MetricFamily(
                "watchbox_camera_up", .gauge, help: "1 while the relay has accepted the stream.",
                samples: input.cameras.map {
                    .init($0.document?.statistics.state == .publishing ? 1 : 0, labels: [label($0.id)])
                }),
            MetricFamily(
                "watchbox_frames_captured_total", .counter, help: "Frames that the source delivered.",
                samples: each { Double($0.statistics.video.delivered) }),
            MetricFamily(
                "watchbox_frames_published_total", .counter,
                help: "Frames that were sealed and handed to the transport.",
                samples: each { Double($0.statistics.video.sealed) }),
            MetricFamily(
                "watchbox_frames_dropped_total", .counter, help: "Frames given up before encryption, by reason.",
                samples: known.flatMap { id, document in
                    [
                        reason(id, "congestion", document.statistics.video.droppedOnTheWay),
                        reason(id, "late", document.statistics.video.late ?? 0),
                        reason(id, "too_long", document.statistics.video.refused),
                    ]
                }),
            MetricFamily(
                "watchbox_bytes_published_total", .counter, help: "Bytes of media that were sealed.",
                samples: each { Double($0.statistics.video.bytes) + Double($0.statistics.audio.bytes) }),
            MetricFamily(
                "watchbox_publish_last_ack_timestamp_seconds", .gauge,
                help: "When the relay last acknowledged, in seconds since 1970.",
                samples: each { document in
                    document.statistics.lastAcknowledged.map { acknowledged in
                        let age = document.instant > acknowledged ? document.instant - acknowledged : 0
                        return input.time - Double(age) / 1e9
                    }
                }),
            MetricFamily(
                "watchbox_capture_up", .gauge, help: "1 while the camera delivers, 0 while it is waited for.",
                samples: each { $0.statistics.capture.map { $0.state == .streaming ? 1 : 0 } }),
            MetricFamily(
                "watchbox_capture_interruptions_total", .counter,
                help: "Times when the camera was gone or started again.",
                samples: each { $0.statistics.capture.map { Double($0.interruptions) } }),
            MetricFamily(
                "watchbox_encoder_hangs", .gauge, help: "Hangs of the hardware encoder that the box remembers.",
                samples: each { $0.statistics.capture.map { Double($0.encoderHangs) } }),
            MetricFamily(
                "watchbox_encoder_limited", .gauge, help: "1 while size or rate are less than was asked for.",
                samples: each { $0.statistics.capture.map { $0.limit == nil ? 0 : 1 } }),
            MetricFamily(
                "watchbox_relay_reconnects_total", .counter, help: "Connections to the relay after the first.",
                samples: each { Double($0.statistics.reconnects) }),
            MetricFamily(
                "watchbox_key_iv_used_ratio", .gauge, help: "Part of the collection's counter that is used, 0 to 1.",
                samples: each { $0.ivUsedRatio }),
        ]
        let uplinks = uplinks { value in each { $0.statistics.uplink.map(value) } }
        return (families + uplinks).filter { !$0.samples.isEmpty }
    }

    /// Of bitrates that follow their link to the relay.
    private static func uplinks(
        _ each: ((UplinkStatistics) -> Double) -> [MetricFamily.Sample]
    ) -> [MetricFamily] {
        [
            MetricFamily(
                "watchbox_uplink_target_bits_per_second", .gauge,
                help: "What the link to the relay is thought to bear of video.", samples: each { Double($0.target) }),
            MetricFamily(
                "watchbox_uplink_limit_bits_per_second", .gauge,
                help: "The camera's own bitrate, the most that the target can be.", samples: each { Double($0.most) }),
            MetricFamily(
                "watchbox_uplink_measured_bits_per_second", .gauge,
                help: "What the relay's kernel acknowledged lately.", samples: each { Double($0.measured) }),
            MetricFamily(
                "watchbox_uplink_delay_seconds", .gauge,
                help: "For how long a frame that is captured now will wait.",
                samples: each { Double($0.delayMilliseconds) / 1000 }),
            MetricFamily(
                "watchbox_uplink_frames_dropped_total", .counter,
                help: "Frames given up because they had waited too long for the link; among those of congestion.",
                samples: each { Double($0.drops) }),
            MetricFamily(
                "watchbox_uplink_bitrate_changes_total", .counter,
                help: "Changes of the encoder's bitrate for the link.", samples: each { Double($0.changes) }),
        ]
    }
}
