internal import Platform

/// One call that somebody waits for.
struct BusOperation: Sendable {
    typealias Outcome = Result<UnitDialogue.Answer, SystemdError>

    let id: UInt64
    let call: UnitDialogue.Call
    let deadline: ContinuousClock.Instant
    let answer = OneAnswer<Outcome>()
}
