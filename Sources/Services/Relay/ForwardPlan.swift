/// Which stream may go to which target: the decision alone.
///
/// A stream loses its application on the way, so two streams can get one name at the next relay, where they would throw
/// each other out under one key. Each name there belongs to one stream: to the first, unless only the second has a publish
/// key of its own. The same holds for places when all are taken.
struct ForwardPlan: Sendable {
    /// One stream on its way to one target.
    struct Place: Hashable, Sendable {
        let path: StreamPath
        /// Of the target, from 1.
        let number: Int
    }

    enum Refusal: Equatable, Sendable {
        case tooMany
        /// Another stream has the name at the next relay.
        case nameTaken
        /// The name cannot stand in a URL.
        case noURL
    }

    enum Verdict: Equatable, Sendable {
        /// - Parameter insteadOf: who must go for it.
        case begin(insteadOf: Place?)
        case refused(Refusal)
    }

    private struct Holder {
        let name: String
        /// Where the next relay sent it, besides its own.
        var elsewhere: String?
        let isReserved: Bool
        /// The order in which they came.
        let turn: UInt64
    }

    private let most: Int
    private var holders: [Place: Holder] = [:]
    /// Where it goes and how it is called there.
    private var names: [String: Place] = [:]
    private var turn: UInt64 = 0
    /// Somebody left, so that those who were refused may ask again.
    private(set) var hasRoomAgain = false

    init(most: Int) {
        self.most = most
    }

    func holds(_ place: Place) -> Bool { holders[place] != nil }

    /// - Parameters:
    ///   - name: where it goes and how it is called there.
    ///   - isReserved: the stream has a publish key of its own.
    mutating func ask(_ place: Place, name: String, isReserved: Bool) -> Verdict {
        var other: Place?
        if let holder = names[name] {
            // Whoever was sent there has a name of its own, under which it begins again.
            let isGuest = holders[holder]?.name != name
            guard isGuest || isReserved && holders[holder]?.isReserved == false else { return .refused(.nameTaken) }
            other = holder
        } else if holders.count >= most {
            guard isReserved, let latest = latestUnreserved else { return .refused(.tooMany) }
            other = latest
        }
        if let other { leave(other) }
        turn += 1
        holders[place] = Holder(name: name, isReserved: isReserved, turn: turn)
        names[name] = place
        return .begin(insteadOf: other)
    }

    mutating func leave(_ place: Place) {
        guard let holder = holders.removeValue(forKey: place) else { return }
        names[holder.name] = nil
        if let elsewhere = holder.elsewhere { names[elsewhere] = nil }
        hasRoomAgain = true
    }

    /// A relay sent it elsewhere, or it comes back. Its own name stays its own.
    /// - Parameter name: nil: home.
    /// - Returns: false when another stream has that name.
    mutating func move(_ place: Place, to name: String?) -> Bool {
        guard let holder = holders[place] else { return false }
        if let name, let other = names[name], other != place { return false }
        if let elsewhere = holder.elsewhere, elsewhere != name {
            names[elsewhere] = nil
            hasRoomAgain = true
        }
        let elsewhere = name == holder.name ? nil : name
        if let elsewhere { names[elsewhere] = place }
        holders[place]?.elsewhere = elsewhere
        return true
    }

    func holder(of name: String) -> Place? { names[name] }

    /// All who were refused are about to ask again.
    mutating func asksAgain() { hasRoomAgain = false }

    private var latestUnreserved: Place? {
        holders.filter { !$0.value.isReserved }.max { $0.value.turn < $1.value.turn }?.key
    }
}

extension ForwardPlan.Refusal {
    var message: String {
        switch self {
        case .tooMany: "the maximum number of streams is forwarded; it is tried again when one ends"
        case .nameTaken: "another stream has this name at the next relay; it is tried again when that ends"
        case .noURL: "its name cannot stand in a URL"
        }
    }
}
