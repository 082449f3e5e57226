internal import ControlAPI
internal import ErrorCatalog

/// A frame that does not change: a camera that hangs, or a scene without movement?
///
/// One restart answers it. What stands still afterwards as well is a scene, reported and acknowledged until the frame
/// changes; and for some hours what stands still again is taken for the same: a yard at night in which a cat comes by
/// is not a reason for a restart with every cat. What is taken for a scene on such credit gets its restart when the
/// hours are over, if it still stands then.
///
/// The odd case: a camera that moved, hung, and hangs after its restart as well looks like a scene. So only
/// a person's acknowledgement suffices for a frame that was seen to move and has stood still for more than half a day.
struct FrozenPictureWatch: Sendable {
    struct Outcome: Sendable {
        var finding: Finding
        /// A restart may help.
        var isFrozen: Bool
    }

    private enum State: Equatable {
        case moving
        case still
        /// Since then the process is another one; nil: it has not reported anything yet.
        case restarted(reportedSince: UInt64?)
        /// Of this standstill a restart has shown it, or one before.
        case scene(isProved: Bool)
    }

    private var state = State.moving
    /// Nanoseconds since boot; nil: no restart has shown a scene.
    private var sceneUntil: UInt64?
    /// When the frame changed last, as far as it was seen to change and not only to be new; nanoseconds since boot.
    private var movedAt: UInt64?
    /// The same as this process says it, which also begins when the process does; seconds since boot.
    private var changedAt: Double?
    /// Since when its process has delivered frames and cannot tell.
    private var unreportedSince: UInt64?

    private static let stillSeconds = 30.0
    /// Seconds after which a new process would have seen that the frame stands still: that, and a few groups of
    /// pictures.
    private static let verdictSeconds = 90.0
    /// Seconds of frames in which two key frames would have been the same if the frame stood still: they are a minute
    /// apart at most.
    private static let unreportedSeconds = 180.0
    private static let sceneSeconds: UInt64 = 6 * 3600
    private static let longestScene = 12 * 3600.0

    init() {}

    /// - Parameters:
    ///   - seconds: for which its frames were the same, as its process says; nil when it cannot tell.
    ///   - isDelivering: its source gives frames.
    mutating func took(
        _ seconds: Double?, _ id: String, isNewProcess: Bool, isDelivering: Bool, at now: HealthInstant
    ) -> Outcome {
        if isNewProcess {
            changedAt = nil
            unreportedSince = nil
            switch state {
            case .still, .scene: state = .restarted(reportedSince: nil)
            case .moving, .restarted: break
            }
        }
        guard let seconds else {
            followUnreported(isDelivering: isDelivering, now)
            return Outcome(
                finding: Finding(
                    .frozenPicture, id, .unknown,
                    "whether its frames differ is not known: no two key frames of its process were the same yet"),
                isFrozen: false)
        }
        unreportedSince = nil
        followChange(seconds, now)
        follow(isStill: seconds >= Self.stillSeconds, now)
        return outcome(seconds, id, now)
    }

    private func outcome(_ seconds: Double, _ id: String, _ now: HealthInstant) -> Outcome {
        switch state {
        case .moving:
            return Outcome(
                finding: Finding(.frozenPicture, id, .ok, "the image changed \(seconds.tenths) s ago"),
                isFrozen: false)
        case .restarted:
            return Outcome(
                finding: Finding(
                    .frozenPicture, id, .unknown,
                    "it was restarted because its image stood still; whether it does is not clear yet"),
                isFrozen: false)
        case .still:
            return Outcome(
                finding: Finding(
                    .frozenPicture, id, .warn, "the image has been the same for \(seconds.tenths) s",
                    code: .frozenPicture),
                isFrozen: true)
        case .scene:
            let isDoubtful = movedAt.map { now.seconds(since: $0) > Self.longestScene } == true
            var finding = Finding(
                .frozenPicture, id, .warn,
                "the image has been the same for \(seconds.tenths) s, and a restart did not change that: "
                    + (isDoubtful ? "it moved before, and has not for more than 12 h" : "a scene without movement"),
                code: .frozenPicture)
            finding.isAcknowledged = !isDoubtful
            return Outcome(finding: finding, isFrozen: false)
        }
    }

    private mutating func follow(isStill: Bool, _ now: HealthInstant) {
        switch state {
        case .moving where isStill:
            state = isOnCredit(now) ? .scene(isProved: false) : .still
        case .scene(isProved: false) where isStill && !isOnCredit(now):
            state = .still
        case .still where !isStill, .scene where !isStill:
            state = .moving
        case .restarted where isStill:
            state = .scene(isProved: true)
            sceneUntil = now.uptime + Self.sceneSeconds * 1_000_000_000
        case .restarted(let since):
            let since = since ?? now.uptime
            state = now.seconds(since: since) < Self.verdictSeconds ? .restarted(reportedSince: since) : .moving
        case .moving, .still, .scene: break
        }
    }

    private func isOnCredit(_ now: HealthInstant) -> Bool { sceneUntil.map { now.uptime < $0 } == true }

    /// A process that delivers for so long and never saw two key frames alike: the frame moves, or its encoder hides
    /// it.
    private mutating func followUnreported(isDelivering: Bool, _ now: HealthInstant) {
        guard isDelivering else { return unreportedSince = nil }
        let since = unreportedSince ?? now.uptime
        unreportedSince = since
        guard now.seconds(since: since) >= Self.unreportedSeconds else { return }
        movedAt = now.uptime
        state = .moving
    }

    private mutating func followChange(_ seconds: Double, _ now: HealthInstant) {
        let changed = Double(now.uptime) / 1e9 - seconds
        // More than the seconds tremble: they are counted in frames.
        if let before = changedAt, changed - before > Self.stillSeconds / 2 {
            movedAt = UInt64(max(changed, 0) * 1e9)
            changedAt = changed
        } else if changedAt == nil {
            changedAt = changed
        }
    }
}
