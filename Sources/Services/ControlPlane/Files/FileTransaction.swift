internal import ErrorCatalog
internal import Platform

/// Everything that a change does to the outside goes through here, one step after the other, so that a test can end
/// the process between any two of them, or let any one of them fail.
struct FileTransaction: Sendable {
    /// Called before each step with its name; what it throws ends the change as a failure of that step would.
    var willDo: @Sendable (_ step: String) throws -> Void = { _ in }

    /// A file that is written completely under a name of its own, and takes its place by a rename.
    struct Staged: Sendable, Equatable {
        var path: String
        var isDurable: Bool

        var stagedPath: String { path + ".new" }
    }

    func stage(_ bytes: [UInt8], as path: String, mode: UInt32, isDurable: Bool) throws -> Staged {
        try willDo("write \(path).new")
        let staged = Staged(path: path, isDurable: isDurable)
        do {
            // A leftover of an attempt that was killed.
            try DurableFile.remove(staged.stagedPath, isFlushed: false)
            try NewFile.write(bytes, to: staged.stagedPath, mode: mode, isFlushed: isDurable)
        } catch {
            throw error.coded
        }
        return staged
    }

    /// Both at once, for a file that stands for itself.
    func write(_ bytes: [UInt8], to path: String, mode: UInt32, isDurable: Bool) throws {
        let staged = try stage(bytes, as: path, mode: mode, isDurable: isDurable)
        do {
            try publish(staged)
        } catch {
            discard([staged])
            throw error
        }
    }

    func publish(_ staged: Staged) throws {
        try move(staged.stagedPath, to: staged.path, isDurable: staged.isDurable)
    }

    func move(_ from: String, to path: String, isDurable: Bool) throws {
        try willDo("rename to \(path)")
        do {
            try DurableFile.move(from, to: path, isFlushed: isDurable)
        } catch {
            throw error.coded
        }
    }

    func remove(_ path: String, isDurable: Bool = false) throws {
        try willDo("remove \(path)")
        do {
            try DurableFile.remove(path, isFlushed: isDurable)
        } catch {
            throw error.coded
        }
    }

    /// For what was staged and is no longer needed; what stays behind is removed by the next start.
    func discard(_ staged: [Staged]) {
        for file in staged { try? remove(file.stagedPath) }
    }

    /// Leftovers of attempts that were killed.
    func removeStaged(in directory: String) {
        for name in SmallFile.names(in: directory) where name.hasSuffix(".new") {
            try? remove("\(directory)/\(name)")
        }
    }
}
