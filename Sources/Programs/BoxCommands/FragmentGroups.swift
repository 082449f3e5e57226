/// Which fragments of a film share a segment of an archive: each segment begins with a fragment, and all but the last one have a MiB or more. So
/// 160,000 segments last for 156 GiB at least, and a part of the film costs little more than itself.
struct FragmentGroups {
    /// Bytes of a segment that ends in front of a fragment.
    static let least = 1 << 20

    private var pending = 0

    /// - Parameter count: bytes of the fragment that comes next.
    /// - Returns: whether a segment ends in front of it.
    mutating func endsSegment(before count: Int) -> Bool {
        let ends = pending >= Self.least
        pending = (ends ? 0 : pending) + count
        return ends
    }
}
