import ControlAPI
import ErrorCatalog
import Foundation
import Platform
import Synchronization
import Systemd
import Testing

@testable import Doctor

struct CheckRunnerTests {
    @Test func `there are more than twenty checks, each with a name of its own`() {
        let names = DoctorCheck.all.map(\.name)
        #expect(names.count >= 20)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.allSatisfy { $0.isLowercase && $0.isASCII } })
    }

    @Test func `findings come in the order of the checks, whichever ends first`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let checks = [
            DoctorCheck("slow") { _ in
                for await _ in gate { break }
                return .ok("")
            },
            DoctorCheck("quick") { _ in
                open.yield()
                return .warn("x", .busy)
            },
        ]
        let environment = try FixtureTree().environment()
        let report = await CheckRunner(timeLimit: .seconds(60)).run(checks, in: environment)
        #expect(report.findings.map(\.check) == ["slow", "quick"])
        #expect(report.findings[1].code == .busy && report.findings[1].hint != nil)
        #expect(report.state == .warn && report.count(.ok) == 1)
    }

    /// Nothing writes into it, so whoever opens it to read waits: as for a file of a dead card.
    private func stuckFile(_ tree: FixtureTree) throws -> (check: DoctorCheck, release: @Sendable () -> Void) {
        let fifo = "\(tree.root)/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        let check = DoctorCheck(reading: "stuck") { _ in
            close(open(fifo, O_RDONLY))
            return .ok("it was read")
        }
        return (check, { close(open(fifo, O_WRONLY)) })
    }

    @Test func `a check that hangs is a finding`() async throws {
        let tree = try FixtureTree()
        let (stuck, release) = try stuckFile(tree)
        let endless = DoctorCheck("endless") { _ in
            while !Task.isCancelled { await Task.yield() }
            return .ok("it was cancelled")
        }
        let report = await CheckRunner(timeLimit: .milliseconds(200), width: 1)
            .run([stuck, endless], in: tree.environment())
        #expect(report.findings.map(\.state) == [.fail, .fail])
        #expect(report.findings[0].evidence == "it hangs: no answer within 0.2 s")
        // Lets the thread go; it may not have come to open the file yet, so this waits for it.
        _ = await OwnThread.value { release() }
    }

    @Test func `a check that hangs holds up no other`() async throws {
        let tree = try FixtureTree()
        let (stuck, release) = try stuckFile(tree)
        let other = DoctorCheck(reading: "other") { _ in
            release()
            return .ok("it was written")
        }
        let report = await CheckRunner(timeLimit: .seconds(60), width: 2).run([stuck, other], in: tree.environment())
        #expect(report.findings.map(\.evidence) == ["it was read", "it was written"])
    }

    @Test func `no more run at once than are allowed, and each is reported when it is done`() async throws {
        let running = Mutex((now: 0, most: 0))
        let reported = Mutex<[String]>([])
        let checks = (0..<12).map { number in
            DoctorCheck("c\(number)") { _ in
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                for _ in 0..<50 { await Task.yield() }
                running.withLock { $0.now -= 1 }
                return .ok("")
            }
        }
        let environment = try FixtureTree().environment()
        _ = await CheckRunner(timeLimit: .seconds(60), width: 3).run(checks, in: environment) { done, name in
            reported.withLock { $0.append("\(done)") }
        }
        #expect(running.withLock { $0.most } <= 3)
        #expect(reported.withLock { $0 } == (1...12).map(String.init))
    }

    @Test func `units are assessed by what PID 1 says`() async throws {
        func unit(_ name: String, _ active: String = "active", _ result: String = "success", load: String = "loaded")
            -> UnitState
        {
            UnitState(name: "watchbox-\(name).service", load: load, active: active, sub: "", result: result)
        }
        let well = [unit("control"), unit("health"), unit("relay", "inactive"), unit("camera@front")]
        #expect(DoctorCheck.finding(of: well) == .ok("3 units active"))
        #expect(DoctorCheck.finding(of: well + [unit("camera@b", "failed", "watchdog")]).code == .watchdogAbort)
        #expect(DoctorCheck.finding(of: well + [unit("camera@b", "failed", "start-limit-hit")]).code == .startLimit)
        #expect(DoctorCheck.finding(of: [unit("control"), unit("health", "inactive")]).state == .fail)
        #expect(DoctorCheck.finding(of: [unit("control", load: "bad-setting")]).state == .fail)
        let tree = try FixtureTree()
        let none = try await tree.finding("units", tree.environment(isOffline: false))
        #expect(none.state == .warn && none.evidence.contains("watchbox-health.service"))
        let silent = FixedUnits(failure: .unavailable("there is no bus"))
        #expect(try await tree.finding("units", tree.environment(isOffline: false, units: silent)).state == .unknown)
    }
}
