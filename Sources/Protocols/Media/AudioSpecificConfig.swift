internal import Wire

/// AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) of the AAC family.
public struct AudioSpecificConfig: Equatable, Sendable {
    /// Spectral band replication, which plays at another rate than the core is encoded at.
    public enum BandReplication: Equatable, Sendable {
        /// Not signalled; a decoder may still find it in the frames.
        case unsignalled
        /// Explicitly none, in the compatible form; FFmpeg's encoder says so.
        case absent
        /// Explicit, as the outer object type 5, or 29 with parametric stereo (§1.6.6.1.2, hierarchical).
        case hierarchical(samplingFrequency: Int, parametricStereo: Bool)
        /// Explicit, behind the core's own configuration, so that old decoders pass over it (backward compatible).
        case compatible(samplingFrequency: Int, parametricStereo: Bool)
    }

    /// Audio object type of the core: 2 is AAC-LC.
    public var objectType: UInt8
    /// Samples per second of the core, 1…2^24−1.
    public var samplingFrequency: Int
    /// 1…15; 0 is never written, and when read, `channels` comes from the program config element.
    public var channelConfiguration: UInt8
    /// Speakers, the effects channel included.
    public var channels: Int
    /// 960 samples in a frame instead of 1024.
    public var hasShortFrames: Bool
    public var bandReplication: BandReplication

    /// - Parameter channels: 1…6 and 8.
    public init(
        objectType: UInt8 = 2, samplingFrequency: Int, channels: Int, hasShortFrames: Bool = false,
        bandReplication: BandReplication = .unsignalled
    ) throws(MediaError) {
        guard let configuration = Self.speakers.firstIndex(of: channels), configuration > 0 else {
            throw .invalid(.channelConfiguration, value: UInt64(clamping: channels), offset: 0)
        }
        guard samplingFrequency > 0, samplingFrequency < 1 << 24 else {
            throw .invalid(.samplingFrequency, value: UInt64(clamping: samplingFrequency), offset: 0)
        }
        self.init(
            objectType: objectType, samplingFrequency: samplingFrequency,
            channelConfiguration: UInt8(configuration), channels: channels, hasShortFrames: hasShortFrames,
            bandReplication: bandReplication)
    }

    private init(
        objectType: UInt8, samplingFrequency: Int, channelConfiguration: UInt8, channels: Int, hasShortFrames: Bool,
        bandReplication: BandReplication
    ) {
        self.objectType = objectType
        self.samplingFrequency = samplingFrequency
        self.channelConfiguration = channelConfiguration
        self.channels = channels
        self.hasShortFrames = hasShortFrames
        self.bandReplication = bandReplication
    }

    /// Samples per second that a decoder puts out.
    public var outputSamplingFrequency: Int {
        switch bandReplication {
        case .unsignalled, .absent: samplingFrequency
        case .hierarchical(let frequency, _), .compatible(let frequency, _): frequency
        }
    }

    /// Samples of one frame, counted at the core's rate.
    public var samplesPerFrame: Int { hasShortFrames ? 960 : 1024 }

    /// From one frame to the next.
    public var frameDuration: MediaTime {
        MediaTime(ticks: Int64(samplesPerFrame), timescale: Int64(max(samplingFrequency, 1)))
    }

    /// Table 1.18; index 15 is the escape.
    private static let frequencies = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
    /// Table 1.19; 0 where reserved.
    private static let speakers = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8, 0]
    private static let bandReplicationType: UInt8 = 5
    private static let parametricStereoType: UInt8 = 29
    /// Object types that carry a GASpecificConfig (table 1.15).
    private static let generalAudioTypes: Set<UInt8> = [1, 2, 3, 4, 6, 7, 17, 19, 20, 21, 22, 23]
}

extension AudioSpecificConfig {
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> AudioSpecificConfig {
        // Even with a program config element and its comment, 64 bytes would be many; 512 keep the reader's copy small.
        guard bytes.count <= 512 else { throw .tooLong(bytes: bytes.count, limit: 512) }
        var reader = BitReader(Array(bytes))
        var objectType = try readObjectType(&reader)
        let frequency = try readFrequency(&reader)
        let configuration = UInt8(try reader.bits(4))
        var replication = BandReplication.unsignalled
        if objectType == bandReplicationType || objectType == parametricStereoType {
            replication = .hierarchical(
                samplingFrequency: try readFrequency(&reader), parametricStereo: objectType == parametricStereoType)
            objectType = try readObjectType(&reader)
        }
        guard generalAudioTypes.contains(objectType) else {
            throw .invalid(.audioObjectType, value: UInt64(objectType), offset: reader.offset)
        }
        let hasShortFrames = try reader.flag()
        if try reader.flag() { try reader.skip(14) }  // coreCoderDelay
        let hasExtension = try reader.flag()
        var channels = speakers[Int(configuration)]
        if configuration == 0 { channels = try readProgramConfig(&reader) }
        if objectType == 6 || objectType == 20 { try reader.skip(3) }  // layerNr
        if hasExtension {
            if objectType == 22 { try reader.skip(16) }
            if [17, 19, 20, 23].contains(objectType) { try reader.skip(3) }
            try reader.skip(1)
        }
        guard channels > 0 else {
            throw .invalid(.channelConfiguration, value: UInt64(configuration), offset: reader.offset)
        }
        if replication == .unsignalled { replication = try readCompatibleExtension(&reader) }
        return AudioSpecificConfig(
            objectType: objectType, samplingFrequency: frequency, channelConfiguration: configuration,
            channels: channels, hasShortFrames: hasShortFrames, bandReplication: replication)
    }

