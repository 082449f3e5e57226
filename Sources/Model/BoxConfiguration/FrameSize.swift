/// `1280x720`
struct FrameSize: Equatable, Sendable {
    var width: Int
    var height: Int
}

extension FrameSize: SettingText {
    init?(text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        var numbers: [Int] = []
        for part in parts {
            guard (2...4).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part.first != "0", let number = Int(part), (64...7680).contains(number), number % 2 == 0
            else { return nil }
            numbers.append(number)
        }
        self.init(width: numbers[0], height: numbers[1])
    }

    var text: String { "\(width)x\(height)" }
}
