internal import PrometheusText

/// A relay's figures in Prometheus's names.
enum RelayMetrics {
    /// - Parameter streams: how many get series of their own. Names that players merely wait for get none: anybody can
    ///   invent them.
    static func text(
        _ statistics: RelayStatistics, _ state: RelayStreamsDocument.State = .serving, streams limit: Int
    ) -> String {
        let draining = MetricFamily(
            "watchbox_relay_draining", .gauge, help: "1 from the beginning of a drain on.",
            samples: [.init(state == .serving ? 0 : 1)])
        return MetricFamily.text(
            totals(statistics) + [draining] + families(of: statistics, limit) + forwards(statistics))
    }

    /// Bounded by `ForwardTable.most`.
    private static func forwards(_ statistics: RelayStatistics) -> [MetricFamily] {
        func each(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (RelayStatistics.Forward) -> Double
        ) -> MetricFamily {
            MetricFamily(
                "watchbox_relay_forward_" + name, kind, help: help,
                samples: statistics.forwards.filter { $0.state != .refused }.map { forward in
                    .init(
                        value(forward),
                        labels: [
                            ("app", forward.app), ("name", forward.name), ("forward", "\(forward.number)"),
                            ("host", forward.host),
                        ])
                })
        }
        return [
            MetricFamily(
                "watchbox_relay_forwards_refused", .gauge, help: "Forwards that were not begun.",
                samples: [.init(Double(statistics.forwardsRefused))]),
            each("up", .gauge, "1 while the next relay takes the stream.") { $0.state == .forwarding ? 1 : 0 },
            each("sent_bytes_total", .counter, "Bytes to the next relay.") { Double($0.bytesSent) },
            each("dropped_frames_total", .counter, "Frames that the next relay lost.") { Double($0.dropped.frames) },
        ]
    }

    private static func totals(_ statistics: RelayStatistics) -> [MetricFamily] {
        func one(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily("watchbox_relay_" + name, kind, help: help, samples: [.init(Double(value))])
        }
        return [
            one("publishers", .gauge, "Streams that are published.", statistics.publishers),
            one("subscribers", .gauge, "Connections that play, or wait for a stream.", statistics.subscribers),
            one(
                "connections", .gauge, "Connections that publish, play, or asked to.",
                statistics.connections),
            one("received_bytes_total", .counter, "Media bytes from publishers.", statistics.bytesReceived),
            one("sent_bytes_total", .counter, "Bytes to publishers and players.", statistics.bytesSent),
            one("dropped_frames_total", .counter, "Frames that slow players lost.", statistics.framesDropped),
            one(
                "subscribers_closed_total", .counter, "Players closed because they were too far behind.",
                statistics.subscribersClosed),
            one("refused_total", .counter, "Requests to publish or to play that were refused.", statistics.refused),
        ]
    }

    private static func families(of statistics: RelayStatistics, _ limit: Int) -> [MetricFamily] {
        let streams = statistics.streams.filter { $0.publishers > 0 }
            .sorted { ($0.isPublished ? 0 : 1, $0.path) < ($1.isPublished ? 0 : 1, $1.path) }.prefix(limit)
        func each(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (RelayStatistics.Stream) -> Int
        ) -> MetricFamily {
            MetricFamily(
                "watchbox_relay_stream_" + name, kind, help: help,
                samples: streams.map { .init(Double(value($0)), labels: [("app", $0.app), ("name", $0.name)]) })
        }
        let frames = streams.flatMap { stream in
            [("video", stream.videoFrames), ("audio", stream.audioFrames)].map { media, count in
                MetricFamily.Sample(
                    Double(count), labels: [("app", stream.app), ("name", stream.name), ("media", media)])
            }
        }
        return [
            each("published", .gauge, "1 while somebody publishes it.") { $0.isPublished ? 1 : 0 },
            each("subscribers", .gauge, "Connections that play it, or wait for it.") { $0.subscribers },
            each("received_bytes_total", .counter, "Media bytes from its publishers.") { $0.bytesReceived },
            MetricFamily(
                "watchbox_relay_stream_frames_total", .counter, help: "Frames from its publishers.", samples: frames),
            each("dropped_frames_total", .counter, "Frames that its slow players lost.") { $0.dropped.frames },
            each("gaps_total", .counter, "Interruptions of the video of its slow players.") { $0.dropped.gaps },
            each("queued_messages", .gauge, "Messages that wait for its players.") { $0.queuedMessages },
        ]
    }
}
