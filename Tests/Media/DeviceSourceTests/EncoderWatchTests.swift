import Dispatch
import Testing
import VideoCodec

@testable import DeviceSource

struct EncoderWatchTests {
    @Test func `a call that never returns is reported, once`() {
        let heartbeat = EncoderHeartbeat()
        let reported = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let watch = EncoderWatch(heartbeat) { reported.signal() }
        DispatchQueue(label: "encoder").async {
            heartbeat.during { release.wait() }
        }
        #expect(reported.wait(timeout: .now() + 120) == .success)
        release.signal()
        withExtendedLifetime(watch) {}
    }
}
