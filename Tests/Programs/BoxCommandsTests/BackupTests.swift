import ArgumentParser
import BoxConfiguration
import BoxView
import Console
import ControlAPI
import ControlClient
import Cryptography
import Foundation
import Settings
import Synchronization
import Testing

@testable import BoxCommands
@testable import ControlPlane
@testable import CredentialStore
@testable import Systemd

/// From one box to another; the control of both is the real one.
@Suite(.timeLimit(.minutes(15)))
struct BackupTests {
    private static let passphrase = "correct horse battery"
    private static let secrets = [
        "camera.front.password": "s3cret-pässword ", "hook.phone.secret_url": "https://ntfy.sh/s3cret-topic",
        "hook.phone.token": "s3cret-bearer", "kas.token": "s3cret-token",
        "relay.main.secret_url": "rtmps://u:s3cret-relay@live.example.net/live",
    ]
    private static let configuration = """
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

        """

    /// What somebody has set up on a box, by its API.
    private static func setUp(_ stage: AdoptionStage) async throws {
        let _: ConfigurationDiff = try await stage.client.send(
            .post, APIPath.configuration("import"), body: ImportRequest(toml: configuration),
            as: ConfigurationDiff.self)
        for (key, value) in secrets.sorted(by: { $0.key < $1.key }) { try await set(key, value, stage) }
    }

    private static func set(_ key: String, _ value: String, _ stage: AdoptionStage) async throws {
        let place = try #require(ObjectSecret.Place(key: key))
        try await stage.client.send(.put, place.apiPath, body: SecretRequest(secret: value))
    }

    private static func stored(_ stage: AdoptionStage) throws -> StoredSecrets {
        try StoredSecrets(
            stateDirectory: "\(stage.directory)/state",
            encryption: CredentialEncryption(socketPath: "\(stage.directory)/credentials.sock"))
    }

    /// What the box's store gives for each secret of the configuration above.
    private static func opened(_ stage: AdoptionStage) async throws -> [String: String] {
        let toml = try await stage.client.text(APIPath.configuration("export"))
        var opened: [String: String] = [:]
        for named in try BoxBackup.settings(toml, what: "").namedSecrets {
            guard let bytes = try await stored(stage).read(name: named.name, scope: named.scope) else { continue }
            opened[named.place.key] = String(decoding: bytes, as: UTF8.self)
        }
        return opened
    }

    private static func backup(_ stage: AdoptionStage) async throws -> (backup: BoxBackup, missing: [BoxBackup.Missing])
    {
        try await BoxBackup.make(stage.client, secrets: try stored(stage), version: "1.2.3", now: 1_795_766_400)
    }

    private static func made() async throws -> BoxBackup {
        let made = Mutex<BoxBackup?>(nil)
        try await AdoptionStage.run { stage in
            try await Self.setUp(stage)
            let backup = try await Self.backup(stage).backup
            made.withLock { $0 = backup }
        }
        return try #require(made.withLock { $0 })
    }

    @Test func `the commands bring a box onto another board, with every secret`() async throws {
        try await AdoptionStage.run { old in
            try await Self.setUp(old)
            try old.write("\(Self.passphrase)\n", to: "passphrase")
            let file = "\(old.directory)/box.backup"
            let words = ["--passphrase-file", "\(old.directory)/passphrase", "--quiet"]
            try await BackupCommand.parse(
                [file, "--state", "\(old.directory)/state", "--socket", old.socket] + words
            ).run(old.client)
            #expect(old.mode("box.backup") == 0o600)
            let bytes = try #require(old.bytes("box.backup"))
            for secret in ["s3cret", "Porch", "relay"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
            try await AdoptionStage.run { new in
                let before = try await new.client.text(APIPath.configuration("export"))
                try await RestoreCommand.parse([file, "--dry-run", "--socket", new.socket] + words).run(new.client)
                #expect(try await new.client.text(APIPath.configuration("export")) == before)
                #expect(try await Self.opened(new) == [:])

                try await RestoreCommand.parse([file, "--socket", new.socket] + words).run(new.client)
                #expect(try await new.client.text(APIPath.configuration("export")) == Self.configuration)
                #expect(try await Self.opened(new) == Self.secrets)
                // Under the key of the new board.
                #expect(new.bytes("state/device.key") != old.bytes("state/device.key"))
                #expect(new.places(of: "s3cret", below: "state") == [])
                #expect(!new.log.withLock { $0.contains("s3cret") })

                // Once more it would replace what is there.
                let backup = try BoxBackup(sealed: Array(bytes), passphrase: Self.passphrase, what: "w")
                let again = try await BoxRestore(new.client).plan(backup)
                #expect(again.report.changes == [])
                #expect(again.report.replaced == Self.secrets.keys.sorted())
                try await RestoreCommand.parse([file, "--replace", "--socket", new.socket] + words).run(new.client)
                #expect(try await Self.opened(new) == Self.secrets)
            }
        }
    }

    @Test func `a file that is there stays, unless it is to be replaced`() async throws {
        try await AdoptionStage.run { stage in
            try stage.write("\(Self.passphrase)\n", to: "passphrase")
            try stage.write("mine", to: "box.backup")
            let words = [
                "\(stage.directory)/box.backup", "--state", "\(stage.directory)/state", "--socket", stage.socket,
                "--passphrase-file", "\(stage.directory)/passphrase", "--quiet",
            ]
            await #expect(throws: CommandFailure.self) { try await BackupCommand.parse(words).run(stage.client) }
            #expect(stage.text("box.backup") == "mine")
            try await BackupCommand.parse(words + ["--force"]).run(stage.client)
            #expect(stage.bytes("box.backup")?.starts(with: Data("WBBOXBAK".utf8)) == true)
            #expect(stage.mode("box.backup") == 0o600)
            try stage.write("too short", to: "passphrase")
            let error = await #expect(throws: CommandFailure.self) {
                try await BackupCommand.parse(words + ["--force"]).run(stage.client)
            }
            #expect(error?.why.contains("fewer than 10 bytes") == true)
            #expect(error?.status == .usage)
        }
    }

