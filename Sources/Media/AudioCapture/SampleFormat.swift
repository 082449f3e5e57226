internal import CALSA

/// How a device writes a sample; the machine's own byte order.
enum SampleFormat: Equatable, CaseIterable {
    // Best first: what needs least work and loses least.
    case float32, signed32, signed24, signed24Packed, signed16, unsigned8

    /// ALSA's number.
    var number: Int32 {
        switch self {
        case .float32: SND_PCM_FORMAT_FLOAT_LE.rawValue
        case .signed32: SND_PCM_FORMAT_S32_LE.rawValue
        case .signed24: SND_PCM_FORMAT_S24_LE.rawValue
        case .signed24Packed: SND_PCM_FORMAT_S24_3LE.rawValue
        case .signed16: SND_PCM_FORMAT_S16_LE.rawValue
        case .unsigned8: SND_PCM_FORMAT_U8.rawValue
        }
    }

    var bytes: Int {
        switch self {
        case .float32, .signed32, .signed24: 4
        case .signed24Packed: 3
        case .signed16: 2
        case .unsigned8: 1
        }
    }

    /// Interleaved samples of `kept` channels, 1 or 2, out of frames with `channels`; −1…1.
    func samples(_ bytes: UnsafeRawBufferPointer, frames: Int, channels: Int, kept: Int) -> [Float] {
        let count = max(0, min(frames, bytes.count / (self.bytes * channels)))
        let isAverage = kept == 1 && channels > 1
        return [Float](unsafeUninitializedCapacity: count * kept) { target, filled in
            for frame in 0..<count {
                let first = frame * channels
                if isAverage {
                    target[frame] = (sample(bytes, first) + sample(bytes, first + 1)) / 2
                } else {
                    for channel in 0..<kept { target[frame * kept + channel] = sample(bytes, first + channel) }
                }
            }
            filled = count * kept
        }
    }

    private func sample(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Float {
        let offset = index * self.bytes
        switch self {
        case .float32:
            let value = bytes.loadUnaligned(fromByteOffset: offset, as: Float.self)
            // A broken plugin must not put infinities into the encoder.
            return value.isFinite ? min(max(value, -1), 1) : 0
        case .signed32:
            return Float(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))) / 0x1p31
        case .signed24:
            // The upper byte is undefined.
            let word = Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            return Float((word << 8) >> 8) / 0x1p23
        case .signed24Packed:
            let low = Int32(bytes[offset]) | Int32(bytes[offset + 1]) << 8
            return Float(low | Int32(Int8(bitPattern: bytes[offset + 2])) << 16) / 0x1p23
        case .signed16:
            return Float(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))) / 0x1p15
        case .unsigned8:
            return Float(Int(bytes[offset]) - 128) / 128
        }
    }
}
