internal import ControlAPI

extension LadderDocument {
    /// The budget with the longest window of each level; per camera, of the camera that used it most.
    init(_ state: LadderState) {
        self.init(
            steps: LadderLevel.allCases.map { level in
                let budget = level.budgets.max { $0.seconds < $1.seconds } ?? .init(allowed: 0, seconds: 0)
                let uses = state.uses(of: level, object: nil, within: budget.seconds)
                let used =
                    level.isPerObject
                    ? Dictionary(grouping: uses, by: \.object).values.map(\.count).max() ?? 0 : uses.count
                return Step(
                    level: level.rawValue, action: level.text, used: used, allowed: budget.allowed,
                    windowSeconds: Int(budget.seconds),
                    last: (state.uses[level] ?? []).last { $0.object != "*" }?.time)
            })
    }
}
