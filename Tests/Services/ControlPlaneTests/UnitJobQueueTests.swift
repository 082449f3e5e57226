import Testing

@testable import ControlPlane

struct UnitJobQueueTests {
    /// What is asked for while the first job runs, and which jobs follow it.
    @Test(arguments: [
        (UnitJobQueue.Job.start, [UnitJobQueue.Job.start], [UnitJobQueue.Job]()),
        (.start, [.stop], [.stop]),
        (.start, [.restart], [.restart]),
        (.start, [.stop, .start], [.restart]),
        (.restart, [.start], []),
        (.restart, [.restart], [.restart]),
        (.stop, [.stop], []),
        (.stop, [.start], [.start]),
        (.stop, [.restart, .stop], []),
        (.stop, [.start, .stop], []),
        (.start, [.restart, .stop], [.stop]),
        (.start, [.restart, .restart, .restart], [.restart]),
        (.stop, [.restart, .start], [.restart]),
        (.change, [], []),
        (.change, [.change, .change], [.change]),
        (.change, [.start], []),
        (.change, [.restart], [.restart]),
        (.change, [.change, .restart], [.restart]),
        (.change, [.restart, .change], [.restart]),
        (.change, [.stop], [.stop]),
        (.start, [.change], [.change]),
        (.restart, [.change], [.change]),
        (.stop, [.start, .change], [.start]),
        (.stop, [.change], [.restart]),
    ])
    func `one job at a time, and after it what still matters`(
        first: UnitJobQueue.Job, asked: [UnitJobQueue.Job], following: [UnitJobQueue.Job]
    ) {
        var line = UnitJobQueue()
        #expect(line.requested(first) == first)
        for job in asked { #expect(line.requested(job) == nil) }
        for job in following {
            #expect(line.ended() == job)
            #expect(!line.isIdle)
        }
        #expect(line.ended() == nil)
        #expect(line.isIdle)
        #expect(line.requested(.start) == .start)
    }
}
