import CameraModel
import CameraUnit
import Testing

private let second: UInt64 = 1_000_000_000

/// A camera's process, as its watchdog sees it; the clock moves by hand.
private struct Dialogue {
    var watchdog = FramePathWatchdog()
    var rates = CameraRates()
    var statistics = CameraStatistics(camera: "front", stream: "front")
    var now: UInt64 = 100 * second

    /// Half a second later, with so many new frames.
    mutating func passes(
        _ state: CameraStatistics.State, delivered: UInt64 = 0, sealed: UInt64 = 0, reason: String? = nil
    ) -> [FramePathWatchdog.Action] {
        now += second / 2
        statistics.state = state
        statistics.reason = reason
        if state == .publishing { statistics.connections = max(1, statistics.connections) }
        statistics.video.delivered += delivered
        statistics.video.sealed += sealed
        rates.observed(statistics, at: now)
        return watchdog.observed(statistics, rates: rates, at: now)
    }
}

@Suite struct FramePathWatchdogTests {
    @Test func `ready is said with the first sealed frame, alive with each`() {
        var dialogue = Dialogue()
        #expect(dialogue.passes(.starting) == [.extendStart(seconds: 10), .alive, .status("starting")])
        #expect(dialogue.passes(.connecting).contains(.extendStart(seconds: 10)))
        #expect(dialogue.passes(.publishing) == [.status("publishing, no frame yet")])
        let first = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        #expect(first.prefix(2) == [.ready, .alive])
        #expect(dialogue.passes(.publishing, delivered: 12, sealed: 12).filter { $0 == .ready } == [])
    }

