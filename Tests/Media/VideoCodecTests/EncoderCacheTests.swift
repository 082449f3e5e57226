import Foundation
import Platform
import Testing

@testable import VideoCodec

@Suite struct EncoderCacheTests {
    private let boot = "0d2f2f4c-9d0e-4c59-a7a5-0f3b8f6d3f11"
    private let hardware = "h264_v4l2m2m"

    private func trial(_ preset: String = "veryfast", width: Int = 1280) -> EncoderTrial {
        EncoderTrial(
            encoder: "libx264", preset: preset, width: width, height: 720, rate: 30, bitsPerSecond: 2_000_000,
            seconds: 0.1)
    }

    private func result(works: Bool) -> EncoderProbeResult {
        EncoderProbeResult(encoder: hardware, works: works, reason: "because", packets: 30, fps: 90)
    }

    // MARK: Hangs

    @Test func `three hangs within ten minutes turn hardware off for an hour`() {
        var memory = EncoderCache(bootID: boot)
        memory.noteHang(of: hardware, at: 1000)
        memory.noteHang(of: hardware, at: 1300)
        #expect(memory.hardwareIsOff(at: 1301) == nil)
        memory.noteHang(of: hardware, at: 1600)
        #expect(memory.recentHangs(at: 1601) == 3)
        #expect(memory.hardwareIsOff(at: 1601) == 5200)
        #expect(memory.hardwareIsOff(at: 5199) == 5200)
        #expect(memory.hardwareIsOff(at: 5200) == nil)
    }

    @Test func `hangs that are far apart do not`() {
        var memory = EncoderCache(bootID: boot)
        for number in 0..<20 { memory.noteHang(of: hardware, at: 1000 + Double(number) * 301) }
        #expect(memory.hardwareIsOff(at: 1000 + 19 * 301 + 1) == nil)
    }

    @Test func `a hang is recent for an hour`() {
        var memory = EncoderCache(bootID: boot)
        memory.noteHang(of: hardware, at: 1000)
        memory.noteHang(of: hardware, at: 2000)
        #expect([2000, 4599, 4600, 5599, 5600].map { memory.recentHangs(at: $0) } == [2, 2, 1, 1, 0])
    }

    @Test func `after the hour one hang is enough, for an hour`() {
        var memory = EncoderCache(bootID: boot)
        for instant in [0.0, 1, 2] { memory.noteHang(of: hardware, at: instant) }
        #expect(memory.hardwareIsOff(at: 3603) == nil)
        memory.noteHang(of: hardware, at: 4000)
        #expect(memory.hardwareIsOff(at: 4001) == 7600)
        // An hour without a hang, and it counts as working again.
        memory.noteHang(of: hardware, at: 12_000)
        #expect(memory.hardwareIsOff(at: 12_001) == nil)
    }

    @Test func `hardware that was turned off is probed again later`() {
        var memory = EncoderCache(bootID: boot)
        memory.note(result(works: true), width: 640, height: 480, now: 0)
        memory.noteHang(of: hardware, at: 1)
        memory.noteHang(of: hardware, at: 2)
        #expect(memory.probe(of: hardware, width: 640, height: 480, now: 3) != nil)
        memory.noteHang(of: hardware, at: 3)
        #expect(memory.probe(of: hardware, width: 640, height: 480, now: 4) == nil)
    }

    // MARK: Faults

    @Test func `an error is ten minutes without this encoder, each further one twice as long, an hour at most`() {
        var memory = EncoderCache(bootID: boot)
        memory.note(result(works: true), width: 640, height: 480, now: 0)
        memory.noteFault(of: hardware, reason: "Input/output error", at: 100)
        #expect(memory.pause(of: hardware, at: 101)?.until == 700)
        #expect(memory.pause(of: hardware, at: 101)?.reason.contains("Input/output error") == true)
        #expect(memory.pause(of: "hevc_v4l2m2m", at: 101) == nil)
        #expect(memory.hardwareIsOff(at: 101) == nil, "that is of hangs")
        #expect(memory.probe(of: hardware, width: 640, height: 480, now: 101) == nil, "to be probed again")
        #expect(memory.pause(of: hardware, at: 700) == nil)
        var now = 700.0
        var pauses: [Double] = []
        for _ in 0..<40 {
            memory.noteFault(of: hardware, reason: "again", at: now)
            let until = memory.pause(of: hardware, at: now)?.until ?? now
            pauses.append(until - now)
            now = until
        }
        #expect(pauses.prefix(4) == [1200, 2400, 3600, 3600] && pauses.last == 3600)
        // An hour of work, and it is as new.
        memory.noteFault(of: hardware, reason: "later", at: now + 3600)
        #expect(memory.pause(of: hardware, at: now + 3600)?.until == now + 4200)
    }

