import Console
import Foundation
import Glibc
import Settings
import Testing

@testable import BoxCommands

/// A volume that anybody may have prepared.
struct AdoptionVolumeTests {
    private static func run(_ prepare: (AdoptionStage) throws -> Void) async throws -> (AdoptionStage, AdoptionReport) {
        let stage = try AdoptionStage()
        try prepare(stage)
        // Nothing here gets as far as control, which is not there.
        return (stage, try await stage.adopt())
    }

    @Test func `a directory that is missing, or is a link, is none`() throws {
        let stage = try AdoptionStage()
        try FileManager.default.createSymbolicLink(
            atPath: "\(stage.directory)/link", withDestinationPath: stage.volume)
        try stage.write("", to: "file")
        for path in [
            "\(stage.directory)/none", "\(stage.directory)/link", "\(stage.directory)/link//",
            "\(stage.directory)/file", "",
        ] {
            let error = #expect(throws: CommandFailure.self) { _ = try AdoptionVolume(path) }
            #expect(error?.status == .notFound, "\(path)")
        }
        #expect(throws: Never.self) { _ = try AdoptionVolume(stage.volume + "/") }
    }

    @Test func `without a file there is nothing to do, and no result`() async throws {
        let (stage, report) = try await Self.run { _ in }
        #expect(report.outcome == .nothing)
        #expect(report.status == ExitStatus.notFound.rawValue)
        #expect(stage.volumeNames == [])
    }

    @Test func `a file with Windows' hidden ending is told its name`() async throws {
        let (stage, report) = try await Self.run { try $0.write("name = \"a\"", to: "WATCHBOX/watchbox.toml.txt") }
        #expect(report.outcome == .refused)
        #expect(stage.text("WATCHBOX/watchbox-result.txt")?.contains("Rename it to watchbox.toml") == true)
        #expect(stage.volumeNames == ["watchbox-result.txt", "watchbox.toml.txt"])
    }

