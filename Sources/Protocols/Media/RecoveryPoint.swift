extension VideoCodec {
    /// So many pictures after a recovery point they must be right: 10 s at 30 a second. Later is too late to begin
    /// there.
    public static let maxRecoveryTime = 300

    /// Whether supplemental enhancement information says that pictures are right again `maxRecoveryTime` pictures after
    /// this one at the latest, though it is not a key frame (recovery point, ITU-T H.264 §D.2.8, H.265 §D.3.8). Streams
    /// with intra refresh have no other place where a decoder can begin. One with broken_link_flag does not count: what refers
    /// to pictures before it may show anything.
    ///
    /// - Parameter unit: a whole NAL unit, with its header and with emulation prevention. What cannot be read says
    ///   nothing.
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
            if type == recoveryPoint { return (try? isUsable(recoveryPoint: messages.prefix(size))) ?? false }
            messages = messages.dropFirst(size)
        }
        return false
    }

    private func isUsable(recoveryPoint message: ArraySlice<UInt8>) throws(MediaError) -> Bool {
        var reader = BitReader(Array(message))
        // recovery_frame_cnt ue(v); recovery_poc_cnt se(v), whose even codes are the negative numbers: right already.
        let code = try reader.unsignedExpGolomb()
        let count = self == .h264 ? code : code & 1 == 0 ? 0 : code / 2 + 1
        // exact_match_flag
        try reader.skip(1)
        let isBroken = try reader.flag()
        return !isBroken && count <= Self.maxRecoveryTime
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
