import Console
import ControlAPI
import ControlClient
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BoxCommands

/// From the volume to a box whose control is the real one.
@Suite(.timeLimit(.minutes(15)))
struct AdoptionTests {
    private static let relay = "rtmps://u:s3cret-relay@live.example.net/live?key=s3cret-key"
    private static let secrets = [
        relay, "s3cret-relay", "s3cret-key", "s3cret-token", "s3cret-password", "s3cret-wifi!", "s3cret-topic",
        "s3cret-bearer",
    ]

    private static let file = """
        name = "Porch"
        admin_keys = ["\(AdoptionSystemTests.key) me@laptop"]
        network.ethernet = { address = "192.168.1.20/24", gateway = "192.168.1.1" }
        network.wifi = { ssid = "Home", password = "s3cret-wifi!", country = "DE" }
        relay.main = { secret_url = "\(relay)" }
        kas = { url = "https://kas.example.net/kas", token = "s3cret-token" }
        hook.phone = { kind = "ntfy", secret_url = "https://ntfy.sh/s3cret-topic", token = "s3cret-bearer" }
        camera.front = { source = "rtsp://192.168.1.61/main", user = "viewer", password = "s3cret-password" }

        """

    private static let steps = [
        "write etc/hostname", "write etc/systemd/network/40-watchbox-ethernet.network",
        "write etc/wpa_supplicant/wpa_supplicant-wlan0.conf", "write etc/ssh/authorized_keys/admin",
        "take the objects", "store camera.front.password", "store hook.phone.secret_url", "store hook.phone.token",
        "store kas.token", "store relay.main.secret_url", "prepare the result", "overwrite the file",
        "remove the file", "publish the result",
    ]

    private static let result = [
        "WatchBox: all of watchbox.toml was taken.", "",
        "Box:            Porch", "Host name:      porch", "Ethernet:       192.168.1.20/24", "Wi-Fi:          Home",
        "SSH keys:       me@laptop",
        "Objects:        box changed, camera.front added, hook.phone added, kas added, relay.main added",
        "Encrypted:      camera.front.password, hook.phone.secret_url, hook.phone.token, kas.token, relay.main.secret_url",
        "", "watchbox.toml was overwritten with zeros and deleted, since it may have held passwords.",
        "A memory card can keep old copies all the same: format this drive when you need it no more.", "",
        "Next: take the stick out, if it is one. In your network the box is at 192.168.1.20.", "",
    ].joined(separator: "\r\n")

