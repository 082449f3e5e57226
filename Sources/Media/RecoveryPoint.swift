extension VideoCodec {
    /// Whether supplemental enhancement information says that pictures are right again some pictures after this one, though
    /// it is no key frame (recovery point, ITU-T H.264 §D.2.8, H.265 §D.3.8). Streams with intra refresh have no other place
    /// where a decoder can begin.
    ///
    /// - Parameter unit: a whole NAL unit, with its header and with emulation prevention. What cannot be read says nothing.
    public func holdsRecoveryPoint(_ unit: ArraySlice<UInt8>) -> Bool {
        switch (self, nalUnitType(of: unit)) {
        case (.h264, 6), (.hevc, 39): break
        default: return false
        }
        let recoveryPoint = 6
        var messages = BitReader.rbsp(of: unit)[...].dropFirst(self == .h264 ? 1 : 2)
        // A message has two bytes at least; the trailing bits have one.
        while messages.count >= 2 {
            guard let type = Self.messageNumber(&messages), let size = Self.messageNumber(&messages),
                size <= messages.count
            else { return false }
            if type == recoveryPoint { return size > 0 }
            messages = messages.dropFirst(size)
        }
        return false
    }

    /// payloadType or payloadSize: bytes of 255 and a last one, added up (§7.3.2.3.1). Nil when its end is missing.
    private static func messageNumber(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        var number = 0
        while let byte = bytes.popFirst() {
            number += Int(byte)
            if byte != 0xFF { return number }
        }
        return nil
    }
}
