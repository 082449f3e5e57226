/// What became of every access unit between the camera's encoder and the viewer's hands.
package struct Comparison {
    package struct Latency {
        package var dts: Int64
        package var milliseconds: Double
    }

    package var sealed = 0
    package var opened = 0
    /// Sealed but never opened.
    package var missing = 0
    /// Opened, but with other bytes than were sealed, or out of order, or twice.
    package var wrong = 0
    package var rotations = 0
    /// (key, IV) pairs that were used more than once.
    package var reusedPairs = 0
    /// Capture to opened, per video frame.
    package var latencies: [Latency] = []

    package var isExact: Bool { sealed > 0 && missing == 0 && wrong == 0 && opened == sealed && reusedPairs == 0 }

    /// Audio and video share one counter, so both logs are in sealing order; frames are matched by collection and IV.
    package init(camera: [FrameRecord], viewer: [FrameRecord]) {
        sealed = camera.count
        opened = viewer.count
        var pairs: [String: FrameRecord] = [:]
        var collections: [String] = []
        for record in camera {
            guard let name = Self.name(record) else {
                wrong += 1
                continue
            }
            if pairs.updateValue(record, forKey: name) != nil { reusedPairs += 1 }
            if let collection = record.collection, collections.last != collection { collections.append(collection) }
        }
        rotations = max(0, collections.count - 1)
        var position: [String: Int64] = [:]
        for record in viewer {
            guard let name = Self.name(record), let source = pairs.removeValue(forKey: name) else {
                wrong += 1
                continue
            }
            let isInOrder = record.dts >= position[record.track, default: .min]
            position[record.track] = record.dts
            if source.sha256 != record.sha256 || source.bytes != record.bytes || source.track != record.track
                || source.key != record.key || !isInOrder
            {
                wrong += 1
            }
            if record.track == "video", let captured = source.captured, record.instant >= captured {
                latencies.append(
                    Latency(dts: record.dts, milliseconds: Double(record.instant - captured) / 1_000_000))
            }
        }
        missing = pairs.count
    }

    /// Nearest-rank percentile of the latencies, milliseconds.
    package func latency(percentile: Double) -> Double? {
        guard !latencies.isEmpty else { return nil }
        let sorted = latencies.map(\.milliseconds).sorted()
        let rank = Int((percentile / 100 * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    private static func name(_ record: FrameRecord) -> String? {
        guard let collection = record.collection, let iv = record.iv else { return nil }
        return "\(collection)/\(iv)"
    }
}
