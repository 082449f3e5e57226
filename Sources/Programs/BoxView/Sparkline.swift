/// Values as blocks of eight heights, one cell each.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")

    /// - Parameters:
    ///   - values: oldest first; the newest that fit are shown.
    ///   - most: the value of the highest block; what is above looks the same.
    static func text(_ values: [Int], most: Int, width: Int) -> String {
        String(
            values.suffix(max(0, width)).map { value in
                guard value > 0, most > 0 else { return blocks[0] }
                let height = min(Double(value) / Double(most), 1) * Double(blocks.count)
                return blocks[max(Int(height.rounded(.up)) - 1, 0)]
            })
    }
}
