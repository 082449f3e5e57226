import CameraModel
import ControlAPI
import ErrorCatalog
import Systemd
import Testing

@testable import ControlPlane

struct StreamStateTests {
    private func unit(_ active: String, sub: String = "running", result: String = "success") -> UnitState {
        UnitState(
            name: "watchbox-camera@a.service", load: "loaded", active: active, sub: sub, result: result, restarts: 3)
    }

    private func process(_ state: CameraStatistics.State, reason: String? = nil) -> CameraStatusDocument {
        var statistics = CameraStatistics(camera: "a", stream: "a")
        statistics.state = state
        statistics.reason = reason
        statistics.roundTripNanoseconds = 41_000_000
        statistics.lastAcknowledged = 1_000_000_000
        return CameraStatusDocument(
            statistics: statistics, instant: 1_500_000_000, framesPerSecond: 25, bitsPerSecond: 2e6, ivUsedRatio: 0,
            watchdogSeconds: nil, version: "1")
    }

    private func document(
        _ unit: UnitState?, _ process: CameraStatusDocument? = nil, isActive: Bool = true,
        obstacle: CodedError? = nil, isStopped: Bool = false
    ) -> StreamDocument {
        StreamState(
            camera: "a", stream: "a", relay: "main", isActive: isActive, obstacle: obstacle,
            isStoppedByRequest: isStopped, unit: unit, process: process
        ).document
    }

    @Test func `a camera that publishes is live, with its numbers`() {
        let live = document(unit("active"), process(.publishing))
        #expect(live.state == .live)
        #expect(live.framesPerSecond == 25)
        #expect(live.roundTripMilliseconds == 41)
        #expect(live.acknowledgedSecondsAgo == 0.5)
        #expect(live.restarts == 3)
        #expect(live.unit == "active")
    }

    @Test func `how long ago the bitrate followed the link is by the camera's own clock`() {
        var answer = process(.publishing)
        #expect(document(unit("active"), answer).uplinkChangedSecondsAgo == nil)
        answer.statistics.uplink = UplinkStatistics()
        #expect(document(unit("active"), answer).uplinkChangedSecondsAgo == nil)
        answer.statistics.uplink?.lastChange = 500_000_000
        #expect(document(unit("active"), answer).uplinkChangedSecondsAgo == 1)
        answer.statistics.uplink?.lastChange = .max
        #expect(document(unit("active"), answer).uplinkChangedSecondsAgo == 0)
    }

    @Test(arguments: [
        (CaptureStatistics.State.starting, StreamDocument.State.starting, ErrorCode?.none),
        (.waiting, .waiting, .deviceFaults), (.streaming, .live, nil), (.stopped, .live, nil),
    ])
    func `a stream whose camera is waited for is not live`(
        capture: CaptureStatistics.State, expected: StreamDocument.State, code: ErrorCode?
    ) {
        var answer = process(.publishing)
        answer.statistics.capture = CaptureStatistics(path: "/dev/video0")
        answer.statistics.capture?.state = capture
        answer.statistics.capture?.reason = "its stream broke"
        if capture == .waiting { answer.statistics.capture?.code = .deviceFaults }
        let stream = document(unit("active"), answer)
        #expect(stream.state == expected)
        #expect(stream.code == code)
        #expect(stream.reason == (expected == .live ? nil : "its stream broke"))
    }

    @Test(arguments: [
        (CameraStatistics.State.starting, StreamDocument.State.starting, ErrorCode?.none),
        (.connecting, .starting, nil), (.waitingForKey, .waiting, .noKey),
        (.waitingToReconnect, .waiting, .relayUnreachable), (.failed, .failed, nil), (.stopping, .stopped, nil),
    ])
    func `what the process says is shown`(said: CameraStatistics.State, state: StreamDocument.State, code: ErrorCode?) {
        let reported = document(unit("active"), process(said, reason: "why"))
        #expect(reported.state == state)
        #expect(reported.reason == "why")
        #expect(reported.code == code)
    }

    @Test func `each way of not running has its text`() {
        #expect(document(unit("inactive"), isActive: false).reason == "the camera is disabled")
        #expect(document(unit("inactive"), isStopped: true).reason == "stopped by request")
        #expect(document(unit("inactive")).code == .cameraStopped)
        #expect(document(unit("failed", result: "start-limit-hit")).code == .startLimit)
        #expect(document(unit("failed", result: "oom-kill")).code == .processKilledForMemory)
        #expect(document(unit("activating", sub: "auto-restart", result: "watchdog")).code == .watchdogAbort)
        #expect(document(unit("active")).state == .unknown)
        #expect(document(nil).code == .systemManager)
        let obstacle = CodedError(.missingSecret, "needs a secret", why: "it is not there")
        #expect(document(unit("inactive"), obstacle: obstacle).reason == "needs a secret: it is not there")
        #expect(document(unit("inactive"), obstacle: obstacle).code == .missingSecret)
    }

