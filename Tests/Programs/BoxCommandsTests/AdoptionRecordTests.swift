import Console
import Foundation
import Testing

@testable import BoxCommands

/// Whose a box is, and which files it takes from a stick then.
struct AdoptionRecordTests {
    // Without objects: control is not there.
    private static let own = "network.ethernet = { address = \"192.0.2.1/24\" }\n"
    private static let foreign = "network.ethernet = { address = \"192.0.2.66/24\" }\n"
    private static let network = "root/etc/systemd/network/40-watchbox-ethernet.network"

    private static func record(_ stage: AdoptionStage, isRemovable: Bool = true) -> AdoptionRecord {
        AdoptionRecord(path: "\(stage.directory)/adopted", isRemovable: isRemovable)
    }

    private static func adopted() async throws -> AdoptionStage {
        let stage = try AdoptionStage()
        try stage.write(own)
        #expect(try await stage.adopt(record: record(stage)).outcome == .taken)
        return stage
    }

    @Test(arguments: [foreign, "\n" + foreign, "\0" + foreign, own + "\n", "", "]"])
    func `a box that is adopted takes nothing from a stick`(text: String) async throws {
        let stage = try await Self.adopted()
        let (settings, names) = (stage.text(Self.network), stage.systemNames)
        try stage.write(text)
        try? FileManager.default.removeItem(atPath: "\(stage.volume)/watchbox-result.txt")
        let report = try await stage.adopt(record: Self.record(stage))
        // What begins with zeros holds nothing that is read.
        #expect(report.outcome == (text.hasPrefix("\0") ? .refused : .notTaken))
        #expect(report.status != 0)
        #expect(stage.text("WATCHBOX/watchbox.toml") == text)
        #expect(stage.text(Self.network) == settings && stage.systemNames == names)
        #expect(text.hasPrefix("\0") || stage.volumeNames == ["watchbox.toml"])
    }

    @Test func `something of that name which is no file is left alone`() async throws {
        let stage = try await Self.adopted()
        try FileManager.default.createDirectory(
            atPath: "\(stage.volume)/watchbox.toml", withIntermediateDirectories: false)
        #expect(try await stage.adopt(record: Self.record(stage)).outcome == .notTaken)
    }

    @Test func `the card takes another file, and is written down with it`() async throws {
        let stage = try await Self.adopted()
        let before = stage.bytes("adopted")
        try stage.write(Self.foreign)
        #expect(try await stage.adopt(record: Self.record(stage, isRemovable: false)).outcome == .taken)
        #expect(stage.text(Self.network)?.contains("192.0.2.66") == true)
        #expect(stage.bytes("adopted") != before && stage.mode("adopted") == 0o600)
    }

    @Test func `a cut at any step is ended by the same file, and by no other`() async throws {
        struct Cut: Error {}
        var steps = 0
        while true {
            let stage = try AdoptionStage()
            try stage.write(Self.own)
            var left = steps
            do {
                try await stage.adopt(record: Self.record(stage)) { _ in
                    guard left > 0 else { throw Cut() }
                    left -= 1
                }
                break
            } catch is Cut {}
            let rest = stage.bytes("WATCHBOX/watchbox.toml")
            try stage.write(Self.foreign)
            #expect(try await stage.adopt(record: Self.record(stage)).outcome == .notTaken, "after \(steps) steps")
            if let rest {
                try rest.write(to: URL(filePath: "\(stage.volume)/watchbox.toml"))
            } else {
                try FileManager.default.removeItem(atPath: "\(stage.volume)/watchbox.toml")
            }
            #expect(try await stage.adopt(record: Self.record(stage)).outcome == .taken, "after \(steps) steps")
            #expect(stage.text(Self.network)?.contains("192.0.2.1/") == true, "after \(steps) steps")
            steps += 1
        }
        #expect(steps > 3)
    }

    @Test(arguments: [true, false])
    func `of what was half taken from a stick, the result says that the file stays as it is`(isRemovable: Bool)
        async throws
    {
        let stage = try AdoptionStage()
        try stage.write(Self.own)
        let report = try await stage.adopt(record: Self.record(stage, isRemovable: isRemovable)) { _ in
            throw CommandFailure(what: "a file was not written", why: "the card is full", hint: "start again")
        }
        #expect(report.outcome == .failed && report.problem?.isUnchanged == false)
        let result = try #require(stage.text("WATCHBOX/watchbox-result.txt"))
        #expect(result.contains("with the file as it is") == isRemovable)
    }

    @Test func `nobody's box stays nobody's when a file is refused, or only checked`() async throws {
        let stage = try AdoptionStage()
        try stage.write("nam = 1")
        #expect(try await stage.adopt(record: Self.record(stage)).outcome == .refused)
        try stage.write(Self.own)
        #expect(try await stage.adopt(isDryRun: true, record: Self.record(stage)).outcome == .checked)
        #expect(stage.bytes("adopted") == nil)
        try stage.write(Self.foreign)
        #expect(try await stage.adopt(record: Self.record(stage)).outcome == .taken)
    }

    @Test(arguments: ["", "\n", String(repeating: "0", count: 5000)])
    func `a record that says nothing says that the box is somebody's`(text: String) async throws {
        let stage = try AdoptionStage()
        try stage.write(text, to: "adopted")
        try stage.write(Self.own)
        #expect(try await stage.adopt(record: Self.record(stage)).outcome == .notTaken)
        #expect(stage.systemNames == [])
    }

    @Test func `without room for the record nothing is taken`() async throws {
        let stage = try AdoptionStage()
        try stage.write(Self.own)
        let record = AdoptionRecord(path: "\(stage.directory)/none/adopted", isRemovable: true)
        let report = try await stage.adopt(record: record)
        #expect(report.outcome == .failed && report.problem?.isUnchanged == true)
        #expect(stage.systemNames == [])
    }
}
