package import FLV
package import Media

/// Access units into FLV bodies, for streams that a test makes: time stamp, clear prefix, and what follows it.
///
/// The time stamp is the decoding time in milliseconds from one zero for audio and video, modulo 2^32; within a track
/// it never decreases. Each is rounded from the exact time, so that rounding does not add up. After a reconnect begin
/// with a new one: the stream starts at 0 again, with new sequence headers.
package struct Packetizer: Sendable {
    /// Where a frame goes. Its body is `prefix` ‖ the access unit's data, sealed or not.
    package struct Placement: Equatable, Sendable {
        /// 8 audio, 9 video.
        package var type: UInt8
        package var timestamp: UInt32

        package init(type: UInt8, timestamp: UInt32) {
            self.type = type
            self.timestamp = timestamp
        }
    }

    private let hevcFormat: VideoTagHeader.Format
    private var zero: MediaTime?
    private var lastVideo: Int64 = 0
    private var lastAudio: Int64 = 0

    /// - Parameters:
    ///   - zero: the time that becomes 0; nil takes the decoding time of the first unit. Earlier units get 0.
    ///   - hevcFormat: `.legacy` (codec id 12) for relays that know nothing else.
    package init(zero: MediaTime? = nil, hevcFormat: VideoTagHeader.Format = .enhanced) {
        self.zero = zero
        self.hevcFormat = hevcFormat
    }

    /// Places one unit and puts its clear prefix into `prefix`, replacing what was there; its storage is used again.
    ///
    /// Throws `.compositionTimeOutOfRange` when presentation and decoding are more than 2.3 hours apart; the unit
    /// then counts as not seen.
    package mutating func place(
        _ unit: AccessUnit, prefix: inout [UInt8]
    ) throws(FLVError) -> Placement {
        let zero = zero ?? unit.decodeTime
        let exact = (unit.decodeTime - zero).milliseconds
        switch unit.track {
        case .video(let codec):
            let decode = max(exact, lastVideo)
            let composition = (unit.presentationTime - zero).milliseconds &- decode
            guard composition >= -0x80_0000, composition <= 0x7F_FFFF else {
                throw .compositionTimeOutOfRange(milliseconds: composition)
            }
            self.zero = zero
            lastVideo = decode
            prefix.removeAll(keepingCapacity: true)
            VideoTagHeader(
                codec: codec, isKeyFrame: unit.isKeyFrame, kind: .codedFrame(compositionTime: Int32(composition)),
                format: format(for: codec)
            ).append(to: &prefix)
            return Placement(type: FLVTag.video, timestamp: UInt32(truncatingIfNeeded: decode))
        case .audio(.aac):
            self.zero = zero
            lastAudio = max(exact, lastAudio)
            prefix.removeAll(keepingCapacity: true)
            AudioTagHeader(kind: .rawFrame).append(to: &prefix)
            return Placement(type: FLVTag.audio, timestamp: UInt32(truncatingIfNeeded: lastAudio))
        }
    }

    /// The time stamp of the last video frame, for what belongs before the next one.
    package var videoTimestamp: UInt32 { UInt32(truncatingIfNeeded: lastVideo) }

    /// The time stamp of the last audio frame.
    package var audioTimestamp: UInt32 { UInt32(truncatingIfNeeded: lastAudio) }

    /// The time stamp that a unit decoded at `time` will get, if it is placed next. For an NTDF header frame, which
    /// carries the time of the key frame behind it.
    package func timestamp(video time: MediaTime) -> UInt32 {
        UInt32(truncatingIfNeeded: max((time - (zero ?? time)).milliseconds, lastVideo))
    }

    /// Body of the video sequence header, always in clear.
    package func sequenceHeader(_ format: VideoFormat) -> [UInt8] {
        VideoTagHeader(
            codec: format.codec, isKeyFrame: true, kind: .sequenceHeader, format: self.format(for: format.codec)
        ).encoded() + format.configurationRecord
    }

    /// Body of the audio sequence header, always in clear.
    package func sequenceHeader(_ format: AudioFormat) -> [UInt8] {
        AudioTagHeader(kind: .sequenceHeader).encoded() + format.audioSpecificConfig
    }

    private func format(for codec: VideoCodec) -> VideoTagHeader.Format {
        switch codec {
        case .h264: .legacy
        case .hevc: hevcFormat
        }
    }
}