    @Test(arguments: ["link", "fifo", "directory", "socket"])
    func `what is not a file is neither followed nor waited for`(kind: String) async throws {
        let secret = "name = \"somebody else's\""
        let (stage, report) = try await Self.run { stage in
            let path = "\(stage.volume)/watchbox.toml"
            switch kind {
            case "link":
                try stage.write(secret, to: "other.toml")
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: "\(stage.directory)/other.toml")
            case "fifo": #expect(mkfifo(path, 0o600) == 0)
            case "socket": #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
            default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
        #expect(report.outcome == .refused)
        #expect(report.issues.map(\.reason) == ["is not a file"])
        #expect(stage.volumeNames == ["watchbox-result.txt", "watchbox.toml"])
        #expect(stage.systemNames == [])
        if kind == "link" { #expect(stage.text("other.toml") == secret) }
    }

    @Test func `a result that is a link is replaced, and what it points to stays`() async throws {
        let (stage, _) = try await Self.run { stage in
            try stage.write("nonsense")
            try stage.write("mine", to: "other")
            for name in ["watchbox-result.txt", "watchbox-result.new"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(stage.volume)/\(name)", withDestinationPath: "\(stage.directory)/other")
            }
        }
        #expect(stage.text("other") == "mine")
        #expect(stage.text("WATCHBOX/watchbox-result.txt")?.contains("NOT taken") == true)
        #expect(stage.volumeNames == ["watchbox-result.txt", "watchbox.toml"])
    }

    @Test func `ten megabytes are not read`() async throws {
        let (stage, report) = try await Self.run { stage in
            try stage.write(String(repeating: "name = \"a\"\n", count: 1 << 20))
        }
        #expect(report.issues.map(\.reason) == ["is longer than 64 KiB"])
        #expect(stage.bytes("WATCHBOX/watchbox.toml")?.count == 11 << 20)
    }

    @Test func `each refusal leaves the file, and says its lines so that every editor shows them`() async throws {
        let text =
            "name = \"Porch\"\r\nnetwork.wifi = { ssid = \"x\", pasword = \"s3cret-wifi\", country = \"DE\" }\r\n"
        let (stage, report) = try await Self.run { try $0.write(text) }
        #expect(report.outcome == .refused)
        #expect(report.status == ExitStatus.invalidConfiguration.rawValue)
        #expect(stage.text("WATCHBOX/watchbox.toml") == text)
        #expect(stage.systemNames == [])
        #expect(
            stage.text("WATCHBOX/watchbox-result.txt")
                == [
                    "WatchBox: watchbox.toml was NOT taken. Nothing was changed.", "",
                    "Line 2: network.wifi.password is missing. "
                        + "Write wifi = { ssid = \"…\", password = \"…\", country = \"DE\" }. (WB-1004)",
                    "Line 2: network.wifi.pasword is not known, did you mean `password`? Write `password`. (WB-1003)",
                    "",
                    "Next: correct these in watchbox.toml, save it, and start the box with this drive again.", "",
                ].joined(separator: "\r\n"))
    }

    @Test func `what cannot be wiped is not read`() throws {
        for number in [EROFS, EACCES, EPERM] {
            let failure = AdoptionVolume.unreadable(number, "/boot/WATCHBOX/watchbox.toml")
            #expect(failure.status == .notPermitted)
            #expect(failure.hint.contains("write protection"))
        }
        #expect(AdoptionVolume.unreadable(EIO, "x").status == .failed)
    }

    @Test func `a file that may only be read is refused`() throws {
        let stage = try AdoptionStage()
        try stage.write("name = \"a\"")
        chmod(stage.volume, 0o755)
        chmod("\(stage.volume)/watchbox.toml", 0o444)
        let volume = try AdoptionVolume(stage.volume)
        let error = #expect(throws: CommandFailure.self) { try Self.asNobody { try volume.read() } }
        #expect(error?.status == .notPermitted)
    }

    /// Root may write every file; the file system takes this one thread for somebody else.
    private static func asNobody<Result>(_ body: () throws -> Result) throws -> Result {
        typealias SetUser = @convention(c) (uid_t) -> CInt
        let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
        let user = setUser(65534)
        defer { _ = setUser(uid_t(user)) }
        return try body()
    }

    @Test func `every byte is overwritten before the name goes`() throws {
        let stage = try AdoptionStage()
        let text = String(repeating: "secret ", count: 2000)
        try stage.write(text)
        // Another name for the same bytes shows what becomes of them.
        #expect(link("\(stage.volume)/watchbox.toml", "\(stage.directory)/same") == 0)
        let volume = try AdoptionVolume(stage.volume)
        #expect(try volume.read() == .bytes(Array(text.utf8)))
        try volume.overwrite()
        #expect(stage.bytes("same") == Data(repeating: 0, count: text.utf8.count))
        #expect(stage.volumeNames == ["watchbox.toml"])
        try volume.remove()
        #expect(stage.volumeNames == [])
    }

    @Test func `zeros without a result that waits are damage`() async throws {
        let (stage, report) = try await Self.run { try $0.write("\0\0\0\0") }
        #expect(report.outcome == .refused)
        #expect(report.issues.map(\.reason) == ["holds zeros instead of text"])
        #expect(stage.bytes("WATCHBOX/watchbox.toml")?.count == 4)
    }

    @Test func `zeros in a part of the file are an end that was interrupted`() async throws {
        let (stage, report) = try await Self.run { stage in
            try stage.write("\0\0\0\0 = \"s3cret\"")
            try stage.write("all well", to: "WATCHBOX/watchbox-result.new")
        }
        #expect(report.outcome == .taken)
        #expect(stage.volumeNames == ["watchbox-result.txt"])
        #expect(stage.text("WATCHBOX/watchbox-result.txt") == "all well")
    }

    @Test func `a refusal that was interrupted is not taken for the end of an adoption`() async throws {
        let (stage, report) = try await Self.run { stage in
            try stage.write("NOT taken", to: "WATCHBOX/watchbox-result.tmp")
        }
        #expect(report.outcome == .nothing)
        let (_, zeros) = try await Self.run { stage in
            try stage.write("\0\0\0\0")
            try stage.write("NOT taken", to: "WATCHBOX/watchbox-result.tmp")
        }
        #expect(zeros.outcome == .refused)
        #expect(stage.volumeNames == ["watchbox-result.tmp"])
    }

    @Test func `where no result can be left, the secrets are wiped all the same`() async throws {
        let stage = try AdoptionStage()
        try stage.write("network.ethernet = {}")
        try FileManager.default.createDirectory(
            atPath: "\(stage.volume)/watchbox-result.new", withIntermediateDirectories: false)
        let failure = await #expect(throws: CommandFailure.self) { try await stage.adopt() }
        #expect(failure?.status == .degraded)
        #expect(failure?.what.contains("wiped") == true)
        #expect(stage.volumeNames == ["watchbox-result.new"])
    }

    @Test func `a dry run writes nothing, whatever it finds`() async throws {
        for text in ["nonsense", "\0\0", "name = 3"] {
            let stage = try AdoptionStage()
            try stage.write(text)
            let report = try await stage.adopt(isDryRun: true)
            #expect(report.outcome == .refused)
            #expect(stage.volumeNames == ["watchbox.toml"])
            #expect(stage.text("WATCHBOX/watchbox.toml") == text)
        }
    }
}
