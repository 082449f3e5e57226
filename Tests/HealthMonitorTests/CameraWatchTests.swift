import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import HealthMonitor

func status(
    _ camera: String = "front", _ state: CameraStatistics.State = .publishing, frames: UInt64 = 0,
    acknowledgedSecondsAgo: Double? = nil, ivUsed: Double = 0.1, unchanged: Double? = nil,
    _ change: (inout CameraStatistics) -> Void = { _ in }
) -> CameraStatusDocument {
    var statistics = CameraStatistics(camera: camera, stream: camera)
    statistics.state = state
    statistics.video.delivered = frames
    statistics.video.sealed = frames
    statistics.collection = "0badcafe"
    let instant: UInt64 = 1_000_000_000_000
    statistics.lastAcknowledged = acknowledgedSecondsAgo.map { instant - UInt64($0 * 1e9) }
    change(&statistics)
    return CameraStatusDocument(
        statistics: statistics, instant: instant, framesPerSecond: 25, bitsPerSecond: 1_000_000, ivUsedRatio: ivUsed,
        pictureUnchangedSeconds: unchanged, watchdogSeconds: 20, version: "1")
}

final class CameraWatchTests {
    private var watch = CameraWatch(at: .at(0))
    private let camera = HealthSettings.Camera(id: "front")

    private func look(
        _ reading: CameraReading, _ seconds: Double, phase: UnitPhase? = .running
    ) -> CameraWatch.Outcome {
        watch.took(reading, camera: camera, phase: phase, thresholds: HealthThresholds(), at: .at(seconds))
    }

    private func states(_ outcome: CameraWatch.Outcome) -> [CheckName: HealthState] {
        Dictionary(uniqueKeysWithValues: outcome.findings.map { ($0.check, $0.state) })
    }

    private func publish(_ outcome: CameraWatch.Outcome) throws -> Finding {
        try #require(outcome.findings.first { $0.check == .publish })
    }

    @Test func `a stream that is acknowledged is fine`() throws {
        let outcome = look(.answered(status(frames: 50, acknowledgedSecondsAgo: 0.4)), 2)
        #expect(states(outcome) == [.publish: .ok, .camera: .ok, .frozenPicture: .unknown, .key: .ok])
        #expect(outcome.trouble == nil)
        #expect(outcome.acknowledgedSecondsAgo == 0.4)
        #expect(try publish(outcome).evidence.hasPrefix("last acknowledgement 0.4 s ago, 25.0 fps"))
    }

    @Test func `frames that nobody acknowledges may be the relay's fault`() throws {
        var outcome = look(.answered(status(frames: 1, acknowledgedSecondsAgo: 0)), 1)
        for second in 2...40 {
            let document = status(frames: UInt64(second * 25), acknowledgedSecondsAgo: Double(second - 1))
            outcome = look(.answered(document), Double(second))
            let expected: HealthState = second - 1 >= 30 ? .fail : second - 1 >= 5 ? .warn : .ok
            #expect(try publish(outcome).state == expected, "second \(second)")
        }
        #expect(try publish(outcome).code == .relayStalled)
        guard case .stalled = outcome.trouble else {
            Issue.record("\(String(describing: outcome.trouble))")
            return
        }
    }

