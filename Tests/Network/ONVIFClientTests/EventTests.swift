import ONVIF
import Synchronization
import Testing

@testable import ONVIFClient

/// What docs/ref/camera-notes.md says about events.
@Suite(
    .serialized, .enabled(if: SimulatedCamera.isInstalled, "python3 is not installed"), .timeLimit(.minutes(15)))
struct EventTests {
    @Test func `the state as it is, then each change; then the subscription is ended`() async throws {
        let camera = try await SimulatedCamera(["--echo"])
        defer { camera.stop() }
        let device = camera.device()
        var events: [ONVIFDevice.Event] = []
        for await event in device.events() {
            events.append(event)
            if events.count == 4 { break }
        }
        await device.settle()
        #expect(events.map(\.kind) == ["motion", "motion", "motion", "motion"])
        #expect(events.map(\.operation) == [.initialized, .changed, .changed, .changed])
        #expect(events.map(\.isActive) == [false, false, true, false])
        #expect(events[0].topic == "tns1:RuleEngine/CellMotionDetector/Motion")
        #expect(events[0].source == ["VideoSourceConfigurationToken": "VS1"])
        #expect(events.allSatisfy { $0.time != nil })
        #expect(camera.requests("Unsubscribe").map(\.fault) == [nil])
        #expect(camera.requests("CreatePullPointSubscription").count == 1)
        #expect(camera.refused.isEmpty)
    }

