internal import CameraModel
internal import DeviceSource
internal import ErrorCatalog
internal import Logging
internal import Media
internal import MediaFile
internal import NanoTDF
internal import RTMPTransport
internal import RTSPIngest
internal import VideoCodec

// The parts of a pipeline, as a configuration describes them.

extension CameraConfiguration {
    func makeSource(
        logger: Logger, mustEnd: @escaping @Sendable (CodedError) -> Never
    ) -> any MediaSource {
        switch source {
        case .testPattern(let pattern):
            var video = VideoEncoderConfiguration(
                width: pattern.width, height: pattern.height, frameRate: Double(pattern.frameRate),
                bitsPerSecond: pattern.bitrate)
            video.keyFrameInterval = pattern.gopSeconds
            var configuration = TestPatternConfiguration(video: video)
            if !pattern.audio { configuration.audio = nil }
            configuration.durationLimit = duration
            configuration.stallsAfter = pattern.stallsAfter
            return TestPatternSource(configuration)
        case .file(let file):
            return MediaFileSource(
                MediaFileConfiguration(
                    path: file.path, pace: file.pace == .realTime ? .realTime : .unthrottled, isLooped: file.loop,
                    durationLimit: duration))
        case .device(let device):
            return DeviceSource(
                device, camera: id, durationLimit: duration, logger: logger, mustEnd: { mustEnd($0) })
        case .network(let network):
            return NetworkSource(network, camera: id, durationLimit: duration, logger: logger)
        }
    }
}

extension FrameQueue {
    init(_ configuration: CameraConfiguration) {
        if configuration.isUnthrottled {
            // Enough to keep both threads busy; more would only cost memory.
            self.init(limits: Limits(bytes: 1 << 20, units: 256), discipline: .backPressured)
        } else {
            let nanoseconds = Int64(configuration.queue.seconds * 1e9)
            self.init(
                limits: Limits(duration: MediaTime(nanoseconds: nanoseconds), bytes: configuration.queue.bytes),
                discipline: .live)
        }
    }
}

extension StreamSealer.Options {
    init(_ configuration: CameraConfiguration) {
        self.init(
            rotation: RotationPolicy(
                age: UInt64(configuration.rotation.seconds * 1e9), items: UInt32(configuration.rotation.items),
                everyKeyFrame: configuration.rotation.everyKeyFrame),
            repeatsHeader: configuration.repeatsHeader, wrapsItems: configuration.relayProfile == .parsesAVCC)
        switch configuration.source {
        case .testPattern(let pattern): videoDataRate = Double(pattern.bitrate) / 1000
        case .device(let device) where device.pixelFormat != .h264: videoDataRate = Double(device.bitrate) / 1000
        case .device, .file, .network: break
        }
    }
}
