import CameraModel
import ONVIF
import ONVIFClient
import Testing

/// What docs/ref/camera-notes.md says about logins, clocks and addresses, and more of its kind, without a setting.
@Suite(
    .serialized, .enabled(if: SimulatedCamera.isInstalled, "python3 is not installed"), .timeLimit(.minutes(15)))
struct LoginMatrixTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var options: String
        var scheme = LoginScheme.usernameToken
        var clock: ClockCandidate? = .utc
        /// Logins that the camera refuses before it accepts one.
        var refused = 0

        init(_ options: String, _ scheme: LoginScheme = .usernameToken, clock: ClockCandidate? = .utc, refused: Int = 0)
        {
            self.options = options
            self.scheme = scheme
            self.clock = clock
            self.refused = refused
        }

        var testDescription: String { options.isEmpty ? "a good camera" : options }
    }

    static let cases = [
        Case(""),
        Case("--skew 3600"),
        Case("--skew -86400"),
        Case("--only-zulu --skew 12.5"),
        Case("--skew 3600 --clock-needs-auth", clock: .httpDate),
        Case("--skew 3600 --no-clock", clock: .httpDate),
        Case("--no-clock --no-date", clock: .own),
        Case("--utc-off 7200", clock: .httpDate, refused: 1),
        Case("--utc-off -36000 --fault-status 400", clock: .httpDate, refused: 1),
        Case("--utc-off 7200 --fault-status 403", clock: .httpDate, refused: 1),
        Case("--utc-off 7200 --fault-status 500", clock: .httpDate, refused: 1),
        Case("--utc-off 7200 --bare-401", clock: .httpDate, refused: 1),
        Case("--utc-off 7200 --soap11", clock: .httpDate, refused: 1),
        Case("--skew 900 --utc-off 7200 --no-date --local-off 7200 --tz EET-2", clock: .localWithZone, refused: 1),
        Case("--skew 900 --utc-off 7200 --no-date --tz Europe/Berlin", clock: .localAsUTC, refused: 1),
        Case("--utc-off 7200 --no-date --local-off 3600 --tz UTC0", clock: .own, refused: 2),
        Case("--auth digest", .httpDigest, clock: nil, refused: 8),
        Case("--auth digest --qop none", .httpDigest, clock: nil, refused: 8),
        Case("--auth digest-sha256", .httpDigest, clock: nil, refused: 8),
        Case("--auth digest-sha256 --qop none --skew 3600 --no-clock --no-date", .httpDigest, clock: nil, refused: 8),
        Case("--auth digest --bare-401", .httpDigest, clock: nil, refused: 8),
        Case("--auth both"),
        Case("--auth both --utc-off 7200", .httpDigest, clock: nil, refused: 8),
        Case("--auth none"),
        Case("--xaddr-host 0.0.0.0"),
        Case("--xaddr-host 127.0.0.9"),
        Case("--xaddr-host 192.168.77.3"),
        Case("--no-media2"),
        Case("--empty-media2"),
        Case("--no-services"),
        Case("--chunked --bom"),
        Case("--slow 1500"),
        Case("--kapow 3"),
        Case("--kapow 2"),
        Case("--latin1"),
        Case("--escaped"),
    ]

    @Test(arguments: cases)
    func `a camera reports its profiles and where their streams are`(_ test: Case) async throws {
        let camera = try await SimulatedCamera(test.options.split(separator: " ").map(String.init))
        defer { camera.stop() }
        let device = camera.device()
        let description = try await device.describe()

        let query = test.options.contains("--escaped") ? "?x=1&y=2" : ""
        #expect(description.device.profiles.map(\.token) == ["Profile_1", "Profile_2"])
        #expect(
            description.device.profiles.map(\.url) == [
                "rtsp://127.0.0.1:8554/h264\(query)", "rtsp://127.0.0.1:8554/h264v\(query)",
            ])
        let snapshot = "http://127.0.0.1:\(camera.port)/snap.jpg?a=1&b=2"
        #expect(description.device.profiles.map(\.snapshotURL) == [snapshot, snapshot])
        #expect(description.device.profiles.map(\.codec) == ["h264", "h264"])
        #expect(description.device.profiles.map(\.width) == [1920, 640])
        #expect(description.device.profiles.map(\.bitrate) == [4_096_000, 512_000])
        #expect(description.device.profiles.map(\.gop) == [50, 50])
        #expect(description.device.serial == "SN1")
        #expect(description.device.mac == "02:00:5e:00:53:01")
        #expect(description.device.endpoint == camera.endpoint)
        #expect(description.device.hasPTZ && description.device.hasEvents)
        #expect(description.login == test.scheme)
        #expect(device.learnedFacts.clock == test.clock)
        #expect(device.learnedFacts.address == "127.0.0.1")
        if test.refused < 8 {
            #expect(camera.refused.count == test.refused + (test.options.contains("--clock-needs-auth") ? 1 : 0))
        }
    }

    @Test func `a good camera with two profiles is known after ten requests`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let description = try await camera.device().describe()
        #expect(camera.requests.count <= 10)
        #expect(description.requests == camera.requests.count)
        #expect(camera.refused.isEmpty)
        #expect(description.remarks.isEmpty)
        #expect(description.repairedAddresses.isEmpty)
        #expect(description.clock?.isProven == true)
        #expect(abs(try #require(description.clock?.offsetMilliseconds)) < 30_000)
        // First the clock, without showing who asks.
        #expect(camera.requests.first?.op == "GetSystemDateAndTime")
        #expect(camera.requests.first?.why == "open")
    }

    @Test func `what was learned of the clock saves the refusal`() async throws {
        let camera = try await SimulatedCamera(["--utc-off", "7200"])
        defer { camera.stop() }
        var access = camera.access()
        access.clock = .httpDate
        let description = try await ONVIFDevice(access, logger: .silent).describe()
        #expect(description.clock?.candidate == .httpDate)
        #expect(camera.refused.isEmpty)
    }

    @Test(arguments: ["wsse", "digest", "digest-sha256"])
    func `a password with every special character works and shows up nowhere`(_ scheme: String) async throws {
        let password = "p@ss:/#% \"ü<&>'\\"
        let camera = try await SimulatedCamera(["--auth", scheme, "--password", password])
        defer { camera.stop() }
        let access = camera.access(password: password)
        let description = try await ONVIFDevice(access, logger: .silent).describe()
        #expect(description.device.profiles.count == 2)
        var dumped = ""
        dump(access, to: &dumped)
        #expect(!"\(access)\(String(reflecting: access))\(dumped)\(description)".contains("p@ss"))
    }

    @Test(arguments: [("wsse", 1), ("both", 2)])
    func `a wrong password is shown once for each way to log in`(_ scheme: String, _ tries: Int) async throws {
        let camera = try await SimulatedCamera(["--auth", scheme])
        defer { camera.stop() }
        let device = ONVIFDevice(camera.access(password: "wrong"), logger: .silent)
        let schemes: [LoginScheme] = scheme == "both" ? [.usernameToken, .httpDigest] : [.usernameToken]
        await #expect(throws: ONVIFError.loginRefused(host: "127.0.0.1", tried: schemes)) {
            try await device.describe()
        }
        let logins = camera.refused.filter { !$0.why.contains("no token http:no http digest") }
        #expect(logins.count == tries)
        // The device object asks no more.
        let before = camera.requests.count
        await #expect(throws: ONVIFError.self) { try await device.presets() }
        #expect(camera.requests.count == before)
    }

    @Test func `three wrong logins at once, and the next attempt goes on where this one ended`() async throws {
        let options = "--utc-off 7200 --local-off 20000 --tz UTC-3 --skew 900".split(separator: " ").map(String.init)
        let camera = try await SimulatedCamera(options)
        defer { camera.stop() }
        let device = ONVIFDevice(camera.access(password: "wrong"), logger: .silent)
        let error = ONVIFError.loginRefused(host: "127.0.0.1", tried: [.usernameToken])
        await #expect(throws: error) { try await device.describe() }
        #expect("\(error)".contains("wrong password or wrong clock"))
        let shown = { camera.refused.filter { $0.why.hasPrefix("wsse:") }.count }
        #expect(shown() == 3)
        #expect(device.learnedFacts.nextClock == .localAsUTC)
        await #expect(throws: error) { try await device.presets() }
        #expect(shown() == 3)
        await #expect(throws: error) { try await device.describe() }
        #expect(shown() == 5)
    }

    @Test func `a camera that wants a login says so when there is none`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = ONVIFDevice(camera.access(user: nil, password: nil), logger: .silent)
        await #expect(throws: ONVIFError.loginNeeded(host: "127.0.0.1")) { try await device.describe() }
        #expect(camera.refused.count == 1)
    }

    @Test func `a readable password is sent only when that is allowed`() async throws {
        let camera = try await SimulatedCamera(["--auth", "text"])
        defer { camera.stop() }
        await #expect(throws: ONVIFError.loginRefused(host: "127.0.0.1", tried: [.usernameToken])) {
            try await camera.device().describe()
        }
        #expect(camera.refused.allSatisfy { $0.why.hasPrefix("wsse:text") })
        var access = camera.access()
        access.allowsPlainPassword = true
        let description = try await ONVIFDevice(access, logger: .silent).describe()
        #expect(description.login == .plainText)
    }

    @Test func `a camera without a login is read without a user`() async throws {
        let camera = try await SimulatedCamera(["--auth", "none"])
        defer { camera.stop() }
        let description = try await ONVIFDevice(camera.access(user: nil, password: nil), logger: .silent).describe()
        #expect(description.device.profiles.count == 2)
        #expect(description.login == .none)
    }
}