    @Test func `of a hang and an error the longer pause counts`() {
        var memory = EncoderCache(bootID: boot)
        memory.noteFault(of: hardware, reason: "error", at: 0)
        for instant in [1.0, 2, 3] { memory.noteHang(of: hardware, at: instant) }
        #expect(memory.pause(of: hardware, at: 4)?.until == 3603)
        #expect(memory.pause(of: hardware, at: 4)?.reason.hasPrefix("hung again and again") == true)
    }

    @Test func `what an error says is kept within bounds, and survives a restart`() throws {
        try withFile { path in
            var memory = EncoderCache(bootID: boot)
            memory.noteFault(of: hardware, reason: String(repeating: "x", count: 100_000), at: 5)
            try memory.store(path)
            let loaded = EncoderCache.load(path, bootID: boot)
            #expect(loaded == memory && loaded.pause(of: hardware, at: 6)?.until == 605)
            #expect(loaded.pause(of: hardware, at: 6).map { $0.reason.count < 300 } == true)
            // As a version without faults wrote it.
            let old = #"{"bootID":"\#(boot)","probes":[],"hangs":[],"speeds":[]}"#
            try Data(old.utf8).write(to: URL(fileURLWithPath: path))
            #expect(EncoderCache.load(path, bootID: boot) == EncoderCache(bootID: boot))
        }
    }

    // MARK: Findings

    @Test func `a probe that worked holds for its size, one that failed for ten minutes`() {
        var memory = EncoderCache(bootID: boot)
        memory.note(result(works: true), width: 640, height: 480, now: 5)
        #expect(memory.probe(of: hardware, width: 640, height: 480, now: 1e6) == result(works: true))
        #expect(memory.probe(of: hardware, width: 640, height: 360, now: 6) == nil)
        #expect(memory.probe(of: "hevc_v4l2m2m", width: 640, height: 480, now: 6) == nil)
        memory.note(result(works: false), width: 640, height: 480, now: 100)
        #expect(memory.probe(of: hardware, width: 640, height: 480, now: 699) == result(works: false))
        #expect(memory.probe(of: hardware, width: 640, height: 480, now: 700) == nil)
    }

    @Test func `a measurement holds for its preset and size, for an hour`() {
        var memory = EncoderCache(bootID: boot)
        memory.note(41.5, of: trial(), now: 10)
        #expect(memory.capacity(of: trial(), needed: 30, now: 3609) == 41.5)
        #expect(memory.capacity(of: trial(), needed: 30, now: 3610) == nil)
        #expect(memory.capacity(of: trial("ultrafast"), needed: 30, now: 11) == nil)
        #expect(memory.capacity(of: trial(width: 640), needed: 30, now: 11) == nil)
        // Less than is needed: the machine may have been busy.
        #expect(memory.capacity(of: trial(), needed: 41.6, now: 609) == 41.5)
        #expect(memory.capacity(of: trial(), needed: 41.6, now: 610) == nil)
        memory.note(.infinity, of: trial(), now: 12)
        #expect(memory.capacity(of: trial(), needed: 30, now: 13) == nil)
    }

