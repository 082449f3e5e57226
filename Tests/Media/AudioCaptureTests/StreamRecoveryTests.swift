import Glibc
import Testing

@testable import AudioCapture

struct StreamRecoveryTests {
    @Test func `an overrun is counted and recovered from`() {
        var recovery = StreamRecovery()
        #expect(recovery.failed("snd_pcm_readi", EPIPE) == .restart)
        recovery.delivered()
        #expect(recovery.failed("snd_pcm_wait", EPIPE) == .restart)
        #expect(recovery.overruns == 2)
        #expect(recovery.restarts == 2)
    }

    @Test func `a stream that fails six times without a sample is given up`() {
        var recovery = StreamRecovery()
        for _ in 0..<5 { #expect(recovery.failed("snd_pcm_readi", EIO) == .restart) }
        #expect(
            recovery.failed("snd_pcm_prepare", EIO) == .giveUp(.faulty(call: "snd_pcm_prepare", errno: EIO)))
    }

    @Test func `samples in between reset the retry count`() {
        var recovery = StreamRecovery()
        for _ in 0..<100 {
            #expect(recovery.failed("snd_pcm_readi", EIO) == .restart)
            recovery.delivered()
        }
    }

    @Test(arguments: [ENODEV, ENXIO, ESHUTDOWN])
    func `a device that was unplugged is not recovered`(number: Int32) {
        var recovery = StreamRecovery()
        #expect(recovery.failed("snd_pcm_wait", number) == .giveUp(.disconnected))
        #expect(recovery.restarts == 0)
    }

    @Test func `a sleeping device is woken, or started again where it cannot be`() {
        var recovery = StreamRecovery()
        #expect(recovery.failed("snd_pcm_readi", ESTRPIPE) == .resume)
        #expect(recovery.failed("snd_pcm_resume", EAGAIN) == .pause(milliseconds: 10))
        #expect(recovery.failed("snd_pcm_resume", ENOSYS) == .restart)
        #expect(recovery.failed("snd_pcm_readi", ESTRPIPE) == .resume)
        // Still asleep although it said that it woke: no loop between the two.
        #expect(recovery.failed("snd_pcm_resume", ESTRPIPE) == .restart)
    }

    @Test func `three seconds without a sample are too long`() {
        var recovery = StreamRecovery()
        for _ in 0..<29 { #expect(recovery.waited(milliseconds: 100) == .pause(milliseconds: 0)) }
        recovery.delivered()
        for _ in 0..<29 { #expect(recovery.waited(milliseconds: 100) == .pause(milliseconds: 0)) }
        #expect(recovery.waited(milliseconds: 100) == .giveUp(.silent(seconds: 3)))
    }

    @Test func `a plugin that wakes readers for nothing is not asked without end`() {
        var recovery = StreamRecovery()
        var pauses = 0
        while case .pause = recovery.failed("snd_pcm_readi", EAGAIN) {
            pauses += 1
            if pauses > 10_000 { break }
        }
        #expect(pauses == 299)
    }
}