    /// As it stands in `BackupFile`: two that write at once.
    @Test func `nothing is overwritten that came meanwhile, and nothing is left of what cannot be written`() throws {
        let stage = try AdoptionStage()
        let path = "\(stage.directory)/box.backup"
        try BackupFile.write([1], to: path, hint: "h")
        #expect(throws: CommandFailure.self) { try BackupFile.write([2], to: path, hint: "h") }
        #expect(stage.bytes("box.backup") == Data([1]))
        try BackupFile.write([3], to: path, replaces: true, hint: "h")
        #expect(stage.bytes("box.backup") == Data([3]))
        // Where the temporary file would be, a directory stands.
        try FileManager.default.createDirectory(
            atPath: "\(stage.directory)/.other.new/x", withIntermediateDirectories: true)
        #expect(throws: CommandFailure.self) { try BackupFile.write([4], to: "\(stage.directory)/other", hint: "h") }
        #expect(stage.bytes("other") == nil)
    }

    @Test func `what a file of the new box sets stays, and is said`() async throws {
        let backup = try await Self.made()
        let file = """
            relay.main = { url = "rtmp://127.0.0.1:1935/live" }
            kas = { url = "https://kas.example.net/kas", secret = "kas-token" }

            """
        try await AdoptionStage.run(configuration: file) { stage in
            let restore = try await BoxRestore(stage.client)
            let plan = try await restore.plan(backup)
            #expect(
                plan.report.kept == [
                    .init(object: "relay.main", origin: "watchbox.toml:1", isSame: false),
                    .init(object: "kas", origin: "watchbox.toml:2", isSame: true),
                ])
            #expect(
                plan.report.left == [
                    .init(
                        key: "relay.main.secret_url",
                        why: "relay.main is set in watchbox.toml:1, which names none")
                ])
            #expect(plan.report.changes.map(\.object).sorted() == ["box", "camera.front", "hook.phone"])
            #expect(plan.report.replaced == [])
            #expect(!plan.report.isWhole)
            try await restore.perform(plan)
            let toml = try await stage.client.text(APIPath.configuration("export"))
            #expect(toml.contains("rtmp://127.0.0.1:1935/live") && toml.contains("camera.front"))
            var expected = Self.secrets
            expected["relay.main.secret_url"] = nil
            #expect(try await Self.opened(stage) == expected)
        }
    }

    @Test func `what another object needs may be in a file of the new box, and a file's own fault stays its own`()
        async throws
    {
        var backup = try await Self.made()
        backup.configuration = Self.configuration.replacing(
            "user = \"viewer\"", with: "user = \"viewer\"\nrelay = \"studio\"")
        let changed = backup
        let file = """
            relay.studio = { url = "rtmp://127.0.0.1:1935/live" }
            hook.phone = { url = "https://hook.example.net/", kind = "moon" }

            """
        try await AdoptionStage.run(configuration: file) { stage in
            let restore = try await BoxRestore(stage.client)
            let plan = try await restore.plan(changed)
            #expect(plan.report.kept == [.init(object: "hook.phone", origin: "watchbox.toml:2", isSame: false)])
            #expect(plan.report.left.map(\.key) == ["hook.phone.secret_url", "hook.phone.token"])
            #expect(plan.report.left.allSatisfy { $0.why.contains("corrected first") })
            try await restore.perform(plan)
            #expect(try await stage.client.text(APIPath.configuration("export")).contains("relay = \"studio\""))
            // And it is backed up as it is: what is refused is named.
            let again = try await Self.backup(stage)
            #expect(again.missing.map(\.key) == ["hook.phone"])
            #expect(again.backup.secrets["camera.front.password"] == Self.secrets["camera.front.password"])
        }
    }

    @Test func `a password is not shown to the camera of another address`() async throws {
        var backup = try await Self.made()
        backup.secrets["camera.front.password"] = nil
        let without = backup
        try await AdoptionStage.run { stage in
            let toml = "camera.front = { source = \"rtsp://192.168.1.99/other\", user = \"viewer\" }"
            let _: ConfigurationDiff = try await stage.client.send(
                .post, APIPath.configuration("import"), body: ImportRequest(toml: toml), as: ConfigurationDiff.self)
            try await Self.set("camera.front.password", "other", stage)
            let restore = try await BoxRestore(stage.client)
            let plan = try await restore.plan(without)
            #expect(plan.report.replaced.sorted() == ["camera.front", "camera.front.password"])
            try await restore.perform(plan)
            #expect(try await Self.opened(stage)["camera.front.password"] == nil)
        }
    }

    @Test func `a backup that lacks something takes no other one's place`() async throws {
        try await AdoptionStage.run { stage in
            try await Self.setUp(stage)
            try stage.write("\(Self.passphrase)\n", to: "passphrase")
            let words = [
                "\(stage.directory)/box.backup", "--passphrase-file", "\(stage.directory)/passphrase", "--quiet",
            ]
            let state = ["--state", "\(stage.directory)/state"]
            try await BackupCommand.parse(words + state).run(stage.client)
            let good = try #require(stage.bytes("box.backup"))
            // Another directory than control's has no secret, and the box says that it has some.
            let error = await #expect(throws: CommandFailure.self) {
                try await BackupCommand.parse(words + ["--force", "--state", "\(stage.directory)/run"]).run(
                    stage.client)
            }
            #expect(error?.what == "\(stage.directory)/box.backup was left as it was")
            #expect(stage.bytes("box.backup") == good)
            #expect(throws: CommandFailure.self) {
                try BackupFile.write([1], to: "\(stage.directory)/state", replaces: true, hint: "h")
            }
            try await BackupCommand.parse(words + state + ["--force"]).run(stage.client)
            #expect(stage.bytes("box.backup") != good)
        }
    }

    @Test func `what would be replaced is listed, and what the box has besides stays`() async throws {
        let backup = try await Self.made()
        try await AdoptionStage.run { stage in
            let toml = """
                kas.url = "https://kas.example.net/kas"
                camera.front = { source = "rtsp://192.168.1.99/other", user = "viewer" }
                camera.side = { source = "test:" }

                """
            let _: ConfigurationDiff = try await stage.client.send(
                .post, APIPath.configuration("import"), body: ImportRequest(toml: toml), as: ConfigurationDiff.self)
            try await Self.set("camera.front.password", "other", stage)
            try await Self.set("camera.side.password", "its own", stage)
            let restore = try await BoxRestore(stage.client)
            let plan = try await restore.plan(backup)
            #expect(plan.report.replaced.sorted() == ["camera.front", "camera.front.password", "kas"])
            #expect(plan.report.secrets.first { $0.key == "camera.front.password" }?.restarts == ["front"])
            #expect(plan.report.secrets.first { $0.key == "kas.token" }?.restarts == ["front", "side"])
            // Somebody changes the box meanwhile: what was shown is not what would happen.
            try await stage.client.send(.delete, APIPath.cameras("side"))
            let error = await #expect(throws: CommandFailure.self) { try await restore.perform(plan) }
            #expect(error?.status == .conflict)
            #expect(try await stage.client.text(APIPath.configuration("export")).contains("192.168.1.99"))
            let again = try await BoxRestore(stage.client)
            try await again.perform(try await again.plan(backup))
            #expect(try await stage.client.text(APIPath.configuration("export")) == Self.configuration)
            #expect(try await Self.opened(stage) == Self.secrets)
        }
    }

    @Test func `a secret that is refused is named, and it goes on from there`() async throws {
        let backup = try await Self.made()
        try await AdoptionStage.run { stage in
            let restore = try await BoxRestore(stage.client)
            var plan = try await restore.plan(backup)
            plan.secrets.insert(.init(.camera("nobody"), "x"), at: 2)
            let error = await #expect(throws: CommandFailure.self) { try await restore.perform(plan) }
            #expect(error?.what == "a part of the backup was restored")
            #expect(error?.why.contains("camera.nobody.password was not stored") == true)
            let again = try await BoxRestore(stage.client)
            try await again.perform(try await again.plan(backup))
            #expect(try await Self.opened(stage) == Self.secrets)
        }
    }

    @Test func `a secret that is not there, or does not open, is not lost silently`() async throws {
        try await AdoptionStage.run { stage in
            try await Self.setUp(stage)
            try await stage.client.send(.delete, APIPath.cameras("front", "password"))
            try Data([1, 2, 3]).write(to: URL(filePath: "\(stage.directory)/state/sealed/box/kas-token"))
            let (backup, missing) = try await Self.backup(stage)
            #expect(missing.map(\.key) == ["camera.front.password", "kas.token"])
            #expect(missing.map(\.isLost) == [false, true])
            #expect(
                backup.secrets.keys.sorted() == ["hook.phone.secret_url", "hook.phone.token", "relay.main.secret_url"])
            let report = try BackupReport(file: "f", backup, missing)
            #expect(!report.isWhole)
            #expect(report.lines(.init()).contains { $0.hasPrefix("Not in it: kas.token: the secret in /") })
        }
    }

    @Test func `a backup of the wrong kind, of another version, or with another passphrase changes nothing`() throws {
        let backup = try JSONDocument.decode(
            BoxBackup.self,
            from: Array(
                #"""
                {"schema":"watchbox.box-backup/1","name":"x","version":"1","time":1,"configuration":"","secrets":{},"signs":false}
                """#.utf8))
        let good = try backup.sealed(passphrase: Self.passphrase)
        func why(_ bytes: [UInt8], _ passphrase: String = Self.passphrase) -> String {
            do {
                _ = try BoxBackup(sealed: bytes, passphrase: passphrase, what: "w")
                return "it opened"
            } catch {
                return "\(error)"
            }
        }
        func archive(_ kind: PassphraseArchive.Kind, _ name: String, _ text: String) throws -> [UInt8] {
            try PassphraseArchive(files: [.init(name: name, bytes: Array(text.utf8))]).sealed(
                as: kind, passphrase: Array(Self.passphrase.utf8))
        }
        #expect(why(good) == "it opened")
        #expect(why(good, "correct horse batterx").contains("the passphrase is wrong, or the file was changed"))
        #expect(why(Array(good.prefix(40))).contains("not a backup of a box, or it was cut off"))
        #expect(why(Array(good.dropLast())).contains("changed or cut off"))
        var bad = good
        bad[bad.count - 20] ^= 4
        #expect(why(bad).contains("the file was changed"))
        bad = good
        bad[8] = 2
        #expect(why(bad).contains("the backup has version 2"))
        #expect(why(try archive(.keyAccessServer, "keys.json", "{}")).contains("kas restore"))
        #expect(why(try archive(.box, "box.json", #"{"schema":"watchbox.box-backup/2"}"#)).contains("box-backup/2"))
        #expect(why(try archive(.box, "box.json", "[")).contains("it holds no configuration"))
        #expect(why(try archive(.box, "box.json", #"{"schema":"watchbox.box-backup/1"}"#)).contains("cannot be used"))
        #expect(why(try archive(.box, "other", "{}")).contains("it holds no configuration"))
    }

    @Test(arguments: [
        ("box.password", "x", "does not know: box.password"), ("camera.side.password", "x", "camera.side.password"),
        ("kas.token", "", "empty"), ("kas.token", String(repeating: "x", count: 4097), "longer than 4096"),
    ])
    func `what the box would not take is refused before anything is changed`(
        key: String, value: String, says: String
    ) async throws {
        var backup = try await Self.made()
        backup.secrets[key] = value
        let changed = backup
        try await AdoptionStage.run { stage in
            let before = try await stage.client.text(APIPath.configuration("export"))
            let error = await #expect(throws: CommandFailure.self) {
                try await BoxRestore(stage.client).plan(changed)
            }
            #expect(error?.why.contains(says) == true, "\(String(describing: error))")
            #expect(error?.what == "nothing was restored")
            #expect(try await stage.client.text(APIPath.configuration("export")) == before)
        }
    }

    @Test func `what is not in a backup is said, with what to do about it`() throws {
        var backup = try JSONDocument.decode(
            BoxBackup.self,
            from: Array(
                #"{"schema":"s","name":"x","version":"1","time":1,"configuration":"","secrets":{},"signs":true}"#.utf8))
        backup.configuration = """
            kas_server = { enabled = true }
            relay_server = { enabled = true }
            kas = { url = "https://kas.example.net/kas", ca_file = "/etc/watchbox/ca.pem" }
            """
        let notes = backup.notes(try BoxBackup.settings(backup.configuration, what: "w"))
        for words in ["kas backup", "relay key", "device make", "/etc/watchbox/ca.pem"] {
            #expect(notes.count { $0.contains(words) } == 1, "\(words)")
        }
        backup.signs = false
        #expect(backup.notes(try BoxBackup.settings("", what: "w")) == [])
    }
}
