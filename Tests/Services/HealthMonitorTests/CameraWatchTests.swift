import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxReadings
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
        frameUnchangedSeconds: unchanged, watchdogSeconds: 20, version: "1")
}

final class CameraWatchTests {
    private var watch = CameraWatch(at: .at(0))
    private let camera = HealthServiceSettings.Camera(id: "front")

    private func look(
        _ reading: CameraReading, _ seconds: Double, phase: UnitPhase? = .running
    ) -> CameraWatch.Outcome {
        watch.took(reading, camera: camera, phase: phase, at: .at(seconds))
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

    @Test func `a camera that is recorded must give frames before there is a relay`() throws {
        var waiting = look(.answered(status("front", .waitingToReconnect)), 1)
        waiting = look(.answered(status("front", .waitingToReconnect)), 100)
        #expect(states(waiting)[.camera] == .unknown)
        watch = CameraWatch(at: .at(0))
        let recorded = status("front", .waitingToReconnect) { $0.recording = RecordingStatistics() }
        var silent = look(.answered(recorded), 1)
        silent = look(.answered(recorded), 100)
        #expect(states(silent)[.camera] == .fail)
        let finding = try #require(silent.findings.first { $0.check == .camera })
        #expect(finding.code == .noFrames && finding.evidence.contains("no frame for 100"))
        guard case .local? = silent.trouble else {
            Issue.record("\(String(describing: silent.trouble))")
            return
        }
    }

    @Test func `unacknowledged frames may be the relay's fault`() throws {
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

    @Test func `a stream that has just found its relay again is not restarted for its last acknowledgement`() throws {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        for second in stride(from: 3.0, through: 53, by: 10) {
            let away = status(
                "front", .waitingToReconnect, frames: UInt64(100 + second), acknowledgedSecondsAgo: second - 1)
            _ = look(.answered(away), second)
        }
        let back = look(.answered(status(frames: 170, acknowledgedSecondsAgo: 53.5)), 54.5)
        #expect(back.trouble == nil)
        #expect(try publish(back).state == .ok)
        // From here on it has the time that every stream has.
        let late = look(.answered(status(frames: 1000, acknowledgedSecondsAgo: 84.5)), 85.5)
        #expect(try publish(late).state == .fail)
        guard case .stalled = late.trouble else {
            Issue.record("\(String(describing: late.trouble))")
            return
        }
    }

    @Test func `a stream that begins again owes nothing of the time before`() throws {
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

    @Test func `a socket that the monitor may not open says nothing of the camera, and restarts nothing`() {
        _ = look(.answered(status(frames: 100, acknowledgedSecondsAgo: 0)), 1)
        for second in stride(from: 3.0, through: 600, by: 2) {
            let outcome = look(.refused("permission denied"), second)
            #expect(outcome.trouble == nil)
            #expect(
                states(outcome) == [.publish: .unknown, .camera: .unknown, .frozenPicture: .unknown, .key: .unknown])
        }
        // What comes then counts from its own begin.
        #expect(look(.silent("no answer"), 602).trouble == nil)
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

    @Test func `a source that hangs from its first frame is reported though its relay ends every idle stream`() {
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

    @Test func `a frame that never changes is frozen`() {
        let moving = look(.answered(status(frames: 1, acknowledgedSecondsAgo: 0, unchanged: 2)), 2)
        #expect(states(moving)[.frozenPicture] == .ok)
        let frozen = look(.answered(status(frames: 2, acknowledgedSecondsAgo: 0, unchanged: 31)), 4)
        #expect(states(frozen)[.frozenPicture] == .warn)
        guard case .frozen = frozen.trouble else {
            Issue.record("\(String(describing: frozen.trouble))")
            return
        }
        // Nothing to compare is not news, good or bad.
        let unknown = look(.answered(status(frames: 3, acknowledgedSecondsAgo: 0)), 6)
        #expect(states(unknown)[.frozenPicture] == .unknown)
        #expect(unknown.trouble == nil)
    }

    @Test func `a counter that is nearly used and headers without confirmation are reported`() throws {
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

/// Of cameras at this machine.
final class CaptureWatchTests {
    private var watch = CameraWatch(at: .at(0))

    private func look(_ seconds: Double, frames: UInt64 = 10, _ change: (inout CaptureStatistics) -> Void)
        -> CameraWatch.Outcome
    {
        var capture = CaptureStatistics(path: "/dev/v4l/by-id/usb-Example-video-index0")
        capture.state = .streaming
        capture.usbPort = "1-1.4"
        change(&capture)
        return watch.took(
            .answered(status(frames: frames, acknowledgedSecondsAgo: frames > 10 ? 0 : nil) { $0.capture = capture }),
            camera: HealthServiceSettings.Camera(id: "front"), phase: .running,
            at: .at(seconds))
    }

    private func finding(_ outcome: CameraWatch.Outcome, _ check: CheckName) -> Finding? {
        outcome.findings.first { $0.check == check }
    }

    @Test(arguments: [
        (ErrorCode?.none, true), (.deviceMissing, true), (.deviceNotPermitted, true), (.deviceUnusable, true),
        (.formatRefused, true), (.deviceFaults, false), (.badFrames, false),
    ])
    func `a camera that waits is reported at once; only faults of the device are answered with a step`(
        code: ErrorCode?, isForPerson: Bool
    ) throws {
        for second in stride(from: 1.0, through: 60, by: 2) {
            let outcome = look(second) {
                $0.state = .waiting
                $0.reason = "it was unplugged"
                $0.code = code
            }
            let camera = try #require(finding(outcome, .camera))
            #expect(camera.state == (second >= 30 ? .fail : .warn), "second \(second)")
            #expect(camera.code == code ?? .deviceMissing)
            #expect(camera.evidence.hasPrefix("it was unplugged; no frame for"))
            let publish = try #require(finding(outcome, .publish))
            if second > 6 {
                #expect(publish.code == code ?? .deviceMissing)
                #expect(publish.evidence.contains("it waits for its camera: it was unplugged"))
            }
            switch outcome.trouble {
            case nil: #expect(second < 30)
            case .remote: #expect(isForPerson && second >= 30)
            case .local: #expect(!isForPerson && second >= 30)
            default: Issue.record("\(String(describing: outcome.trouble))")
            }
        }
    }

    @Test(arguments: [
        (ErrorCode?.none, ErrorCode.cameraUnreachable), (.loginRefused, .loginRefused),
        (.streamFrozen, .streamFrozen), (.cameraProtocol, .cameraProtocol),
    ])
    func `a network camera that waits is never answered with a step: its process tries by itself`(
        code: ErrorCode?, reported: ErrorCode
    ) throws {
        for second in stride(from: 1.0, through: 120, by: 2) {
            let outcome = look(second) {
                $0.state = .waiting
                $0.reason = "the camera refuses"
                $0.code = code
                $0.network = NetworkStatistics()
            }
            #expect(finding(outcome, .camera)?.code == reported)
            switch outcome.trouble {
            case nil: #expect(second < 30)
            case .remote: #expect(second >= 30)
            default: Issue.record("\(String(describing: outcome.trouble))")
            }
        }
        // One that says that it delivers, and does not, is helped as any other.
        var last: EscalationLadder.Trouble?
        for second in stride(from: 121.0, through: 240, by: 2) {
            last = look(second) { $0.network = NetworkStatistics() }.trouble
        }
        guard case .local? = last else {
            Issue.record("\(String(describing: last))")
            return
        }
    }

    @Test func `what a network camera encodes itself is said so`() {
        let outcome = look(1, frames: 20) {
            $0.encoder = "passthrough"
            ($0.width, $0.height, $0.rate) = (1920, 1080, 25)
        }
        #expect(finding(outcome, .encoder)?.evidence == "as the camera encodes it, 1920x1080 at 25.0 fps")
    }

    @Test func `what a camera is encoded with is reported, and what it does not hold`() throws {
        func encoder(_ second: Double, _ change: (inout CaptureStatistics) -> Void) -> Finding? {
            finding(
                look(second, frames: 10 + UInt64(second)) {
                    $0.encoder = "libx264"
                    $0.isHardwareEncoder = false
                    $0.width = 1280
                    $0.height = 720
                    $0.rate = 30
                    change(&$0)
                }, .encoder)
        }
        #expect(encoder(1) { _ in }?.evidence == "libx264 (software), 1280x720 at 30.0 fps")
        #expect(encoder(2) { _ in }?.state == .ok)
        let limited = try #require(encoder(3) { $0.limit = "30 were asked for, 12 are held" })
        #expect(limited.state == .warn && limited.code == .encoderLimited)
        #expect(limited.evidence == "30 were asked for, 12 are held")
        // It may have been set to software since.
        let since = try #require(encoder(4) { $0.encoderHangs = 3 })
        #expect(since.code == .encoderHung && since.evidence.contains("hung 3 times lately; libx264 encodes"))
        let off = try #require(encoder(5) { $0.code = .hardwareEncoderOff })
        #expect(off.code == .hardwareEncoderOff && off.evidence.contains("again and again and is left alone"))
        let failed = try #require(
            encoder(5.5) {
                $0.code = .hardwareEncoderOff
                $0.encoderReason = "h264_v4l2m2m: failed (Input/output error)"
            })
        #expect(failed.code == .hardwareEncoderOff && failed.evidence.contains("codes: h264_v4l2m2m: failed (Input"))
        let hung = try #require(
            encoder(6) {
                $0.encoder = "h264_v4l2m2m"
                $0.isHardwareEncoder = true
                $0.encoderHangs = 1
            })
        #expect(hung.code == .encoderHung && hung.evidence.contains("hung 1 time "))
        // What is too long is cut: a process that was broken into says what it likes.
        let long = encoder(7) { $0.limit = String(repeating: "x", count: 100_000) }
        #expect(long?.evidence.count == 201)
        #expect(finding(look(8) { _ in }, .encoder) == nil)
    }

    @Test func `audio that was requested and is not there is reported`() {
        let missing = finding(look(1) { $0.audioReason = "hw:CARD=C920 is busy" }, .audio)
        #expect(missing?.state == .warn && missing?.code == .audioMissing)
        #expect(finding(look(2) { $0.audio = "hw:CARD=C920" }, .audio)?.state == .ok)
        #expect(finding(look(3) { _ in }, .audio) == nil)
    }

    @Test func `the port of its USB device is known while it is silent and while the device is away`() {
        _ = look(1) { _ in }
        #expect(watch.usbPort == "1-1.4")
        _ = look(2) {
            $0.usbPort = nil
            $0.state = .waiting
        }
        _ = watch.took(
            .silent("x"), camera: .init(id: "front"), phase: .running, at: .at(3))
        #expect(watch.usbPort == "1-1.4")
        _ = look(4) { $0.usbPort = "2-1" }
        #expect(watch.usbPort == "2-1")
        for port in [
            "", "1", "1-", "-1", "1-1.", "../1-1", "1-1/../usb1", "1-1;x", "1-1:1.0", "usb1", "1111-1", "1-1.4\n",
        ] {
            _ = look(5) { $0.usbPort = port }
            #expect(watch.usbPort == "2-1", "\(port)")
        }
        _ = watch.took(
            .answered(status(frames: 99)), camera: .init(id: "front"), phase: .running,
            at: .at(6))
        #expect(watch.usbPort == nil)
    }
}
