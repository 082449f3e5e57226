internal import CameraModel
internal import ControlAPI
internal import PrometheusText

extension CameraFamilies {
    /// Of a camera on the network.
    mutating func add(_ network: NetworkStatistics) {
        each(
            "state", "pull_state", .gauge, "1 for the state of the connection to the camera, 0 for others.",
            NetworkStatistics.State.allCases.map { ($0.rawValue, network.state == $0 ? 1 : 0) })
        counter("pull_attempts_total", "Attempts to connect.", network.attempts)
        counter("pull_connections_total", "Attempts that brought frames.", network.connections)
        counter("pull_stalls_total", "Times when frames stopped though the connection stood.", network.stalls)
        counter("rtp_packets_total", "RTP packets that arrived.", network.packets)
        each(
            "reason", "rtp_packets_irregular_total", .counter,
            "RTP packets that were missing, out of order, or not of this stream, by reason.",
            [("lost", network.lost), ("reordered", network.reordered), ("discarded", network.discarded)])
        counter(
            "pull_frames_damaged_total", "Frames left out because a part of them was lost.", network.damaged)
        counter("pull_timelines_total", "Steps of the camera's clock that were not time.", network.timelines)
        counter(
            "pull_events_total", "Motion, tamper and other events that the camera announced.", network.eventCount)
        let timings = [("video", network.videoTiming), ("audio", network.audioTiming)]
        let corrected: [(String, UInt64)] = timings.compactMap { media, timing in
            timing.map { (media, $0.basis == .camera ? 0 : 1) }
        }
        if !corrected.isEmpty {
            each(
                "media", "pull_timestamps_corrected", .gauge,
                "1 where arrivals correct or replace the camera's time stamps, 0 where these are used.", corrected)
        }
        gauge(
            "pull_first_key_frame_seconds", "From the newest successful connect to its first key frame.",
            network.firstKeyFrameMilliseconds.map { $0 / 1e3 })
        gauge(
            "pull_play_to_key_frame_seconds", "From the answer to PLAY to the first key frame.",
            network.playToKeyFrameMilliseconds.map { $0 / 1e3 })
        gauge(
            "pull_clock_drift_ratio", "How much faster the camera's clock runs than this box's.",
            network.driftPartsPerMillion.map { $0 / 1e6 })
        gauge(
            "pull_clock_ahead_seconds", "The camera's wall clock minus this box's.",
            network.clockAheadMilliseconds.map { $0 / 1e3 })
        gauge("rtp_jitter_seconds", "Interarrival jitter of the video.", network.jitterMilliseconds.map { $0 / 1e3 })
        info(
            "pull_info", "How the camera is pulled.",
            [
                ("transport", network.transport ?? ""), ("authentication", network.authentication ?? ""),
                ("video", network.videoCodec ?? ""), ("audio", network.audioCodec ?? ""),
            ])
    }
}
