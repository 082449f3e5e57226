internal import Media

/// The format of a stream of pictures: from the session description until the stream brings parameter sets.
struct PictureFormats: Sendable {
    private let codec: VideoCodec
    private var sets: ParameterSets
    /// In-band sets since the last key frame, each once, in the order in which they came.
    private var found: [[UInt8]] = []
    /// Those that `sets` was last made of.
    private var used: [[UInt8]] = []
    private var current: VideoFormat?
    private var isDue = false
    /// The sets that made the last complete format, or those of the description.
    private var base: [[UInt8]] = []
    /// Bytes that came into `sets` since it was made of `base`.
    private var added = 0

    private static let foundLimit = 64
    /// Of each list. Real sets have a hundred bytes.
    private static let byteLimit = 128 << 10

    init(codec: VideoCodec, described: [[UInt8]]) {
        self.codec = codec
        sets = ParameterSets(codec: codec)
        // Session descriptions hold junk often enough; the stream itself decides.
        for unit in described.prefix(Self.foundLimit) where unit.count <= 0xFFFF { Self.append(unit[...], to: &base) }
        insert(base)
    }

    /// Keeps a parameter set of the stream.
    mutating func found(_ unit: ArraySlice<UInt8>) {
        guard unit.count <= 0xFFFF,
            !found.contains(where: { $0.count == unit.count && $0.elementsEqual(unit) })
        else { return }
        Self.append(unit, to: &found)
    }

    /// The oldest ones go when there are too many.
    private static func append(_ unit: ArraySlice<UInt8>, to list: inout [[UInt8]]) {
        list.append(Array(unit))
        var size = list.reduce(0) { $0 + $1.count }
        var surplus = max(0, list.count - foundLimit)
        for index in 0..<surplus { size -= list[index].count }
        while size > byteLimit {
            size -= list[surplus].count
            surplus += 1
        }
        list.removeFirst(surplus)
    }

    /// The next key frame brings the format again, though it did not change.
    mutating func repeatFormat() {
        isDue = true
    }

    /// At a key frame: whether its format is known, and the new format if it changed.
    mutating func atKeyFrame() -> (isKnown: Bool, change: VideoFormat?) {
        let format = newest()
        found.removeAll(keepingCapacity: true)
        if let format, format != current {
            current = format
        } else if !isDue {
            return (current != nil, nil)
        }
        isDue = false
        return (current != nil, current)
    }

    private mutating func newest() -> VideoFormat? {
        guard !found.isEmpty, found != used else {
            return current == nil ? try? sets.takeFormat() : nil
        }
        used = found
        // Complete sets replace all earlier ones: those of the description, and those of another id or size.
        var fresh = ParameterSets(codec: codec)
        for unit in found { try? fresh.insert(unit[...]) }
        if let format = try? fresh.takeFormat() {
            sets = fresh
            base = found
            added = 0
            return format
        }
        added += found.reduce(0) { $0 + $1.count }
        if added > Self.byteLimit {
            // Ids without end: those that are not in use any more make room.
            sets = ParameterSets(codec: codec)
            added = 0
            insert(base)
        }
        insert(found)
        return try? sets.takeFormat()
    }

    private mutating func insert(_ units: [[UInt8]]) {
        for unit in units { try? sets.insert(unit[...]) }
    }
}
