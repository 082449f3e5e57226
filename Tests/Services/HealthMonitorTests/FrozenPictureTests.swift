import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxReadings
@testable import HealthMonitor

/// A camera that stands still, its process, and what the monitor does about it.
final class FrozenPictureTests {
    private var watch = CameraWatch(at: .at(0))
    private var ledger = HealthLedger()
    private var ladder = EscalationLadder(state: LadderState())
    private var second = 0.0
    private var startedAt = 0.0
    private var restarts = 0

    /// - Parameter changedAt: by the second; nil: its process does not know.
    private func live(seconds: Double, changedAt: (Double) -> Double?) {
        let end = second + seconds
        while second < end {
            second += 2
            let document = status(
                frames: UInt64((second - startedAt) * 25), acknowledgedSecondsAgo: 0.2,
                unchanged: changedAt(second).map { second - max(startedAt, $0) })
            let outcome = watch.took(
                .answered(document), camera: .init(id: "front"), phase: .running,
                at: .at(second))
            _ = ledger.took(outcome.findings, of: Probe.camera("front").checks, object: "front", at: .at(second))
            let actions = ladder.observe(
                .init(
                    uptime: UInt64(second), time: 0,
                    cameras: [.init(id: "front", usbPort: "1-1", phase: .running, trouble: outcome.trouble)]))
            if actions.contains(where: { if case .restartCamera = $0 { true } else { false } }) {
                restarts += 1
                startedAt = second
            }
        }
    }

    private var check: HealthCheck? { ledger.checks(at: .at(second)).first { $0.check == "frozen-picture" } }

    @Test func `a scene that never moves costs one restart, and is acknowledged then`() {
        live(seconds: 28) { _ in 0 }
        #expect(check?.state == .ok)
        live(seconds: 3 * 86_400) { _ in 0 }
        #expect(restarts == 1)
        #expect(check?.state == .warn)
        #expect(check?.code == .frozenPicture)
        #expect(check?.isAcknowledged == true)
        #expect(ledger.worst == .ok)
    }

    @Test func `a yard in which something moves every 10 minutes at night is not restarted each time`() {
        // Ten hours.
        live(seconds: 36_000) { second in (second / 600).rounded(.down) * 600 }
        #expect(restarts == 2, "the first, and one after six hours")
    }

    @Test func `a camera that hangs is restarted, and moves`() {
        live(seconds: 600) { $0 }
        #expect(check?.state == .ok)
        let hung = second
        live(seconds: 40) { _ in hung }
        #expect(restarts == 1)
        live(seconds: 10) { $0 }
        #expect(check?.state == .unknown, "the process is new: not known yet")
        live(seconds: 100) { $0 }
        #expect(check?.state == .ok)
        #expect(check?.isAcknowledged == false)
        // It hangs again, an hour later: nothing has shown that this is a scene.
        live(seconds: 3600) { $0 }
        let again = second
        live(seconds: 40) { _ in again }
        #expect(restarts == 2)
    }

    @Test func `a camera that hangs while a scene is believed is restarted when that ends, and reported for good`() {
        live(seconds: 300) { _ in 0 }
        #expect(restarts == 1, "the scene")
        live(seconds: 3600) { second in (second / 600).rounded(.down) * 600 }
        let hung = second
        live(seconds: 3600) { _ in hung }
        #expect(restarts == 1)
        #expect(check?.isAcknowledged == true)
        live(seconds: 5 * 3600) { _ in hung }
        #expect(restarts == 2, "six hours after the scene was seen")
        #expect(check?.isAcknowledged == true)
        live(seconds: 7 * 3600) { _ in hung }
        #expect(restarts == 2)
        #expect(check?.state == .warn)
        #expect(check?.isAcknowledged == false, "it moved, and has not for half a day")
        #expect(ledger.worst == .warn)
        live(seconds: 86_400) { _ in hung }
        #expect(restarts == 2)
        #expect(ledger.worst == .warn, "and nothing makes that well but movement")
        live(seconds: 20) { $0 }
        #expect(check?.state == .ok)
    }

    @Test func `key frames that were never the same say nothing, and a hang after them is one`() {
        live(seconds: 3600) { _ in nil }
        #expect(check?.state == .unknown)
        let hung = second
        live(seconds: 40) { _ in hung }
        #expect(restarts == 1)
        // It moves again, and its process does not know.
        live(seconds: 3600) { _ in nil }
        #expect(check?.state == .unknown)
        let again = second
        live(seconds: 40) { _ in again }
        #expect(restarts == 2, "that was no scene")
        live(seconds: 11 * 3600) { _ in again }
        #expect(check?.isAcknowledged == true)
        live(seconds: 2 * 3600) { _ in again }
        #expect(check?.isAcknowledged == false)
    }

    @Test func `a frame that changes by itself is not a scene any more`() {
        live(seconds: 300) { _ in 0 }
        #expect(check?.isAcknowledged == true)
        let moved = second
        live(seconds: 20) { _ in moved }
        #expect(check?.state == .ok)
        #expect(restarts == 1)
    }
}