    @Test func `it does not grow without end`() throws {
        var memory = EncoderCache(bootID: boot)
        for number in 0..<200 {
            memory.note(result(works: true), width: number, height: 2, now: 0)
            memory.note(1, of: trial(width: number), now: 0)
            memory.noteHang(of: hardware, at: Double(number) * 1e4)
        }
        #expect(memory.probe(of: hardware, width: 167, height: 2, now: 0) == nil)
        #expect(memory.probe(of: hardware, width: 168, height: 2, now: 0) != nil)
        #expect(try JSONEncoder().encode(memory).count < EncoderCache.maxFileSize)
        for _ in 0..<200 { memory.noteHang(of: hardware, at: 2e6) }
        #expect(memory.recentHangs(at: 2e6) == EncoderCache.maxEntries)
    }

    // MARK: File

    private func withFile(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("encoder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.appendingPathComponent("encoder.json").path)
    }

    private func full() -> EncoderCache {
        var memory = EncoderCache(bootID: boot)
        memory.note(result(works: true), width: 640, height: 480, now: 1)
        memory.note(44, of: trial(), now: 2)
        for instant in [3.0, 4, 5] { memory.noteHang(of: hardware, at: instant) }
        return memory
    }

    @Test func `what is stored is loaded in the same boot, and nothing else is left there`() throws {
        try withFile { path in
            try full().store(path)
            try full().store(path)
            #expect(EncoderCache.load(path, bootID: boot) == full())
            #expect(EncoderCache.load(path, bootID: "another") == EncoderCache(bootID: "another"))
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["encoder.json"])
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `a file that is not there, not ours, damaged or too long says nothing`() throws {
        try withFile { path in
            let empty = EncoderCache(bootID: boot)
            #expect(EncoderCache.load(path, bootID: boot) == empty)
            try full().store(path)
            let good = try Data(contentsOf: URL(fileURLWithPath: path))
            var variants = [Data(), Data("{}".utf8), Data("[1,2]".utf8), Data(repeating: 0x20, count: 70_000)]
            variants += stride(from: 0, to: good.count - 1, by: 7).map { good.prefix($0) }
            variants.append(good + Data(repeating: 0x20, count: EncoderCache.maxFileSize))
            for text in [#""instant":-1e300"#, #""instant":1e300"#] {
                let changed = String(decoding: good, as: UTF8.self)
                    .replacingOccurrences(of: #""instant":3"#, with: text)
                variants.append(Data(changed.utf8))
            }
            for variant in variants {
                try variant.write(to: URL(fileURLWithPath: path))
                #expect(EncoderCache.load(path, bootID: boot) == empty)
            }
            try good.write(to: URL(fileURLWithPath: path))
            #expect(EncoderCache.load(path, bootID: boot) == full())
        }
    }

    @Test func `a path that cannot be written is an error that names it, and a directory there is not a file`() throws {
        try withFile { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            #expect(EncoderCache.load(path, bootID: boot) == EncoderCache(bootID: boot))
            let error = #expect(throws: FileFailure.self) { try full().store(path) }
            #expect(error?.description.contains(path) == true)
            let missing = #expect(throws: FileFailure.self) { try full().store("\(path)-none/encoder.json") }
            #expect(missing?.call == "open" && missing?.number == 2)
        }
    }

    @Test func `a hang is noted in the file beside what is there`() throws {
        try withFile { path in
            var memory = EncoderCache(bootID: EncoderCache.currentBootID)
            memory.note(44, of: trial(), now: EncoderCache.now)
            try memory.store(path)
            for number in 1...3 {
                let noted = try #require(EncoderCache.noteHang(of: hardware, in: path))
                #expect(noted.recentHangs(at: EncoderCache.now) == number)
                #expect(EncoderCache.load(path) == noted)
            }
            #expect(EncoderCache.load(path).hardwareIsOff(at: EncoderCache.now) != nil)
            #expect(EncoderCache.load(path).capacity(of: trial(), needed: 30, now: EncoderCache.now) == 44)
            #expect(EncoderCache.noteHang(of: hardware, in: "\(path)-none/encoder.json") == nil)
        }
    }

    @Test func `this boot has a name, and time since it`() {
        #expect(EncoderCache.currentBootID.count == 36)
        let one = EncoderCache.now
        #expect(one > 0 && EncoderCache.now >= one)
    }
}
