internal import CameraModel
public import ControlAPI
public import PrometheusText

/// A camera's figures in Prometheus's names.
public enum CameraMetrics {
    public static func families(_ status: CameraStatusDocument) -> [MetricFamily] {
        let statistics = status.statistics
        let (video, audio) = (statistics.video, statistics.audio)
        var families = CameraFamilies(camera: statistics.camera)
        families.flag("camera_up", "1 while the relay has accepted the stream.", statistics.state == .publishing)
        families.counter("frames_captured_total", "Frames that the source delivered.", video.delivered)
        families.counter(
            "frames_published_total", "Frames that were sealed and handed to the transport.", video.sealed)
        families.each(
            "reason", "frames_dropped_total", .counter, "Frames given up before encryption, by reason.",
            [("congestion", video.droppedOnTheWay), ("late", video.late ?? 0), ("too_long", video.refused)])
        families.counter(
            "bytes_published_total", "Bytes of media that were sealed.", Double(video.bytes) + Double(audio.bytes))
        families.gauge(
            "key_iv_used_ratio", "Part of the collection's counter that is used, 0 to 1.", status.ivUsedRatio)
        families.counter(
            "relay_reconnects_total", "Connections to the relay after the first.", statistics.reconnects)
        let silence = statistics.lastAcknowledged.map { status.instant > $0 ? status.instant - $0 : 0 }
        families.gauge(
            "publish_last_ack_age_seconds", "Since the relay last acknowledged.", silence.map { Double($0) / 1e9 })
        if let uplink = statistics.uplink { families.add(uplink) }
        if let capture = statistics.capture { families.add(capture) }
        if let network = statistics.capture?.network { families.add(network) }
        return families.all
    }
}

extension CameraFamilies {
    /// Of the bitrate that follows the link to the relay.
    fileprivate mutating func add(_ uplink: UplinkStatistics) {
        gauge(
            "uplink_target_bits_per_second", "What the link to the relay is thought to bear of video.",
            Double(uplink.target))
        gauge(
            "uplink_limit_bits_per_second", "The camera's own bitrate, the most that the target can be.",
            Double(uplink.most))
        gauge(
            "uplink_measured_bits_per_second", "What the relay's kernel acknowledged lately.",
            Double(uplink.measured))
        gauge(
            "uplink_delay_seconds", "For how long a frame that is captured now will wait.",
            Double(uplink.delayMilliseconds) / 1000)
        counter(
            "uplink_frames_dropped_total",
            "Frames given up because they had waited too long for the link; among those of congestion.", uplink.drops)
        counter("uplink_bitrate_changes_total", "Changes of the encoder's bitrate for the link.", uplink.changes)
    }

    /// Of a camera and its encoder.
    fileprivate mutating func add(_ capture: CaptureStatistics) {
        flag("capture_up", "1 while the camera delivers, 0 while it is waited for.", capture.state == .streaming)
        counter("capture_frames_total", "Frames that the driver delivered.", capture.captured)
        each(
            "reason", "capture_frames_lost_total", .counter, "Frames that were not encoded, by reason.",
            [
                ("superseded", capture.superseded), ("thinned", capture.thinned), ("missing", capture.lost),
                ("damaged", capture.damaged), ("withheld", capture.withheld),
            ])
        counter(
            "capture_interruptions_total", "Times when the camera was gone or started again.", capture.interruptions)
        counter("capture_clock_steps_total", "Steps of the driver's clock that were not time.", capture.clockSteps)
        gauge(
            "capture_copies_per_frame", "Copies and conversions between the driver's buffer and the encoder's input.",
            Double(capture.copiesPerFrame))
        counter(
            "source_cpu_seconds_total", "CPU time of the source's thread outside the encoder.",
            Double(capture.threadNanoseconds) / 1e9)
        counter(
            "encoder_errors_total", "Packets flagged by the encoder, and frames lost with them.",
            capture.encoderErrors)
        counter("encoder_drops_total", "Frames that went into the encoder and never came out.", capture.encoderDrops)
        counter("encoder_openings_total", "Times when the encoder was opened.", capture.encoderOpenings)
        gauge(
            "encoder_hangs", "Hangs of the hardware encoder that the box remembers.", Double(capture.encoderHangs))
        flag("encoder_limited", "1 while size or rate are less than was asked for.", capture.limit != nil)
        if let encoder = capture.encoder {
            let hardware = capture.isHardwareEncoder == true ? "1" : "0"
            info("encoder_info", "Which encoder encodes.", [("encoder", encoder), ("hardware", hardware)])
        }
        gauge(
            "capture_latency_seconds", "From the driver's time stamp to the packet.",
            capture.latencyNanoseconds.map { Double($0) / 1e9 })
        histogram("encode_seconds", "Time of a frame inside the encoder.", capture.encodeDurations)
        histogram(
            "capture_own_seconds",
            "From a frame's arrival out of the driver to its packet, without the time inside the encoder.",
            capture.ownDurations)
    }
}
