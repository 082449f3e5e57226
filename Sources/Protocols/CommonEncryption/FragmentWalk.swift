/// The boxes of one or several fragments, in order.
enum FragmentWalk {
    enum Part {
        case fragment(MovieFragment)
        case other(MovieBox)
    }

    /// Places in a file that has other sizes now, and room that nobody needs.
    private static let dropped: Set<FourCC> = ["sidx", "ssix", "mfra", "free", "skip"]

    static func walk(
        _ bytes: [UInt8], _ defaults: [UInt32: MovieHeader.Defaults],
        _ body: (Part) throws(CommonEncryptionError) -> Void
    ) throws(CommonEncryptionError) {
        var moof: MovieBox?
        for box in try MovieBox.list(bytes, in: 0..<bytes.count) {
            switch box.kind {
            case "moof":
                guard moof == nil else { throw box.fault(.misplaced) }
                moof = box
            case "mdat":
                guard let head = moof else { throw box.fault(.misplaced) }
                moof = nil
                try body(.fragment(try MovieFragment(bytes, moof: head, mdat: box, defaults: defaults)))
            case "ftyp", "moov":
                throw box.fault(.misplaced)
            // Media data in another box (ISO/IEC 14496-12 §9.1): they would stay as they are.
            case "imda":
                throw box.fault(.unsupported("media data in it"))
            default:
                guard moof == nil else { throw box.fault(.misplaced) }
                if !dropped.contains(box.kind) { try body(.other(box)) }
            }
        }
        if let moof { throw .movie(.missing, box: "mdat", offset: moof.range.upperBound) }
    }
}
