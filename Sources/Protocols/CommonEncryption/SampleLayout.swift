internal import Media

/// What of a video sample is protected (ISO/IEC 23001-7 §9.5.2, §10.4): of each slice what stands behind its header.
enum SampleLayout {
    /// - Parameter headers: takes the parameter sets of the sample.
    /// - Returns: parts that add up to the sample.
    static func subsamples(
        _ sample: ArraySlice<UInt8>, lengthSize: Int, _ headers: inout SliceHeaders
    ) throws(MediaError) -> [Subsample] {
        var units = LengthPrefixedUnits(sample, lengthSize: lengthSize)
        var parts: [Subsample] = []
        var end = sample.startIndex
        while let unit = try units.next() {
            guard try isSlice(unit, headers.codec) else {
                try headers.insert(unit)
                continue
            }
            let length = try headers.length(ofHeaderIn: unit)
            // Less than a block would stay clear anyway.
            guard unit.count - length >= SamplePattern.blockSize else { continue }
            let begin = unit.startIndex + length
            parts.append(clear: begin - end, protected: unit.endIndex - begin)
            end = unit.endIndex
        }
        if end < sample.endIndex { parts.append(clear: sample.endIndex - end, protected: 0) }
        return parts
    }

    /// Whether a unit is a slice whose header can be told. Other units that hold picture would stay readable, and are refused: data partitions,
    /// auxiliary pictures and further views of H.264, reserved types and further layers of H.265.
    private static func isSlice(_ unit: ArraySlice<UInt8>, _ codec: VideoCodec) throws(MediaError) -> Bool {
        guard let type = codec.nalUnitType(of: unit) else { return false }
        switch codec {
        case .h264:
            if [2, 3, 4, 19, 20, 21].contains(type) {
                throw .invalid(.nalUnitType, value: UInt64(type), offset: unit.startIndex)
            }
            return type == 1 || type == 5
        case .hevc:
            return type < 32
        }
    }
}
