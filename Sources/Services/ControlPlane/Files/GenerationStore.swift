internal import BoxConfiguration
internal import ControlAPI
internal import ErrorCatalog
internal import Glibc
internal import Platform

/// The generations on disk: `NNNNNN.json`, the last ten; the highest number that reads is the current one. A file gets
/// its name only when it is complete.
struct GenerationStore: Sendable {
    static let kept = 10
    /// Of one file: the operator's files, what commands added and the result of both.
    private static let sizeLimit = 16 << 20
    private static let mode: UInt32 = 0o600

    let directory: String
    let transaction: FileTransaction

    private var restorePath: String { "\(directory)/restore.json" }
    private var pendingPath: String { "\(directory)/pending.json" }

    /// The one that is the configuration, and why a newer one is not, which cannot be read at this moment or for ever.
    func newest() -> (generation: Generation?, problem: CodedError?) {
        do throws(FileFailure) {
            _ = try Directory.names(in: directory)
        } catch {
            // Before the first there may be no directory.
            return error.number == ENOENT
                ? (nil, nil) : (nil, problem("the generations", error.reason, directory, runs: nil))
        }
        var unreadable: (number: Int, why: String)?
        for number in numbers().reversed() {
            do {
                guard let generation: Generation = try read(path(number)) else { continue }
                guard generation.number == number, Generation.schemas.contains(generation.schema) else {
                    throw CodedError(
                        .unreadableFile, "another generation",
                        why: "it says that it is \(generation.number) of \(generation.schema)")
                }
                return (
                    generation,
                    unreadable.map { problem("generation \($0.number)", $0.why, path($0.number), runs: number) }
                )
            } catch {
                unreadable = unreadable ?? (number, CodedError(of: error).why ?? "it is damaged")
            }
        }
        return (nil, unreadable.map { problem("generation \($0.number)", $0.why, path($0.number), runs: nil) })
    }

    private func problem(_ what: String, _ why: String, _ path: String, runs: Int?) -> CodedError {
        CodedError(
            .unreadableFile, "\(what) cannot be read, \(runs.map { "generation \($0) runs" } ?? "what runs goes on")",
            why: why,
            hint: "Make \(path) readable for the user of control, which looks for it; or "
                + (runs.map { "go on from what runs: watchboxctl config rollback \($0)" }
                    ?? "move it away, to begin again"))
    }

    /// Newest first. What does not read is skipped.
    func generations() -> [Generation] { numbers().reversed().compactMap(generation) }

    func generation(_ number: Int) -> Generation? {
        guard let generation: Generation = decode(path(number)), generation.number == number else { return nil }
        return generation
    }

    /// The highest number that a file has, also one that does not read: a number is never used twice.
    func highestNumber() -> Int { numbers().last ?? 0 }

    /// Writes it completely, under another name.
    func stage(_ generation: Generation) throws -> FileTransaction.Staged {
        try transaction.stage(
            JSONDocument.bytes(generation), as: path(generation.number), mode: Self.mode, isDurable: true)
    }

    /// One that could not be published completely.
    func remove(_ generation: Generation) throws { try transaction.remove(path(generation.number), isDurable: true) }

    /// Removes all but the last ten. What cannot be removed stays for the next time.
    func prune() {
        for number in numbers().dropLast(Self.kept) { try? transaction.remove(path(number)) }
    }

    // MARK: Of a time when the database was the configuration

    /// A generation that the database was being made to hold; nil when there is none.
    func unfinishedRestore() -> Generation? { decode(restorePath) }

    func removeRestore() throws {
        if SmallFile.exists(restorePath) { try transaction.remove(restorePath, isDurable: true) }
    }

    // MARK: A change that waits to be confirmed

    func pending() -> PendingConfirmation? { decode(pendingPath) }

    func setPending(_ pending: PendingConfirmation) throws {
        try transaction.write(JSONDocument.bytes(pending), to: pendingPath, mode: Self.mode, isDurable: true)
    }

    func removePending() throws { try transaction.remove(pendingPath, isDurable: true) }

    private func path(_ number: Int) -> String {
        let digits = "\(number)"
        return "\(directory)/\(String(repeating: "0", count: max(0, 6 - digits.utf8.count)))\(digits).json"
    }

    private func numbers() -> [Int] {
        SmallFile.names(in: directory).compactMap { name in
            guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)), number > 0 else { return nil }
            return number
        }.sorted()
    }

    private func decode<Document: Decodable>(_ path: String) -> Document? {
        try? read(path)
    }

    /// Nil when there is none.
    private func read<Document: Decodable>(_ path: String) throws -> Document? {
        guard let bytes = try SystemFiles.readIfPresent(path, limit: Self.sizeLimit) else { return nil }
        do {
            return try JSONDocument.decode(Document.self, from: bytes)
        } catch {
            throw CodedError(.unreadableFile, "\(path) is damaged", why: JSONDocument.reason(error))
        }
    }
}