    @Test func `a source that stops delivering is not alive`() {
        var dialogue = Dialogue()
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<40 { #expect(!dialogue.passes(.publishing).contains(.alive)) }
        #expect(dialogue.passes(.publishing, delivered: 1, sealed: 1).contains(.alive))
    }

    @Test func `frames that are not sealed are not a sign of life`() {
        var dialogue = Dialogue()
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<40 { #expect(!dialogue.passes(.publishing, delivered: 12).contains(.alive)) }
    }

    @Test func `audio alone is not a life`() {
        var dialogue = Dialogue()
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<10 {
            dialogue.statistics.audio.delivered += 24
            dialogue.statistics.audio.sealed += 24
            #expect(!dialogue.passes(.publishing).contains(.alive))
        }
    }

    @Test func `waiting for the relay is declared, as long as the source goes on`() {
        var dialogue = Dialogue()
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<100 {
            #expect(dialogue.passes(.waitingToReconnect, delivered: 12, reason: "refused").contains(.alive))
        }
        for _ in 0..<10 { #expect(!dialogue.passes(.waitingToReconnect, reason: "refused").contains(.alive)) }
    }

    @Test
    func `a source that hangs before its first frame is not a life, however often the relay drops the silent stream`() {
        var dialogue = Dialogue()
        dialogue.statistics.connections = 0
        #expect(dialogue.passes(.connecting).contains(.alive))
        for _ in 0..<10 {
            dialogue.statistics.connections += 1
            dialogue.statistics.attempts += 1
            #expect(!dialogue.passes(.publishing).contains(.alive))
            dialogue.statistics.attempts += 1
            #expect(!dialogue.passes(.waitingToReconnect, reason: "dropped").contains(.alive))
        }
    }

    @Test func `a passed-through film may take a while until its next key frame, but not for ever`() {
        var dialogue = Dialogue()
        dialogue.statistics.connections = 1
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<119 {
            dialogue.statistics.video.dropped += 12
            #expect(dialogue.passes(.publishing, delivered: 12).contains(.alive))
        }
        dialogue.statistics.video.dropped += 12
        #expect(!dialogue.passes(.publishing, delivered: 12).contains(.alive))
    }

    @Test func `a source that is recorded must go on before there has been a relay as well`() {
        var dialogue = Dialogue()
        dialogue.statistics.connections = 0
        dialogue.statistics.recording = RecordingStatistics()
        #expect(dialogue.passes(.waitingToReconnect, reason: "refused").contains(.alive), "it has not begun")
        for _ in 0..<100 {
            #expect(dialogue.passes(.waitingToReconnect, delivered: 12, reason: "refused").contains(.alive))
        }
        for _ in 0..<10 { #expect(!dialogue.passes(.waitingToReconnect, reason: "refused").contains(.alive)) }
    }

    @Test func `a film that is held back waits with a full queue`() {
        var dialogue = Dialogue()
        dialogue.statistics.connections = 1
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        dialogue.statistics.queue.units = 256
        for _ in 0..<100 { #expect(dialogue.passes(.waitingToReconnect, reason: "refused").contains(.alive)) }
    }

    @Test func `a wait that gets nowhere ends`() {
        var dialogue = Dialogue()
        let actions = dialogue.passes(.waitingForKey, reason: "no answer")
        #expect(actions == [.ready, .alive, .status("waiting for the key access server: no answer")])
        for _ in 0..<719 { #expect(dialogue.passes(.waitingForKey, reason: "no answer").contains(.alive)) }
        #expect(!dialogue.passes(.waitingForKey, reason: "no answer").contains(.alive))
        // Another attempt is a step, also when the answer is the same.
        dialogue.statistics.attempts += 1
        #expect(dialogue.passes(.waitingForKey, reason: "no answer").contains(.alive))
    }

    @Test func `a start that hangs is not extended for ever`() {
        var dialogue = Dialogue()
        for _ in 0..<80 { #expect(dialogue.passes(.starting).contains(.extendStart(seconds: 10))) }
        #expect(dialogue.passes(.starting).isEmpty)
    }

    @Test func `a failed camera says nothing but its reason`() {
        var dialogue = Dialogue()
        #expect(dialogue.passes(.failed, reason: "no such file") == [.status("failed: no such file")])
    }

    @Test func `the status shows rate and acknowledgement`() {
        var dialogue = Dialogue()
        for _ in 0..<6 {
            dialogue.statistics.video.bytes += 125_000
            _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        }
        dialogue.statistics.lastAcknowledged = dialogue.now + second / 10
        dialogue.statistics.video.bytes += 125_000
        let actions = dialogue.passes(.publishing, delivered: 13, sealed: 13)
        #expect(actions.last == .status("24.5 fps, 2.0 Mb/s, ack 0.4 s"), "\(actions)")
    }
}

/// Of sources with a camera that may not be there.
@Suite struct CaptureWatchdogTests {
    private func dialogue(_ state: CaptureStatistics.State) -> Dialogue {
        var dialogue = Dialogue()
        dialogue.statistics.capture = CaptureStatistics(path: "/dev/video0")
        dialogue.statistics.capture?.state = state
        return dialogue
    }

    @Test func `waiting for the camera is declared: ready, alive, and in the status text`() {
        var dialogue = dialogue(.waiting)
        dialogue.statistics.capture?.reason = "nothing is at /dev/video0"
        #expect(
            dialogue.passes(.publishing) == [
                .ready, .alive, .status("waiting for the camera: nothing is at /dev/video0"),
            ])
        for look in 0..<1000 {
            if look % 20 == 0 { dialogue.statistics.capture?.attempts += 1 }
            #expect(dialogue.passes(.publishing).contains(.alive))
        }
    }

    @Test func `a wait for the camera that gets nowhere ends`() {
        var dialogue = dialogue(.waiting)
        for _ in 0..<120 { #expect(dialogue.passes(.publishing).contains(.alive)) }
        #expect(!dialogue.passes(.publishing).contains(.alive))
        dialogue.statistics.capture?.attempts += 1
        #expect(dialogue.passes(.publishing).contains(.alive))
    }

    @Test func `a camera that is away is not a fault of one that waits for its relay`() {
        var dialogue = dialogue(.streaming)
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        dialogue.statistics.capture?.state = .waiting
        #expect(dialogue.passes(.waitingToReconnect).contains(.alive))
        dialogue.statistics.capture?.state = .streaming
        #expect(!dialogue.passes(.waitingToReconnect).contains(.alive))
    }

    @Test func `looking for an encoder extends the start, for as long as a start may take`() {
        var dialogue = dialogue(.starting)
        for _ in 0..<80 { #expect(dialogue.passes(.publishing).prefix(2) == [.extendStart(seconds: 10), .alive]) }
        #expect(dialogue.passes(.publishing) == [])
        dialogue.statistics.capture?.state = .streaming
        #expect(dialogue.passes(.publishing, delivered: 1, sealed: 1).prefix(2) == [.ready, .alive])
    }

    @Test func `a camera that streams and delivers nothing is not a life`() {
        var dialogue = dialogue(.streaming)
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<10 {
            dialogue.statistics.capture?.attempts += 1
            #expect(!dialogue.passes(.publishing).contains(.alive))
        }
    }
}

/// Of cameras on the network.
@Suite struct NetworkWatchdogTests {
    private func dialogue(_ state: CaptureStatistics.State, _ network: NetworkStatistics.State) -> Dialogue {
        var dialogue = Dialogue()
        dialogue.statistics.capture = CaptureStatistics(path: "rtsp://cam/1")
        dialogue.statistics.capture?.state = state
        dialogue.statistics.capture?.network = NetworkStatistics()
        dialogue.statistics.capture?.network?.state = network
        return dialogue
    }

    @Test func `a login that was refused waits a quarter of an hour and is alive`() {
        var dialogue = dialogue(.waiting, .refused)
        dialogue.statistics.capture?.reason = "the camera refuses user or password"
        #expect(
            dialogue.passes(.publishing) == [
                .ready, .alive, .status("waiting for the camera: the camera refuses user or password"),
            ])
        // 15 minutes in half seconds; its count grows every 10 s.
        for look in 0..<1800 {
            if look % 20 == 0 { dialogue.statistics.capture?.attempts += 1 }
            #expect(dialogue.passes(.publishing).contains(.alive))
        }
    }

    @Test func `a thread that hangs while it waits is not alive for ever`() {
        var dialogue = dialogue(.waiting, .waiting)
        for _ in 0..<120 { #expect(dialogue.passes(.publishing).contains(.alive)) }
        for _ in 0..<40 { #expect(!dialogue.passes(.publishing).contains(.alive)) }
    }

    @Test func `a camera whose frames stop is waited for, and watched again when they come`() {
        var dialogue = dialogue(.streaming, .live)
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        dialogue.statistics.capture?.state = .waiting
        dialogue.statistics.capture?.network?.state = .stalled
        #expect(dialogue.passes(.publishing).contains(.alive))
        dialogue.statistics.capture?.state = .streaming
        dialogue.statistics.capture?.network?.state = .live
        for _ in 0..<40 { #expect(!dialogue.passes(.publishing).contains(.alive)) }
    }

    @Test func `after a loss packets are life until the next key frame, but not for ever`() {
        var dialogue = dialogue(.streaming, .live)
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        for _ in 0..<119 {
            dialogue.statistics.capture?.network?.packets += 100
            #expect(dialogue.passes(.publishing).contains(.alive))
        }
        dialogue.statistics.capture?.network?.packets += 100
        #expect(!dialogue.passes(.publishing).contains(.alive))
    }

    @Test func `packets are not a sign of life while frames wait to be sealed`() {
        var dialogue = dialogue(.streaming, .live)
        _ = dialogue.passes(.publishing, delivered: 12, sealed: 12)
        dialogue.statistics.queue.units = 3
        for _ in 0..<40 {
            dialogue.statistics.capture?.network?.packets += 100
            #expect(!dialogue.passes(.publishing).contains(.alive))
        }
    }
}

@Suite struct CameraRatesTests {
    @Test func `rates come from the last two seconds`() {
        var rates = CameraRates()
        var statistics = CameraStatistics(camera: "front", stream: "front")
        for tick in UInt64(0)..<20 {
            statistics.video.sealed += tick < 10 ? 5 : 10
            statistics.video.bytes += 1000
            rates.observed(statistics, at: tick * second / 2)
        }
        #expect(rates.framesPerSecond == 20)
        #expect(rates.bitsPerSecond == 16_000)
    }

    @Test func `a clock that stands still and counters that go back trap nothing`() {
        var rates = CameraRates()
        var statistics = CameraStatistics(camera: "front", stream: "front")
        statistics.video.sealed = 10
        rates.observed(statistics, at: 5)
        rates.observed(statistics, at: 5)
        statistics.video.sealed = 0
        rates.observed(statistics, at: 4)
        rates.observed(statistics, at: second)
        #expect(rates.framesPerSecond >= 0)
    }
}
