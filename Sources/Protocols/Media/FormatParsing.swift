extension VideoFormat {
    /// From a configuration record as a container or a sequence header carries it. Size and frame rate come from its
    /// first sequence parameter set.
    public init(codec: VideoCodec, configurationRecord: ArraySlice<UInt8>) throws(MediaError) {
        self = try Self.parse(codec: codec, configurationRecord: configurationRecord).format
    }

    /// The same, with the length size that the access units behind the record use. The format's own record always says
    /// four: who hands units on with it widens them (`LengthPrefixedUnits.widened`).
    public static func parse(
        codec: VideoCodec, configurationRecord: ArraySlice<UInt8>
    ) throws(MediaError) -> (format: VideoFormat, nalUnitLengthSize: Int) {
        var record = Array(configurationRecord)
        let lengthSize: Int
        let size: (width: Int, height: Int)
        let frameRate: Double?
        switch codec {
        case .h264:
            let parsed = try AVCConfigurationRecord.parse(configurationRecord)
            guard let unit = parsed.sequenceParameterSets.first else { throw .missing(.sequenceParameterSet) }
            let sequence = try AVCSequenceParameterSet.parse(unit[...])
            lengthSize = parsed.nalUnitLengthSize
            size = (sequence.width, sequence.height)
            frameRate = sequence.frameRate
            record[4] |= 3
        case .hevc:
            let parsed = try HEVCConfigurationRecord.parse(configurationRecord)
            guard let unit = parsed.sequenceParameterSets.first else { throw .missing(.sequenceParameterSet) }
            let sequence = try HEVCSequenceParameterSet.parse(unit[...])
            lengthSize = parsed.nalUnitLengthSize
            size = (sequence.width, sequence.height)
            var rate = sequence.frameRate
            if rate == nil, let video = parsed.videoParameterSets.first {
                // The sequence alone is enough to decode; a damaged video parameter set only costs the frame rate.
                rate = try? HEVCVideoParameterSet.parse(video[...]).frameRate
            }
            frameRate = rate
            record[21] |= 3
        }
        let format = VideoFormat(
            codec: codec, width: size.width, height: size.height, frameRate: frameRate, configurationRecord: record)
        return (format, lengthSize)
    }
}

extension AudioFormat {
    /// From an AudioSpecificConfig; the sample rate is the one that a decoder puts out.
    public init(audioSpecificConfig: ArraySlice<UInt8>) throws(MediaError) {
        let config = try AudioSpecificConfig.parse(audioSpecificConfig)
        self.init(
            codec: .aac, sampleRate: config.outputSamplingFrequency, channels: config.channels,
            audioSpecificConfig: Array(audioSpecificConfig))
    }
}
