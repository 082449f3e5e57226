internal import CameraModel
internal import RTP

extension StreamClock.Policy {
    init(_ timestamps: CameraConfiguration.Network.Timestamps) {
        switch timestamps {
        case .camera: self = .camera
        case .arrival: self = .arrival
        case .auto: self = .auto
        }
    }
}

extension NetworkStatistics.Timing {
    init(_ basis: StreamClock.Basis) {
        switch basis {
        case .camera: self.init(basis: .camera)
        case .corrected(let speed): self.init(basis: .corrected, speed: (speed * 10_000).rounded() / 10_000)
        case .arrival: self.init(basis: .arrival)
        }
    }
}

extension NetworkStatistics {
    /// What the clocks of a session's media say; nil: there is no such medium.
    mutating func timed(video: MediaTrack?, audio: MediaTrack?) {
        audioTiming = audio.map { Timing($0.clock.basis) }
        guard let video else { return }
        videoTiming = Timing(video.clock.basis)
        driftPartsPerMillion = video.clock.driftPartsPerMillion
        jitterMilliseconds = Double(video.rtp.statistics.jitterNanoseconds) / 1e6
        if let ahead = video.clockAheadMilliseconds { clockAheadMilliseconds = ahead }
    }
}
