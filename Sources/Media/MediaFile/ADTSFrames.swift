internal import Media
internal import Wire

/// Frames of AAC behind ADTS headers (ISO/IEC 14496-3 §1.A.2.2), as MPEG-TS and `.aac` files carry them.
enum ADTSFrames {
    struct Frame: Equatable {
        var config: AudioSpecificConfig
        /// The raw frame, without header.
        var payload: ArraySlice<UInt8>
    }

    /// Whether the bytes begin as an ADTS header does: twelve ones, layer 0.
    static func begin(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count >= 7 && bytes[bytes.startIndex] == 0xFF && bytes[bytes.startIndex + 1] & 0xF6 == 0xF0
    }

    /// The frames of one packet; throws where a header is not one, or promises more than there is.
    static func parse(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes
        while !rest.isEmpty {
            let offset = rest.startIndex - bytes.startIndex
            guard rest.count >= 7 else {
                throw .wire(.truncated(offset: offset, needed: 7, available: rest.count))
            }
            let header = Array(rest.prefix(7))
            guard begin(rest) else {
                throw .invalid(.audioObjectType, value: UInt64(header[0]) << 8 | UInt64(header[1]), offset: offset)
            }
            let headerLength = header[1] & 1 == 1 ? 7 : 9
            let length = Int(header[3] & 3) << 11 | Int(header[4]) << 3 | Int(header[5] >> 5)
            guard length >= headerLength, rest.count >= length else {
                throw .wire(.truncated(offset: offset, needed: max(length, headerLength), available: rest.count))
            }
            // A header that announces several raw frames has their positions behind it, which no encoder writes.
            guard header[6] & 3 == 0 else {
                throw .invalid(.channelConfiguration, value: UInt64(header[6] & 3), offset: offset + 6)
            }
            let frequencyIndex = Int(header[2] >> 2 & 15)
            guard frequencyIndex < frequencies.count else {
                throw .invalid(.samplingFrequency, value: UInt64(frequencyIndex), offset: offset + 2)
            }
            let channels = Int(header[2] & 1) << 2 | Int(header[3] >> 6)
            let config = try AudioSpecificConfig(
                objectType: (header[2] >> 6) + 1, samplingFrequency: frequencies[frequencyIndex],
                channels: channels == 7 ? 8 : channels)
            frames.append(Frame(config: config, payload: rest.dropFirst(headerLength).prefix(length - headerLength)))
            rest = rest.dropFirst(length)
        }
        return frames
    }

    private static let frequencies = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
}
