import Foundation
import Glibc
import TestSupport

@testable import Platform

/// Everything that happened to the files of a directory, in order, with their data; and what a power cut may leave of it.
///
/// A snapshot before each step of the file layer shows what the step before did. Used by one thread at a time.
final class CrashLog: @unchecked Sendable {
    enum Change: Equatable {
        case create(String, file: UInt64)
        case remove(String)
        case rename(String, to: String)
        case write(file: UInt64, at: Int, [UInt8])
        case resize(file: UInt64, to: Int)
        case flush(file: UInt64)
        case flushDirectory
        /// So many segments are safe from here on.
        case promise(Int)
    }

    private(set) var changes: [Change] = []
    /// With which errno the step of that number fails, counted from 0.
    var faults: [Int: CInt] = [:]
    private(set) var steps = 0

    private struct Found {
        var file: UInt64
        var bytes: [UInt8]
    }

    private let directory: String
    /// What was there before, and is on the disk.
    private var initial: [String: Found] = [:]
    private var known: [String: Found] = [:]
    private var pending: (step: FileSteps.Step, file: UInt64?)?

    init(_ directory: String) {
        self.directory = directory
    }

    /// Once.
    ///
    /// - Parameter body: what is written down.
    func record<R>(_ body: () throws -> R) rethrows -> R {
        initial = snapshot()
        known = initial
        defer { settle() }
        return try FileSteps.$witness.withValue(
            { [self] step, path in self.witnessed(step, path) }, operation: body)
    }

    func promise(_ count: Int) {
        settle()
        changes.append(.promise(count))
    }

    private func witnessed(_ step: FileSteps.Step, _ path: String) -> CInt? {
        settle()
        defer { steps += 1 }
        if let number = faults[steps] { return number }
        pending = (step, known[String(path.split(separator: "/").last ?? "")]?.file)
        return nil
    }

    /// Writes down what the last step did.
    private func settle() {
        let now = snapshot()
        let names = Dictionary(uniqueKeysWithValues: now.map { ($0.value.file, $0.key) })
        for (name, found) in known where now[name]?.file != found.file {
            if let new = names[found.file], known[new]?.file != found.file {
                changes.append(.rename(name, to: new))
            } else {
                changes.append(.remove(name))
            }
        }
        let before = Dictionary(uniqueKeysWithValues: known.map { ($0.value.file, $0.value.bytes) })
        for (name, found) in now {
            if before[found.file] == nil { changes.append(.create(name, file: found.file)) }
            difference(found.file, before[found.file] ?? [], found.bytes)
        }
        known = now
        switch pending {
        case (.fsync, let file?)?: changes.append(.flush(file: file))
        case (.fsyncDirectory, _)?: changes.append(.flushDirectory)
        default: break
        }
        pending = nil
    }

    private func difference(_ file: UInt64, _ old: [UInt8], _ new: [UInt8]) {
        if new.count < old.count { changes.append(.resize(file: file, to: new.count)) }
        let shared = min(old.count, new.count)
        let first = (0..<shared).first { old[$0] != new[$0] } ?? shared
        let last = new.count > old.count ? new.count : ((0..<shared).last { old[$0] != new[$0] } ?? -1) + 1
        if first < last { changes.append(.write(file: file, at: first, Array(new[first..<last]))) }
    }

    private func snapshot() -> [String: Found] {
        var found: [String: Found] = [:]
        for name in SmallFile.names(in: directory) {
            var status = stat()
            guard stat("\(directory)/\(name)", &status) == 0,
                let bytes = try? SmallFile.whole("\(directory)/\(name)", limit: 1 << 24)
            else { continue }
            found[name] = Found(file: UInt64(status.st_ino), bytes: bytes)
        }
        return found
    }
}

extension CrashLog {
    /// A disk after a power cut: names and contents.
    typealias State = [String: [UInt8]]

    /// What became of one change that was not flushed.
    private enum Fate {
        case done, lost
        /// Only the first bytes; where the file grew, zeros behind them or nothing.
        case torn(Int, zeros: Bool)
        /// All but these bytes: parts of one write reach the disk in any order.
        case holed(Range<Int>)
    }