    @Test func `a reader whose task is cancelled ends the subscription too`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        let reader = Task { for await _ in device.events() {} }
        try await camera.wait { $0.count { $0.op == "PullMessages" } >= 2 }
        reader.cancel()
        await reader.value
        await device.settle()
        #expect(camera.requests("Unsubscribe").map(\.fault) == [nil])
    }

    @Test func `the subscription's address is reached though the camera names another, and comes back as it was given`()
        async throws
    {
        let camera = try await SimulatedCamera(["--echo", "--xaddr-host", "192.168.77.3"])
        defer { camera.stop() }
        #expect(await firstEvents(2, of: camera).count == 2)
        #expect(camera.requests("PullMessages").allSatisfy { $0.to.hasPrefix("http://192.168.77.3:") })
    }

    @Test func `a subscription is renewed before it ends`() async throws {
        let camera = try await SimulatedCamera(["--lifetime", "15"])
        defer { camera.stop() }
        let device = camera.device()
        let reader = Task { for await _ in device.events() {} }
        try await camera.wait { requests in
            guard let renewal = requests.firstIndex(where: { $0.op == "Renew" }) else { return false }
            return requests[renewal...].contains { $0.op == "PullMessages" }
        }
        reader.cancel()
        await reader.value
        await device.settle()
        #expect(camera.requests("CreatePullPointSubscription").count == 1)
        #expect(!camera.requests.contains { $0.fault != nil })
    }

    @Test func `where a renewal is refused, a new subscription follows`() async throws {
        let camera = try await SimulatedCamera(["--lifetime", "10", "--no-renew"])
        defer { camera.stop() }
        let device = camera.device()
        let reader = Task { for await _ in device.events() {} }
        try await camera.wait { $0.count { $0.op == "CreatePullPointSubscription" } >= 2 }
        let operations = camera.requests.map(\.op)
        // Until the second one: how soon we look is the machine's affair, and that one must be renewed as well.
        let made = operations.indices.filter { operations[$0] == "CreatePullPointSubscription" }
        #expect(operations[..<made[1]].count { $0 == "Renew" } == 1)
        try await camera.wait { requests in
            guard let second = requests.lastIndex(where: { $0.op == "CreatePullPointSubscription" }) else {
                return false
            }
            return requests[second...].contains { $0.op == "PullMessages" && $0.fault == nil }
        }
        reader.cancel()
        await reader.value
        await device.settle()
    }

    @Test func `a connection that ends during a pull ends no subscription`() async throws {
        let camera = try await SimulatedCamera(["--pull-closes", "2"])
        defer { camera.stop() }
        #expect(await firstEvents(4, of: camera).count == 4)
        #expect(camera.requests("CreatePullPointSubscription").count == 1)
        #expect(camera.refused.isEmpty)
    }

    @Test func `a forgotten subscription is made again, and not in a storm`() async throws {
        let camera = try await SimulatedCamera(["--forget", "2"])
        defer { camera.stop() }
        #expect(await firstEvents(3, of: camera).count == 3)
        let made = camera.requests("CreatePullPointSubscription").count
        let forgotten = camera.requests("PullMessages").filter { $0.fault != nil }.count
        #expect(forgotten >= 2)
        #expect(made == forgotten + 1)
    }

    @Test func `a camera that understands no lifetime is given the end by its own clock`() async throws {
        let camera = try await SimulatedCamera(["--absolute-only", "--skew", "-86400"])
        defer { camera.stop() }
        #expect(await firstEvents(2, of: camera).count == 2)
        #expect(camera.requests("CreatePullPointSubscription").map { $0.fault == nil } == [false, true])
    }

    @Test func `of a flood ten a second are kept`() async throws {
        let camera = try await SimulatedCamera(["--flood", "200", "--event-after", "0"])
        defer { camera.stop() }
        let device = camera.device()
        let first = Task {
            var counts: [Int64?: Int] = [:]
            for await event in device.events() {
                counts[event.time, default: 0] += 1
                if counts.count == 4 { break }
            }
            return counts
        }
        let counts = await first.value
        await device.settle()
        // By the camera's second, which ours may cut in two.
        #expect(counts.values.allSatisfy { $0 <= 20 })
        // The camera is not asked as fast as it can answer.
        #expect(camera.requests("PullMessages").count < 100)
    }

    @Test func `what was refused once is asked for again`() async throws {
        let camera = try await SimulatedCamera(["--refuse-pull", "2"])
        defer { camera.stop() }
        // After two seconds instead of a minute, which PullPointDialogueTests hold in virtual time.
        let device = ONVIFDevice(
            camera.access(), clockMilliseconds: 30_000, refusalPause: 2_000_000_000, logger: .silent)
        let reader = Task { for await _ in device.events() {} }
        try await camera.wait { $0.count { $0.op == "CreatePullPointSubscription" } >= 2 }
        let operations = camera.requests.map(\.op)
        let second = try #require(operations.lastIndex(of: "CreatePullPointSubscription"))
        // The one that the device may still have is ended first.
        #expect(operations[second - 1] == "Unsubscribe")
        reader.cancel()
        await reader.value
        await device.settle()
    }

    @Test func `who waits for events keeps no one waiting`() async throws {
        let camera = try await SimulatedCamera(["--event-after", "60"])
        defer { camera.stop() }
        let device = camera.device()
        let readers = (0..<2).map { _ in Task { for await _ in device.events() {} } }
        // The clock, the services, and for each a subscription, its state, and the pull that waits.
        while device.state.withLock({ $0.requests }) < 8 { try await Task.sleep(for: .milliseconds(10)) }
        try await device.setSynchronizationPoint(profile: "Profile_1")
        #expect(camera.requests("PullMessages").count == 2)
        for reader in readers {
            reader.cancel()
            await reader.value
        }
        await device.settle()
    }

    @Test func `a subscription too large to carry along is not kept`() async throws {
        let camera = try await SimulatedCamera(["--long-key", "17000"])
        defer { camera.stop() }
        let device = camera.device()
        let reader = Task { for await _ in device.events() {} }
        try await camera.wait { $0.count { $0.op == "CreatePullPointSubscription" } >= 2 }
        #expect(camera.requests("PullMessages").isEmpty)
        reader.cancel()
        await reader.value
        await device.settle()
    }

    @Test func `a camera without events ends the stream`() async throws {
        let camera = try await SimulatedCamera(["--no-events"])
        defer { camera.stop() }
        for await event in camera.device().events() { Issue.record("\(event)") }
        // It was tried, whatever the capabilities say.
        #expect(camera.requests("CreatePullPointSubscription").count == 1)
    }

    @Test func `a camera whose clock is set is asked for its time again`() async throws {
        let camera = try await SimulatedCamera(["--set-clock", "3600", "--skew", "60"])
        defer { camera.stop() }
        let device = ONVIFDevice(camera.access(), clockMilliseconds: 0, logger: .silent)
        var count = 0
        for await _ in device.events() {
            count += 1
            if count == 4 { break }
        }
        await device.settle()
        #expect(camera.requests("GetSystemDateAndTime").count == 2)
        #expect(camera.requests("CreatePullPointSubscription").count == 1)
        #expect(abs(try #require(device.learnedFacts.clockOffsetMilliseconds) - 3_660_000) < 30_000)
    }

    private func firstEvents(_ count: Int, of camera: SimulatedCamera) async -> [ONVIFDevice.Event] {
        let device = camera.device()
        var events: [ONVIFDevice.Event] = []
        for await event in device.events() {
            events.append(event)
            if events.count == count { break }
        }
        await device.settle()
        return events
    }
}
