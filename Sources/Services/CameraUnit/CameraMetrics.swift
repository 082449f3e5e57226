internal import CameraModel
public import ControlAPI
public import PrometheusText

/// A camera's figures in Prometheus's names.
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
                    .init(
                        Double(statistics.video.droppedOnTheWay),
                        labels: [camera, (name: "reason", value: "congestion")]),
                    .init(Double(statistics.video.late ?? 0), labels: [camera, (name: "reason", value: "late")]),
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
        if let capture = statistics.capture { families += Self.families(of: capture, camera) }
        if let network = statistics.capture?.network { families += Self.families(of: network, camera) }
        return families
    }

    /// Of a camera and its encoder.
    private static func families(
        of capture: CaptureStatistics, _ camera: (name: String, value: String)
    ) -> [MetricFamily] {
        func one(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Double) -> MetricFamily {
            MetricFamily(name, kind, help: help, samples: [.init(value, labels: [camera])])
        }
        func lost(_ reason: String, _ count: UInt64) -> MetricFamily.Sample {
            .init(Double(count), labels: [camera, (name: "reason", value: reason)])
        }
        var families = [
            one(
                "watchbox_capture_up", .gauge, "1 while the camera delivers, 0 while it is waited for.",
                capture.state == .streaming ? 1 : 0),
            one(
                "watchbox_capture_pictures_total", .counter, "Pictures that the driver delivered.",
                Double(capture.captured)),
            MetricFamily(
                "watchbox_capture_pictures_lost_total", .counter, help: "Pictures that were not encoded, by reason.",
                samples: [
                    lost("superseded", capture.superseded), lost("thinned", capture.thinned),
                    lost("missing", capture.lost), lost("damaged", capture.damaged),
                    lost("withheld", capture.withheld),
                ]),
            one(
                "watchbox_capture_interruptions_total", .counter, "Times when the camera was gone or started anew.",
                Double(capture.interruptions)),
            one(
                "watchbox_capture_clock_steps_total", .counter, "Steps of the driver's clock that were not time.",
                Double(capture.clockSteps)),
            one(
                "watchbox_capture_copies_per_picture", .gauge,
                "Copies and conversions between the driver's buffer and the encoder's input.",
                Double(capture.copiesPerPicture)),
            one(
                "watchbox_source_cpu_seconds_total", .counter, "CPU time of the source's thread outside the encoder.",
                Double(capture.threadNanoseconds) / 1e9),
            one(
                "watchbox_encoder_errors_total", .counter,
                "Packets flagged by the encoder, and pictures lost with them.",
                Double(capture.encoderErrors)),
            one(
                "watchbox_encoder_drops_total", .counter, "Pictures that went into the encoder and never came out.",
                Double(capture.encoderDrops)),
            one(
                "watchbox_encoder_openings_total", .counter, "Times when the encoder was opened.",
                Double(capture.encoderOpenings)),
            one(
                "watchbox_encoder_hangs", .gauge, "Hangs of the hardware encoder that the box remembers.",
                Double(capture.encoderHangs)),
            one(
                "watchbox_encoder_limited", .gauge, "1 while size or rate are less than was asked for.",
                capture.limit == nil ? 0 : 1),
        ]
        if let encoder = capture.encoder {
            let isHardware = capture.isHardwareEncoder ?? false
            families.append(
                MetricFamily(
                    "watchbox_encoder_info", .gauge, help: "Which encoder codes.",
                    samples: [
                        .init(
                            1,
                            labels: [
                                camera, (name: "encoder", value: encoder),
                                (name: "hardware", value: isHardware ? "1" : "0"),
                            ])
                    ]))
        }
        if let latency = capture.latencyNanoseconds {
            families.append(
                one(
                    "watchbox_capture_latency_seconds", .gauge, "From the driver's time stamp to the packet.",
                    Double(latency) / 1e9))
        }
        families += [
            histogram(
                "watchbox_encode_seconds", "Time of a picture inside the encoder.", capture.encodeDurations, camera),
            histogram(
                "watchbox_capture_own_seconds",
                "From a picture's arrival out of the driver to its packet, without the time inside the encoder.",
                capture.ownDurations, camera),
        ]
        return families
    }

    private static func histogram(
        _ name: String, _ help: String, _ durations: DurationHistogram, _ camera: (name: String, value: String)
    ) -> MetricFamily {
        var seen: UInt64 = 0
        var samples: [MetricFamily.Sample] = []
        for (index, count) in durations.counts.enumerated() {
            seen += count
            let isLast = index >= DurationHistogram.limits.count
            let end = isLast ? "+Inf" : "\(Double(DurationHistogram.limits[index]) / 1e9)"
            samples.append(.init(Double(seen), labels: [camera, (name: "le", value: end)], suffix: "_bucket"))
        }
        samples.append(.init(Double(durations.total) / 1e9, labels: [camera], suffix: "_sum"))
        samples.append(.init(Double(seen), labels: [camera], suffix: "_count"))
        return MetricFamily(name, .histogram, help: help, samples: samples)
    }
}