    @Test func `a source without frames is the camera's fault, not the relay's`() throws {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        let warned = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 6)), 7)
        #expect(states(warned)[.camera] == .warn)
        #expect(try publish(warned).code == .noFrames)
        #expect(warned.trouble == nil)
        let failed = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 34)), 35)
        #expect(states(failed)[.camera] == .fail)
        #expect(try publish(failed).state == .fail)
        guard case .local = failed.trouble else {
            Issue.record("\(String(describing: failed.trouble))")
            return
        }
    }

    @Test(arguments: [
        (CameraStatistics.State.waitingForKey, ErrorCode.noKey), (.connecting, .relayUnreachable),
        (.waitingToReconnect, .relayUnreachable),
    ])
    func `a wait for relay or key is remote, however long it takes`(
        state: CameraStatistics.State, code: ErrorCode
    ) throws {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        for second in stride(from: 2.0, through: 7200, by: 60) {
            let outcome = look(.answered(status("front", state, frames: 100) { $0.reason = "refused" }), second)
            guard case .remote = outcome.trouble else {
                Issue.record("\(String(describing: outcome.trouble)) after \(second) s")
                return
            }
            if second > 40 {
                let finding = try publish(outcome)
                #expect(finding.state == .fail)
                #expect(finding.code == code)
                #expect(finding.evidence.contains("refused"))
            }
        }
    }

    @Test func `a stream that begins anew owes nothing of the time before`() throws {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        _ = look(.answered(status("front", .waitingToReconnect, frames: 100)), 300)
        let outcome = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0.1)), 302)
        #expect(outcome.trouble == nil)
        #expect(states(outcome)[.camera] == .ok)
        #expect(try publish(outcome).state == .ok)
    }

    @Test func `a process that does not answer is local after 30 seconds`() throws {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        #expect(look(.silent("no answer"), 3).trouble == nil)
        #expect(look(.silent("no answer"), 32).trouble == nil)
        let outcome = look(.silent("no answer"), 34)
        #expect(try publish(outcome).state == .fail)
        #expect(try publish(outcome).evidence.contains("no answer"))
        guard case .local = outcome.trouble else {
            Issue.record("\(String(describing: outcome.trouble))")
            return
        }
        let failed = look(.silent("x"), 40, phase: .failed("start-limit-hit"))
        #expect(try publish(failed).code == .startLimit)
        let stopped = look(.silent("x"), 41, phase: .stopped)
        #expect(try publish(stopped).code == .cameraStopped)
    }

    @Test func `one answer that is missed in an outage restarts nothing`() throws {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        for second in stride(from: 3.0, through: 600, by: 2) {
            _ = look(.answered(status("front", .waitingToReconnect, frames: UInt64(100 + second))), second)
        }
        let missed = look(.silent("no answer"), 602)
        #expect(try publish(missed).state == .fail)
        #expect(missed.trouble == nil)
        _ = look(.answered(status("front", .waitingToReconnect, frames: 900)), 604)
        // The silence counts from its own begin.
        #expect(look(.silent("no answer"), 630).trouble == nil)
        #expect(look(.silent("no answer"), 658).trouble == nil)
        guard case .local = look(.silent("no answer"), 660).trouble else {
            Issue.record("no trouble")
            return
        }
    }

    private func never(_ state: CameraStatistics.State, connections: UInt64) -> CameraReading {
        .answered(status("front", state) { $0.connections = connections })
    }

    @Test func `a source that hangs from its first frame is told though its relay ends every idle stream`() {
        var locals: [Double] = []
        for second in stride(from: 2.0, through: 120, by: 2) {
            // 10 s of a stream, 4 s of waiting.
            let (round, place) = Int(second).quotientAndRemainder(dividingBy: 14)
            let isStream = place < 10
            let outcome = look(
                never(isStream ? .publishing : .waitingToReconnect, connections: UInt64(round + 1)), second)
            if case .local = outcome.trouble { locals.append(second) }
        }
        // 30 s of streams, not of outages.
        #expect(locals.first.map { $0 > 34 } == true, "\(locals)")
    }

    @Test func `a relay that goes away before the first frame costs the source nothing`() {
        for second in [2.0, 4, 6] { _ = look(never(.publishing, connections: 1), second) }
        for second in stride(from: 8.0, through: 600, by: 2) {
            _ = look(never(.waitingToReconnect, connections: 1), second)
        }
        for second in [602.0, 604, 606] {
            #expect(look(never(.publishing, connections: 2), second).trouble == nil)
        }
    }

    @Test func `a new process owes nothing of the time of the one before`() {
        for second in stride(from: 2.0, through: 28, by: 2) { _ = look(never(.publishing, connections: 3), second) }
        for second in stride(from: 30.0, through: 54, by: 2) {
            #expect(look(never(.publishing, connections: 1), second).trouble == nil, "second \(second)")
        }
    }

    @Test func `a process that starts for ever is local`() {
        #expect(look(.answered(status("front", .starting)), 2).trouble == nil)
        #expect(look(.answered(status("front", .starting)), 55).trouble == nil)
        guard case .local = look(.answered(status("front", .starting)), 70).trouble else {
            Issue.record("no trouble")
            return
        }
    }

    @Test func `a picture that never changes is frozen`() {
        let moving = look(.answered(status(frames: 1, acknowledgedSecondsAgo: 0, unchanged: 2)), 2)
        #expect(states(moving)[.frozenPicture] == .ok)
        let frozen = look(.answered(status(frames: 2, acknowledgedSecondsAgo: 0, unchanged: 31)), 4)
        #expect(states(frozen)[.frozenPicture] == .fail)
        guard case .frozen = frozen.trouble else {
            Issue.record("\(String(describing: frozen.trouble))")
            return
        }
        // Nothing to compare is no news, good or bad.
        let unknown = look(.answered(status(frames: 3, acknowledgedSecondsAgo: 0)), 6)
        #expect(states(unknown)[.frozenPicture] == .unknown)
        #expect(unknown.trouble == nil)
    }

    @Test func `a counter that is nearly used and headers without confirmation are told`() throws {
        func key(_ document: CameraStatusDocument, _ second: Double) throws -> Finding {
            try #require(look(.answered(document), second).findings.first { $0.check == .key })
        }
        #expect(try key(status(frames: 1, ivUsed: 0.79), 1).state == .ok)
        #expect(try key(status(frames: 2, ivUsed: 0.80), 2).code == .ivNearlyUsed)
        let unregistered = { (frames: UInt64) in status(frames: frames) { $0.headersUnregistered = 2 } }
        #expect(try key(unregistered(3), 10).state == .ok)
        #expect(try key(unregistered(4), 71).code == .headerUnregistered)
        #expect(try key(status(frames: 5), 72).state == .ok)
        #expect(try key(unregistered(6), 140).state == .ok)
    }
}
