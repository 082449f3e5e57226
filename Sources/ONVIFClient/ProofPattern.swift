/// Which logins of a proof are made with a wrong password.
struct ProofPattern: Equatable {
    static let logins = 12
    /// Cameras lock accounts.
    static let mostWrong = 3

    /// In the order in which they are sent.
    var isWrong: [Bool]

    init(isWrong: [Bool]) {
        self.isWrong = isWrong
    }

    /// Each with one wrong login to three.
    static let all: [ProofPattern] = (1..<(1 << logins)).lazy
        .filter { (1...mostWrong).contains($0.nonzeroBitCount) }
        .map { bits in ProofPattern(isWrong: (0..<logins).map { bits >> $0 & 1 == 1 }) }

    /// One of all, each with the same probability. Nil when none of these random bytes decides: with 64 of them once in
    /// a million million times.
    init?(_ random: [UInt8]) {
        for index in stride(from: 0, to: random.count - 1, by: 2) {
            let number = (Int(random[index]) << 8 | Int(random[index + 1])) & 511
            guard number < Self.all.count else { continue }
            self = Self.all[number]
            return
        }
        return nil
    }
}