    /// The states that a power cut may leave after the first `count` changes: what was flushed is there; of the rest all, nothing,
    /// all but one, each torn, and `samples` of any mixture; with any of the names that were not flushed.
    ///
    /// - Returns: also how many segments were safe then.
    func states(after count: Int, samples: Int, _ random: inout SeededGenerator) -> (states: Set<State>, promised: Int)
    {
        var flushed = Dictionary(uniqueKeysWithValues: initial.values.map { ($0.file, $0.bytes) })
        var names = initial.mapValues(\.file)
        var data: [Change] = []
        var naming: [Change] = []
        var promised = 0
        for change in changes.prefix(count) {
            switch change {
            case .create(_, let file):
                flushed[file] = []
                naming.append(change)
            case .remove, .rename: naming.append(change)
            case .write, .resize: data.append(change)
            case .flush(let file):
                for case let change in data where Self.file(of: change) == file {
                    Self.apply(change, .done, to: &flushed)
                }
                data.removeAll { Self.file(of: $0) == file }
            case .flushDirectory:
                for change in naming { Self.apply(change, to: &names) }
                naming = []
            case .promise(let count): promised = count
            }
        }
        var states: Set<State> = []
        for fates in Self.fates(of: data, samples: samples, &random) {
            var files = flushed
            for (change, fate) in zip(data, fates) { Self.apply(change, fate, to: &files) }
            for mask in 0..<(1 << naming.count) {
                var names = names
                for (index, change) in naming.enumerated() where mask >> index & 1 == 1 {
                    Self.apply(change, to: &names)
                }
                states.insert(names.mapValues { files[$0] ?? [] })
            }
        }
        return (states, promised)
    }

    private static func fates(of data: [Change], samples: Int, _ random: inout SeededGenerator) -> [[Fate]] {
        var all = [[Fate](repeating: .done, count: data.count), [Fate](repeating: .lost, count: data.count)]
        for index in data.indices {
            guard case .write(_, _, let bytes) = data[index] else { continue }
            var fates: [Fate] = [.lost, .torn(0, zeros: true)]
            for count in [1, bytes.count / 2, bytes.count - 1] where count < bytes.count {
                fates += [.torn(count, zeros: true), .torn(count, zeros: false)]
            }
            let third = bytes.count / 3
            if third > 0 { fates += [.holed(0..<third), .holed(third..<(2 * third))] }
            for fate in fates {
                var one = all[0]
                one[index] = fate
                all.append(one)
                // And nothing of what came after it.
                for later in data.indices where later > index { one[later] = .lost }
                all.append(one)
            }
        }
        for _ in 0..<(data.count > 1 ? samples : 0) {
            all.append(
                data.map { change in
                    guard case .write(_, _, let bytes) = change else {
                        return Bool.random(using: &random) ? .done : .lost
                    }
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: return .lost
                    case 2:
                        let begin = Int.random(in: 0..<bytes.count, using: &random)
                        return .holed(begin..<Int.random(in: begin..<bytes.count, using: &random))
                    case 1:
                        return .torn(
                            Int.random(in: 0..<bytes.count, using: &random), zeros: Bool.random(using: &random))
                    default: return .done
                    }
                })
        }
        return all
    }

    private static func file(of change: Change) -> UInt64? {
        switch change {
        case .write(let file, _, _), .resize(let file, _): file
        default: nil
        }
    }

    private static func apply(_ change: Change, _ fate: Fate, to files: inout [UInt64: [UInt8]]) {
        switch (change, fate) {
        case (_, .lost): break
        case (.resize(let file, let size), _): files[file, default: []].resize(to: size)
        case (.write(let file, let offset, let bytes), .done): files[file, default: []].overwrite(bytes, at: offset)
        case (.write(let file, let offset, let bytes), .torn(let count, let zeros)):
            if zeros { files[file, default: []].extend(to: offset + bytes.count) }
            files[file, default: []].overwrite(Array(bytes.prefix(count)), at: offset)
        case (.write(let file, let offset, let bytes), .holed(let hole)):
            files[file, default: []].overwrite(Array(bytes[..<hole.lowerBound]), at: offset)
            files[file, default: []].overwrite(Array(bytes[hole.upperBound...]), at: offset + hole.upperBound)
        default: break
        }
    }

    private static func apply(_ change: Change, to names: inout [String: UInt64]) {
        switch change {
        case .create(let name, let file): names[name] = file
        case .remove(let name): names[name] = nil
        case .rename(let name, let new):
            if let file = names.removeValue(forKey: name) { names[new] = file }
        default: break
        }
    }
}

extension [UInt8] {
    fileprivate mutating func extend(to size: Int) {
        if count < size { self += [UInt8](repeating: 0, count: size - count) }
    }

    fileprivate mutating func resize(to size: Int) {
        extend(to: size)
        removeLast(count - size)
    }

    fileprivate mutating func overwrite(_ bytes: [UInt8], at offset: Int) {
        if bytes.isEmpty { return }
        extend(to: offset + bytes.count)
        replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    }
}