    @Test func `what the relay does not acknowledge is not live`() {
        var answer = process(.publishing)
        answer.instant = 6_000_000_000
        answer.statistics.lastSent = 5_900_000_000
        let reported = document(unit("active"), answer)
        #expect(reported.state == .waiting)
        #expect(reported.code == .relayStalled)
        #expect(reported.reason == "the relay acknowledges nothing")
        // A breath before the health daemon warns.
        answer.instant -= 1
        #expect(document(unit("active"), answer).state == .live)
        // Nothing was sent that it could acknowledge: a frame every ten seconds.
        answer.instant = 9_000_000_000
        answer.statistics.lastSent = 900_000_000
        #expect(document(unit("active"), answer).state == .live)
        answer.statistics.lastAcknowledged = nil
        #expect(document(unit("active"), answer).state == .live)
    }

    private static let words = CodedError(
        .sourceUnreadable, "cannot open /root/film.mp4", why: "Permission denied",
        hint: "Allow this user to read it")

    @Test func `what its process left is shown instead of a number`() {
        var ended = unit("failed", result: "exit-code")
        ended.execMainStatus = 1
        #expect(document(ended).reason == "it ended with status 1")
        #expect(document(ended).code == .cameraStopped)
        #expect(document(ended).hint == "Run: watchboxctl stream start a")
        ended.statusText = Self.words.endLine
        let reported = document(ended)
        #expect(reported.state == .failed)
        #expect(reported.reason == "cannot open /root/film.mp4: Permission denied")
        #expect(reported.code == .sourceUnreadable)
        // Not what a process, which an attacker may have taken over, would have a person do.
        #expect(reported.hint == "Check the source: watchboxctl camera show a")
        ended.result = "start-limit-hit"
        #expect(document(ended).reason == "it ended too often: cannot open /root/film.mp4: Permission denied")
        #expect(document(ended).code == .sourceUnreadable)
    }

    @Test func `it is shown while systemd starts it again, and while it still ends`() {
        var unit = unit("activating", sub: "auto-restart", result: "exit-code")
        unit.statusText = Self.words.endLine
        #expect(document(unit).state == .starting)
        #expect(
            document(unit).reason == "cannot open /root/film.mp4: Permission denied; systemd starts it again")
        #expect(document(unit).hint == "Check the source: watchboxctl camera show a")
        unit.sub = "start"
        #expect(document(unit).reason == "cannot open /root/film.mp4: Permission denied")
        #expect(document(unit).code == .sourceUnreadable)
    }

    /// A signal came from elsewhere: what the process said before is not a reason for it.
    @Test(arguments: ["signal", "watchdog", "oom-kill", "timeout"])
    func `a text does not explain an end that others made`(result: String) {
        var unit = unit("failed", result: result)
        let before = document(unit)
        unit.statusText = Self.words.endLine
        #expect(document(unit) == before)
    }

    @Test func `a relay that is not trusted is not one that does not answer`() {
        var waits = process(.waitingToReconnect, reason: "TLS cannot be set up")
        waits.statistics.code = .certificateRefused
        #expect(document(unit("active"), waits).code == .certificateRefused)
    }

    /// A socket that is still there after its process has ended says nothing any more.
    @Test func `a failed unit is not live, whatever its socket says`() {
        let reported = document(unit("failed", result: "exit-code"), process(.publishing))
        #expect(reported.state == .failed)
        #expect(reported.framesPerSecond == nil)
    }
}

struct HostAddressTests {
    @Test(arguments: [
        ("rtmp://h/live", "h", 1935, false), ("rtmps://h/live", "h", 443, true),
        ("RTMPS://h:8443/x/y", "h", 8443, true),
        ("https://kas.example.net", "kas.example.net", 443, true), ("http://[::1]:9443/kas", "::1", 9443, false),
    ])
    func `a URL names a host and a port`(url: String, host: String, port: Int, isEncrypted: Bool) {
        let address = HostAddress(url: url)
        #expect(address?.host == host)
        #expect(address?.port == port)
        #expect(address?.isEncrypted == isEncrypted)
    }

    @Test(arguments: [
        "", "rtmp://", "rtmp:///x", "rtmp://u:p@h/x", "rtmp://h:99999/x", "rtmp://h:-1/x", "rtmp://[::1", "ftp://h/x",
        "rtmp://a:b:c/x", "rtmp://[::1]x/y", "rtmp://h:/x",
    ])
    func `what is not an address is rejected`(url: String) {
        #expect(HostAddress(url: url) == nil)
    }

    @Test func `a place to listen needs its port`() {
        #expect(HostAddress(listen: "0.0.0.0:1935")?.port == 1935)
        #expect(HostAddress(listen: "[::]:1935")?.host == "::")
        #expect(HostAddress(listen: "0.0.0.0") == nil)
    }
}
