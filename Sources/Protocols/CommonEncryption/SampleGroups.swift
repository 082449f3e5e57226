internal import Wire

/// Groups of samples (ISO/IEC 14496-12 §8.9). Most say nothing of encryption, such as `roll` of audio.
enum SampleGroups {
    private static let kinds: Set<FourCC> = ["sbgp", "sgpd", "csgp"]
    /// Its groups have keys of their own, or are clear (ISO/IEC 23001-7 §6).
    private static let ownKey: FourCC = "seig"

    /// - Parameter boxes: those of a `traf` or an `stbl`.
    /// - Throws: where a group of samples has a key of its own.
    static func check(_ bytes: [UInt8], _ boxes: [MovieBox]) throws(CommonEncryptionError) {
        for box in boxes where kinds.contains(box.kind) {
            // The type stands behind version and flags in each of them.
            let type = try box.fields(bytes) { (reader) throws(CommonEncryptionError) in
                try reader.skip(4)
                return FourCC(value: try reader.readUInt32())
            }
            guard type != ownKey else { throw box.fault(.unsupported("a group of samples with a key of its own")) }
        }
    }
}
