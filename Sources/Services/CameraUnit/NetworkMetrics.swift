internal import CameraModel
internal import ControlAPI
internal import PrometheusText

extension CameraMetrics {
    /// Of a camera on the network.
    static func families(
        of network: NetworkStatistics, _ camera: (name: String, value: String)
    ) -> [MetricFamily] {
        func one(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Double) -> MetricFamily {
            MetricFamily(name, kind, help: help, samples: [.init(value, labels: [camera])])
        }
        func packets(_ reason: String, _ count: UInt64) -> MetricFamily.Sample {
            .init(Double(count), labels: [camera, (name: "reason", value: reason)])
        }
        var families = [
            MetricFamily(
                "watchbox_pull_state", .gauge, help: "1 for the state of the connection to the camera, 0 for others.",
                samples: NetworkStatistics.State.allCases.map { state in
                    .init(network.state == state ? 1 : 0, labels: [camera, (name: "state", value: state.rawValue)])
                }),
            one("watchbox_pull_attempts_total", .counter, "Attempts to connect.", Double(network.attempts)),
            one(
                "watchbox_pull_connections_total", .counter, "Attempts that brought pictures.",
                Double(network.connections)),
            one(
                "watchbox_pull_stalls_total", .counter, "Times when pictures stopped though the connection stood.",
                Double(network.stalls)),
            one("watchbox_rtp_packets_total", .counter, "RTP packets that arrived.", Double(network.packets)),
            MetricFamily(
                "watchbox_rtp_packets_irregular_total", .counter,
                help: "RTP packets that were missing, out of order, or not of this stream, by reason.",
                samples: [
                    packets("lost", network.lost), packets("reordered", network.reordered),
                    packets("discarded", network.discarded),
                ]),
            one(
                "watchbox_pull_pictures_damaged_total", .counter, "Pictures left out because a part of them was lost.",
                Double(network.damaged)),
            one(
                "watchbox_pull_timelines_total", .counter, "Steps of the camera's clock that were not time.",
                Double(network.timelines)),
            one(
                "watchbox_pull_events_total", .counter, "Motion, tamper and other events that the camera announced.",
                Double(network.eventCount)),
        ]
        let timings = [("video", network.videoTiming), ("audio", network.audioTiming)]
        let corrected = timings.compactMap { media, timing in
            timing.map {
                MetricFamily.Sample($0.basis == .camera ? 0 : 1, labels: [camera, (name: "media", value: media)])
            }
        }
        if !corrected.isEmpty {
            families.append(
                MetricFamily(
                    "watchbox_pull_timestamps_corrected", .gauge,
                    help: "1 where arrivals correct or replace the camera's time stamps, 0 where these are used.",
                    samples: corrected))
        }
        let measured: [(name: String, help: String, value: Double?)] = [
            (
                "watchbox_pull_first_key_frame_seconds", "From the newest successful connect to its first key frame.",
                network.firstKeyFrameMilliseconds.map { $0 / 1e3 }
            ),
            (
                "watchbox_pull_play_to_key_frame_seconds", "From the answer to PLAY to the first key frame.",
                network.playToKeyFrameMilliseconds.map { $0 / 1e3 }
            ),
            (
                "watchbox_pull_clock_drift_ratio", "How much faster the camera's clock runs than this box's.",
                network.driftPartsPerMillion.map { $0 / 1e6 }
            ),
            (
                "watchbox_pull_clock_ahead_seconds", "The camera's wall clock minus this box's.",
                network.clockAheadMilliseconds.map { $0 / 1e3 }
            ),
            (
                "watchbox_rtp_jitter_seconds", "Interarrival jitter of the video.",
                network.jitterMilliseconds.map { $0 / 1e3 }
            ),
        ]
        for (name, help, value) in measured {
            if let value { families.append(one(name, .gauge, help, value)) }
        }
        families.append(
            MetricFamily(
                "watchbox_pull_info", .gauge, help: "How the camera is pulled.",
                samples: [
                    .init(
                        1,
                        labels: [
                            camera, (name: "transport", value: network.transport ?? ""),
                            (name: "authentication", value: network.authentication ?? ""),
                            (name: "video", value: network.videoCodec ?? ""),
                            (name: "audio", value: network.audioCodec ?? ""),
                        ])
                ]))
        return families
    }
}