    private static func readObjectType(_ reader: inout BitReader) throws(MediaError) -> UInt8 {
        let type = try reader.bits(5)
        return UInt8(type == 31 ? 32 + (try reader.bits(6)) : type)
    }

    private static func readFrequency(_ reader: inout BitReader) throws(MediaError) -> Int {
        let index = Int(try reader.bits(4))
        if index < frequencies.count { return frequencies[index] }
        guard index == 15 else { throw .invalid(.samplingFrequency, value: UInt64(index), offset: reader.offset) }
        let frequency = Int(try reader.bits(24))
        guard frequency > 0 else { throw .invalid(.samplingFrequency, value: 0, offset: reader.offset) }
        return frequency
    }

    /// program_config_element (§4.5.1.1): counts the channels of its elements.
    private static func readProgramConfig(_ reader: inout BitReader) throws(MediaError) -> Int {
        try reader.skip(4 + 2 + 4)  // element_instance_tag, object_type, sampling_frequency_index
        let front = Int(try reader.bits(4))
        let side = Int(try reader.bits(4))
        let back = Int(try reader.bits(4))
        let effects = Int(try reader.bits(2))
        let data = Int(try reader.bits(3))
        let coupling = Int(try reader.bits(4))
        if try reader.flag() { try reader.skip(4) }  // mono_mixdown
        if try reader.flag() { try reader.skip(4) }  // stereo_mixdown
        if try reader.flag() { try reader.skip(3) }  // matrix_mixdown
        var channels = effects
        for _ in 0..<(front + side + back) {
            channels += try reader.flag() ? 2 : 1
            try reader.skip(4)
        }
        try reader.skip(4 * effects + 4 * data + 5 * coupling)
        try reader.skip((8 - reader.offset % 8) % 8)
        let comment = Int(try reader.bits(8))
        try reader.skip(8 * comment)
        return channels
    }

    /// Sync extensions 0x2B7 (SBR) and 0x548 (PS) behind the core's configuration (§1.6.2.1). Other bits there, and
    /// too few, are padding.
    private static func readCompatibleExtension(_ reader: inout BitReader) throws(MediaError) -> BandReplication {
        guard reader.remaining >= 16, try reader.bits(11) == 0x2B7 else { return .unsignalled }
        guard try readObjectType(&reader) == bandReplicationType else { return .unsignalled }
        guard try reader.flag() else { return .absent }
        let frequency = try readFrequency(&reader)
        var stereo = false
        if reader.remaining >= 12, try reader.bits(11) == 0x548 { stereo = try reader.flag() }
        return .compatible(samplingFrequency: frequency, parametricStereo: stereo)
    }
}

extension AudioSpecificConfig {
    /// 2 bytes for AAC-LC at a usual rate; more with an unusual one or with signalled band replication.
    public func encoded() -> [UInt8] {
        var writer = BitWriter()
        switch bandReplication {
        case .unsignalled, .absent, .compatible:
            append(objectType: objectType, to: &writer)
            append(frequency: samplingFrequency, to: &writer)
            writer.append(UInt32(channelConfiguration), bits: 4)
        case .hierarchical(let frequency, let stereo):
            append(objectType: stereo ? Self.parametricStereoType : Self.bandReplicationType, to: &writer)
            append(frequency: samplingFrequency, to: &writer)
            writer.append(UInt32(channelConfiguration), bits: 4)
            append(frequency: frequency, to: &writer)
            append(objectType: objectType, to: &writer)
        }
        writer.append(hasShortFrames ? 4 : 0, bits: 3)  // no core encoder, no extension
        switch bandReplication {
        case .unsignalled, .hierarchical: break
        case .absent:
            writer.append(0x2B7, bits: 11)
            append(objectType: Self.bandReplicationType, to: &writer)
            writer.append(0, bits: 1)
        case .compatible(let frequency, let stereo):
            writer.append(0x2B7, bits: 11)
            append(objectType: Self.bandReplicationType, to: &writer)
            writer.append(1, bits: 1)
            append(frequency: frequency, to: &writer)
            if stereo { writer.append(0x548 << 1 | 1, bits: 12) }
        }
        return writer.bytes
    }

    private func append(objectType: UInt8, to writer: inout BitWriter) {
        if objectType < 31 {
            writer.append(UInt32(objectType), bits: 5)
        } else {
            writer.append(31, bits: 5)
            writer.append(UInt32(objectType) &- 32, bits: 6)
        }
    }

    private func append(frequency: Int, to writer: inout BitWriter) {
        if let index = Self.frequencies.firstIndex(of: frequency) {
            writer.append(UInt32(index), bits: 4)
        } else {
            writer.append(15, bits: 4)
            writer.append(UInt32(truncatingIfNeeded: frequency), bits: 24)
        }
    }
}

/// Bits into bytes, the highest first; the last byte is padded with zeros.
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var free = 0

    mutating func append(_ value: UInt32, bits: Int) {
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            bytes[bytes.count - 1] |= UInt8(value >> UInt32(bit) & 1) << UInt8(free)
        }
    }
}
