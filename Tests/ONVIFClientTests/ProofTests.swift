import ONVIF
import Testing

@testable import ONVIFClient

@Suite(
    .serialized, .enabled(if: SimulatedCamera.isInstalled, "python3 is not installed"), .timeLimit(.minutes(15)))
struct ProofTests {
    static let serial = DeviceIdentity(serial: "SN1")

    @Test(arguments: ["wsse", "digest", "digest-sha256", "both"])
    func `the camera proves itself`(_ scheme: String) async throws {
        let camera = try await SimulatedCamera(["--auth", scheme, "--xaddr-host", "192.168.77.3"])
        defer { camera.stop() }
        #expect(await camera.device().prove(Self.serial) == .proven)
        let wrong = camera.refused.filter { $0.why == "wsse:digest http:-" || $0.why == "wsse:- http:http digest" }
        #expect((1...3).contains(wrong.count) || scheme == "both")
    }

    @Test func `one to three of twelve logins are wrong, in 298 ways of the same probability`() {
        #expect(ProofPattern.all.count == 298)
        #expect(Set(ProofPattern.all.map { "\($0.isWrong)" }).count == 298)
        #expect(ProofPattern.all.allSatisfy { $0.isWrong.count == 12 && (1...3).contains($0.isWrong.count { $0 }) })
        var counts: [String: Int] = [:]
        for number in 0..<512 {
            // What lies beyond is drawn again.
            let drawn = ProofPattern([UInt8(number >> 8), UInt8(number & 255), 0, 0])
            counts["\(drawn?.isWrong ?? [])", default: 0] += number < 298 ? 1 : 0
        }
        #expect(counts.values.allSatisfy { $0 == 1 })
        #expect(ProofPattern([255, 255]) == nil && ProofPattern([]) == nil)
    }

    @Test(arguments: ["wsse", "digest"])
    func `who guesses the order right passes, and one wrong answer is final`(_ scheme: String) async throws {
        let wrong = [3, 7, 11]
        let pattern = ProofPattern(isWrong: (0..<12).map { wrong.contains($0) })
        // The login before the twelve is the one by which it is found out what the device accepts.
        for (refuses, reason) in [
            ("5,9,13", nil), ("5,9", "it accepts a wrong password"),
            ("5,6", "it refuses a password that it accepted before"),
            ("1,6,10,14", scheme == "wsse" ? nil : "it refuses the camera's user or password"),
        ] as [(String, String?)] {
            let camera = try await SimulatedCamera([
                "--forger", "--forger-refuses", refuses, "--auth", scheme, "--skew", "600", "--utc-off", "60",
            ])
            defer { camera.stop() }
            let proof = await camera.device().prove(Self.serial, pattern)
            #expect(proof == reason.map { .notProven(reason: $0) } ?? .proven, "\(refuses)")
        }
    }

    @Test(arguments: 0..<8)
    func `what is refused while the login is looked for gives no second chance`(_ round: Int) async throws {
        let camera = try await SimulatedCamera([
            "--forger", "--forger-refuses", "1", "--skew", "600", "--utc-off", "60",
        ])
        defer { camera.stop() }
        #expect(await camera.device().prove(Self.serial) == .notProven(reason: "it accepts a wrong password"))
        let logins = camera.requests.filter { $0.why.contains("forged") }
        #expect(logins.count <= 3 + ProofPattern.logins)
    }

    @Test(arguments: ["none", "first"])
    func `an answer to HTTP Digest that would be the same each time is not given`(_ qop: String) async throws {
        let camera = try await SimulatedCamera(["--forger", "--auth", "digest", "--qop", qop])
        defer { camera.stop() }
        let proof = await camera.device().prove(Self.serial)
        #expect(proof == .notProven(reason: "it refuses the camera's user or password"))
        #expect(!camera.requests.contains { $0.why.contains("no qop") })
    }

    @Test func `by endpoint or hardware address when there is no serial number`() async throws {
        let camera = try await SimulatedCamera(["--serial", "0000", "--skew", "3600", "--utc-off", "7200"])
        defer { camera.stop() }
        #expect(await camera.device().prove(DeviceIdentity(endpoint: camera.endpoint)) == .proven)
        #expect(await camera.device().prove(DeviceIdentity(mac: "02-00-5E-00-53-01")) == .proven)
        let other = DeviceIdentity(mac: "02:00:5e:00:53:02")
        #expect(await camera.device().prove(other) == .notProven(reason: "its hardware address is another one"))
    }

    @Test(arguments: 0..<4)
    func `who accepts any password is found out`(_ round: Int) async throws {
        let camera = try await SimulatedCamera(["--forger"] + (round % 2 == 0 ? [] : ["--auth", "digest"]))
        defer { camera.stop() }
        #expect(await camera.device().prove(Self.serial) == .notProven(reason: "it accepts a wrong password"))
    }

    @Test func `who asks for no login proves nothing`() async throws {
        let reason = "it tells who it is without asking for a login"
        for option in [["--auth", "none"], ["--open-information"]] {
            let camera = try await SimulatedCamera(option)
            defer { camera.stop() }
            #expect(await camera.device().prove(Self.serial) == .notProven(reason: reason))
        }
    }

    @Test func `another camera with the same password is another camera`() async throws {
        let camera = try await SimulatedCamera(["--serial", "SN2"])
        defer { camera.stop() }
        let proof = await camera.device().prove(Self.serial)
        #expect(proof == .notProven(reason: "its serial number is another one"))
    }

    @Test func `another password is another camera, and is not tried often`() async throws {
        let camera = try await SimulatedCamera(["--password", "other"])
        defer { camera.stop() }
        let proof = await camera.device().prove(Self.serial)
        #expect(proof == .notProven(reason: "it refuses the camera's user or password"))
        #expect(camera.refused.count <= 3)
    }

    @Test func `without a password or an identity nothing is asked`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let nobody = ONVIFDevice(camera.access(user: nil, password: nil), logger: .silent)
        for proof in [await nobody.prove(Self.serial), await camera.device().prove(DeviceIdentity(serial: "0"))] {
            guard case .notProven = proof else {
                Issue.record("\(proof)")
                continue
            }
        }
        #expect(camera.requests.isEmpty)
    }

    @Test func `nobody there is a failure, not a verdict`() async throws {
        let camera = try await SimulatedCamera()
        camera.stop()
        guard case .failed(.unreachable) = await camera.device().prove(Self.serial) else {
            Issue.record("not unreachable")
            return
        }
    }
}
