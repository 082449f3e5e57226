import Dispatch
import Testing
import VideoCodec

@testable import DeviceSource

struct EncoderWatchTests {
    @Test func `a call that never returns is told, once`() {
        let heartbeat = EncoderHeartbeat()
        let told = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let watch = EncoderWatch(heartbeat) { told.signal() }
        DispatchQueue(label: "encoder").async {
            heartbeat.during { release.wait() }
        }
        #expect(told.wait(timeout: .now() + 120) == .success)
        release.signal()
        withExtendedLifetime(watch) {}
    }
}