    /// All of the file is in use, and nothing of it is left on the volume.
    private static func expectTaken(_ stage: AdoptionStage, _ comment: Comment) async throws {
        let toml = try await stage.client.text(APIPath.configuration("export"))
        #expect(
            toml == """
                version = 1

                [box]
                name = "Porch"

                [relay.main]
                secret = "relay-main"

                [kas]
                url = "https://kas.example.net/kas"
                secret = "kas-token"

                [camera.front]
                name = "front"
                source = "rtsp://192.168.1.61/main"
                user = "viewer"

                [hook.phone]
                kind = "ntfy"
                secret = "hook-phone"
                token_secret = "bearer-phone"

                """, comment)
        #expect(try await stage.client.get(RelayDocument.self, APIPath.relays("main")).hasSecret, comment)
        #expect(try await stage.client.get(KeyAccessDocument.self, APIPath.keyAccess()).hasToken, comment)
        #expect(try await stage.client.get(CameraDocument.self, APIPath.cameras("front")).hasPassword, comment)
        let hook = try await stage.client.get(HookDocument.self, APIPath.hooks("phone"))
        #expect(hook.hasSecret && hook.hasToken, comment)
        #expect(
            stage.systemNames == [
                "etc/hostname", "etc/ssh/authorized_keys/admin", "etc/systemd/network/40-watchbox-ethernet.network",
                "etc/wpa_supplicant/wpa_supplicant-wlan0.conf",
            ], comment)
        #expect(stage.volumeNames == ["watchbox-result.txt"], comment)
    }

    @Test func `a whole file is taken in one go`() async throws {
        try await AdoptionStage.run { stage in
            try stage.write(Self.file)
            var steps: [String] = []
            let report = try await stage.adopt { steps.append("\($0)") }
            #expect(steps == Self.steps)
            #expect(report.outcome == .taken)
            #expect(report.status == 0)
            #expect(report.hostName == "porch")
            #expect(report.restart == ["systemd-networkd.service", "wpa_supplicant@wlan0.service", "ssh.service"])
            #expect(stage.text("WATCHBOX/watchbox-result.txt") == Self.result)
            try await Self.expectTaken(stage, "")
            // The objects are one change of the configuration.
            let history = try await stage.client.get(
                GenerationListDocument.self, APIPath.configuration("history"))
            #expect(history.generations.map(\.cause) == ["config import", "boot"])
        }
    }

    @Test(arguments: steps.indices)
    func `whichever step power is lost before, the next start ends well`(index: Int) async throws {
        struct Lost: Error {}
        try await AdoptionStage.run { stage in
            try stage.write(Self.file)
            var done = 0
            await #expect(throws: Lost.self) {
                try await stage.adopt { _ in
                    guard done < index else { throw Lost() }
                    done += 1
                }
            }
            // No result before the file is gone: it would be read as the end.
            #expect(!stage.volumeNames.contains("watchbox-result.txt"))
            let isWiped = stage.bytes("WATCHBOX/watchbox.toml").map { $0.first == 0 } ?? true
            #expect(isWiped == (index > Self.steps.firstIndex(of: "overwrite the file")!))
            let report = try await stage.adopt()
            #expect(report.outcome == .taken)
            try await Self.expectTaken(stage, "\(Self.steps[index])")
            let result = try #require(stage.text("WATCHBOX/watchbox-result.txt"))
            #expect(result.hasPrefix("WatchBox: all of watchbox.toml was taken.\r\n\r\nBox:            Porch"))
            // And once more there is nothing to do.
            #expect(try await stage.adopt().outcome == .nothing)
            #expect(stage.text("WATCHBOX/watchbox-result.txt") == result)
        }
    }

    @Test func `the same file again changes no object`() async throws {
        try await AdoptionStage.run { stage in
            try stage.write(Self.file)
            try await stage.adopt()
            try stage.write(Self.file)
            var steps: [String] = []
            let report = try await stage.adopt { steps.append("\($0)") }
            #expect(report.changes == [])
            #expect(steps == Self.steps.filter { $0 != "take the objects" })
            try await Self.expectTaken(stage, "")
        }
    }

    @Test func `nothing is changed when control refuses the objects`() async throws {
        try await AdoptionStage.run(configuration: "kas.url = \"https://kas.example.net/kas\"\n") { stage in
            try stage.write(Self.file)
            let report = try await stage.adopt()
            #expect(report.outcome == .failed)
            #expect(report.problem?.isUnchanged == true)
            #expect(report.status == ExitStatus.conflict.rawValue)
            #expect(report.problem?.why.contains("kas is defined in watchbox.toml:1") == true, "\(report)")
            #expect(report.problem?.why.contains("the box's own, in /etc/watchbox") == true)
            #expect(stage.systemNames == [])
            #expect(stage.text("WATCHBOX/watchbox.toml") == Self.file)
            #expect(try await stage.client.text(APIPath.configuration("export")).contains("relay") == false)
            #expect(stage.text("WATCHBOX/watchbox-result.txt")?.contains("NOT taken. Nothing was changed.") == true)
        }
    }

    @Test func `nothing is changed when control does not answer`() async throws {
        let stage = try AdoptionStage()
        try stage.write(Self.file)
        var adoption = try stage.adoption()
        adoption.patience = .zero
        let report = try await adoption.run(isDryRun: false)
        #expect(report.outcome == .failed)
        #expect(report.status == ExitStatus.daemonUnreachable.rawValue)
        #expect(stage.systemNames == [])
        #expect(stage.text("WATCHBOX/watchbox.toml") == Self.file)
    }

    /// Each try ends at another step, for another reason.
    @Test(arguments: [Console.ExitStatus.failed, .daemonUnreachable, .remoteUnreachable])
    func `what failed for a reason that may pass is tried again`(status: Console.ExitStatus) async throws {
        try await AdoptionStage.run { stage in
            try stage.write(Self.file)
            let failing = Mutex(["take the objects", "store camera.front.password", "store relay.main.secret_url"])
            let adoption = try stage.adoption { step in
                try failing.withLock { names in
                    guard "\(step)" == names.first else { return }
                    names.removeFirst()
                    throw CommandFailure(what: "\(step)", why: "busy", hint: "wait", status: status)
                }
            }
            var waited: [Duration] = []
            let report = try await adoption.run(isDryRun: false, pauses: Adoption.pauses) { pause, report in
                #expect(report.problem?.why == "busy")
                #expect(stage.text("WATCHBOX/watchbox.toml") == Self.file)
                // Read between two tries, it would be taken for the end.
                #expect(stage.volumeNames == ["watchbox.toml"])
                waited.append(pause)
            }
            #expect(waited == Adoption.pauses)
            #expect(report.outcome == .taken)
            #expect(stage.text("WATCHBOX/watchbox-result.txt") == Self.result)
            try await Self.expectTaken(stage, "")
        }
    }

    @Test func `what goes on failing is left for the next start`() async throws {
        let stage = try AdoptionStage()
        try stage.write(Self.file)
        var adoption = try stage.adoption()
        adoption.patience = .zero
        var tries = 0
        let report = try await adoption.run(isDryRun: false, pauses: [.zero, .zero]) { _, _ in tries += 1 }
        #expect(tries == 2)
        #expect(stage.text("WATCHBOX/watchbox-result.txt")?.contains("NOT taken. Nothing was changed.") == true)
        #expect(report.status == ExitStatus.daemonUnreachable.rawValue)
        #expect(stage.text("WATCHBOX/watchbox.toml") == Self.file)
    }

    @Test func `what an earlier try has written is not called unchanged`() async throws {
        let stage = try AdoptionStage()
        try stage.write("network.ethernet = {}\nadmin_keys = []\n")
        let records = "\(stage.directory)/records"
        try FileManager.default.createDirectory(atPath: records, withIntermediateDirectories: false)
        let record = AdoptionRecord(path: "\(records)/adopted", isRemovable: false)
        let adoption = try stage.adoption(record: record) { step in
            guard "\(step)" == "write etc/ssh/authorized_keys/admin" else { return }
            throw CommandFailure(what: "\(step)", why: "busy", hint: "wait")
        }
        let report = try await adoption.run(isDryRun: false, pauses: [.zero]) { _, _ in
            #expect(stage.systemNames == ["etc/systemd/network/40-watchbox-ethernet.network"])
            // The next try ends before it writes anything.
            try FileManager.default.removeItem(atPath: records)
        }
        #expect(report.problem?.why.contains("adopted") == true, "\(report)")
        #expect(report.problem?.isUnchanged == false)
        #expect(stage.text("WATCHBOX/watchbox-result.txt")?.contains("A part of it may be in use already.") == true)
    }

    /// What is wrong with the file, or with what the box has beside it, does not pass by waiting.
    @Test func `what has to be corrected is not tried again`() async throws {
        try await AdoptionStage.run(configuration: "kas.url = \"https://kas.example.net/kas\"\n") { stage in
            for text in [Self.file, "]", Self.file.replacing("url =", with: "xurl =")] {
                try stage.write(text)
                let report = try await stage.adoption().run(isDryRun: false, pauses: Adoption.pauses) { _, report in
                    Issue.record("tried again after \(report)")
                }
                #expect(report.status != 0)
            }
        }
    }

    @Test func `network and keys alone need no control`() async throws {
        let stage = try AdoptionStage()
        try stage.write("network.ethernet = {}\nadmin_keys = []\n")
        var adoption = try stage.adoption()
        adoption.patience = .zero
        let report = try await adoption.run(isDryRun: false)
        #expect(report.outcome == .taken)
        #expect(stage.volumeNames == ["watchbox-result.txt"])
        #expect(
            stage.systemNames == ["etc/ssh/authorized_keys/admin", "etc/systemd/network/40-watchbox-ethernet.network"])
    }

    @Test func `a system file that cannot be written leaves the file for the next start`() async throws {
        try await AdoptionStage.run { stage in
            try stage.write(Self.file)
            // A file where a directory has to be.
            try stage.write("", to: "root/etc/ssh")
            let report = try await stage.adopt()
            #expect(report.outcome == .failed)
            #expect(report.problem?.isUnchanged == false)
            #expect(stage.text("WATCHBOX/watchbox.toml") == Self.file)
            #expect(stage.text("WATCHBOX/watchbox-result.txt")?.contains("A part of it may be in use already.") == true)
            try FileManager.default.removeItem(atPath: "\(stage.root)/etc/ssh")
            #expect(try await stage.adopt().outcome == .taken)
            try await Self.expectTaken(stage, "")
        }
    }

    @Test func `what is incomplete is taken, and told`() async throws {
        try await AdoptionStage.run { stage in
            try stage.write("camera.front = { source = \"test:\" }\n")
            let report = try await stage.adopt()
            #expect(report.outcome == .taken)
            #expect(!report.notes.isEmpty)
            #expect(
                stage.text("WATCHBOX/watchbox-result.txt")?.contains("\r\nIncomplete:\r\nLine 1: camera.front") == true)
        }
    }

    @Test func `no secret of the file is in a result, an output, a log, or in clear on a disk`() async throws {
        try await AdoptionStage.run(configuration: "health = {}\n") { stage in
            var shown = ""
            func run(_ arguments: String...) throws {
                let process = Process()
                let pipe = Pipe()
                process.executableURL = URL(filePath: BuiltProgram.path("watchboxctl"))
                process.arguments = ["adopt", stage.volume, "--root", stage.root, "--socket", stage.socket] + arguments
                process.standardOutput = pipe
                process.standardError = pipe
                try process.run()
                let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                shown += "\(process.terminationStatus) " + String(decoding: output, as: UTF8.self)
                shown += stage.text("WATCHBOX/watchbox-result.txt") ?? ""
            }
            // Refused for its keys, for its values, and by control; tried; taken.
            for wrong in ["token =", "secret_url =", "password =", "url ="] {
                try stage.write(Self.file.replacing(wrong, with: "x\(wrong)"))
                try run("--json")
                try stage.write(Self.file.replacing("\(wrong) \"", with: "\(wrong) \"\\n"))
                try run()
            }
            try stage.write("health.reboot = false\n" + Self.file)
            try run()
            #expect(shown.contains("health is defined in watchbox.toml:1"))
            try stage.write(Self.file)
            try run("--dry-run", "--json")
            try run("--json")
            #expect(shown.contains("\"outcome\":\"taken\""), "\(shown)")
            #expect(shown.contains("\"outcome\":\"checked\""))
            #expect(shown.contains("\"outcome\":\"refused\""))
            try await Self.expectTaken(stage, "")
            shown += stage.log.withLock { $0 }
            #expect(!shown.contains("s3cret"))
            for secret in Self.secrets {
                #expect(!shown.contains(secret))
                #expect(stage.places(of: secret, below: "root") == [])
                #expect(stage.places(of: secret, below: "WATCHBOX") == [])
                #expect(stage.places(of: secret, below: "state") == [])
                #expect(stage.places(of: secret, below: "run").allSatisfy { $0.hasPrefix("secret/") })
            }
            // That looking finds what there is: what the units are given, in memory.
            #expect(stage.places(of: "s3cret-token", below: "run") != [])
        }
    }
}
