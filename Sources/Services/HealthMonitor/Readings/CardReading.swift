internal import BoxReadings
internal import Platform

/// What eMMC says of its wear. SD cards say nothing.
struct CardReading: Equatable, Sendable {
    struct Card: Equatable, Sendable {
        var name: String
        /// `MMC` or `SD`.
        var type: String
        /// Tenths of the life that are used, the worse of the two kinds of cells: 1 is up to 10 %, 11 is more than all.
        var lifeTime: Int?
        /// Of the spare blocks: 1 normal, 2 more than 80 % used, 3 urgent.
        var preEndOfLife: Int?
    }

    var cards: [Card] = []

    static func read(_ paths: HealthPaths) -> CardReading {
        let blocks = "\(paths.box.systemRoot)/block"
        return CardReading(
            cards: SmallFile.names(in: blocks)
                .filter { $0.hasPrefix("mmcblk") && !$0.contains("boot") && !$0.contains("rpmb") }
                .map { name in
                    let device = "\(blocks)/\(name)/device"
                    let life = SmallFile.line("\(device)/life_time")?.split(separator: " ").compactMap { hex($0) }.max()
                    return Card(
                        name: name, type: SmallFile.line("\(device)/type") ?? "", lifeTime: life,
                        preEndOfLife: SmallFile.line("\(device)/pre_eol_info").flatMap { hex($0) })
                })
    }

    private static func hex(_ text: some StringProtocol) -> Int? {
        text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }
}
