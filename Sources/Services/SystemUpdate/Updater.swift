internal import ControlAPI
internal import Platform

/// RAUC, which checks bundles and writes systems, asked by its command line.
public struct Updater: Sendable {
    public struct Failure: Error, Equatable, Sendable {
        public var why: String
        public var hint: String
    }

    /// What a bundle says of itself, after its signature was checked.
    public struct Bundle: Decodable, Sendable, Equatable {
        public var compatible: String
        public var version: String

        public init(compatible: String, version: String) {
            self.compatible = compatible
            self.version = version
        }
    }

    private let program: String

    /// - Parameter program: absolute, or to be looked for in PATH.
    public init(program: String = "rauc") {
        self.program = program
    }

    /// - Parameter place: a file, or an https:// address that is read in pieces.
    /// - Throws: for what is not a bundle, or not signed by whom this box trusts.
    public func bundle(_ place: String) async throws(Failure) -> Bundle {
        try await document(
            Bundle.self, ["info", "--output-format=json", "--", place], seconds: 120,
            hint: "take a bundle for this box, from whom the box trusts, and whole: what RAUC says stands above")
    }

    public func systems() async throws(Failure) -> SystemSlots {
        SystemSlots(
            try await document(
                SlotReport.self, ["status", "--detailed", "--output-format=json"], seconds: 60,
                hint: "journalctl -u rauc"))
    }

    /// Writes the system that does not run. What RAUC says of its progress goes to standard output.
    public func install(_ place: String) async throws(Failure) {
        try await run(
            ["install", "--", place], isShown: true, seconds: 6 * 3600,
            hint: "what RAUC says stands above; the running system is as it was")
    }

    /// The one that runs is kept.
    public func markGood() async throws(Failure) {
        try await run(["status", "mark-good", "booted"], seconds: 60, hint: "journalctl -u rauc")
    }

    /// At the next start the other one.
    public func activateOther() async throws(Failure) {
        try await run(["status", "mark-active", "other"], seconds: 60, hint: "journalctl -u rauc")
    }

    /// At the next start this one again.
    public func activateRunning() async throws(Failure) {
        try await run(["status", "mark-active", "booted"], seconds: 60, hint: "journalctl -u rauc")
    }

    private func document<Value: Decodable>(
        _ type: Value.Type, _ arguments: [String], seconds: Int, hint: String
    ) async throws(Failure) -> Value {
        let output = try await run(arguments, seconds: seconds, hint: hint)
        do {
            return try JSONDocument.decode(type, from: output)
        } catch {
            throw Failure(why: "rauc gave no document (\(JSONDocument.reason(error)))", hint: "rauc status")
        }
    }

    @discardableResult
    private func run(
        _ arguments: [String], isShown: Bool = false, seconds: Int, hint: String
    ) async throws(Failure) -> [UInt8] {
        let result: Result<ToolRun.Outcome, ToolRun.Failure>? = await OwnThread.value { [program] in
            do throws(ToolRun.Failure) {
                return .success(try ToolRun.run(program, arguments, isShown: isShown, seconds: seconds))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let outcome) where outcome.status == 0: return outcome.output
        case .success(let outcome):
            throw Failure(why: "rauc \(arguments[0]) ended with \(outcome.status)", hint: hint)
        case .failure(.notStarted(let number)) where number == ToolRun.noSuchProgram:
            throw Failure(
                why: "there is no RAUC on this machine: it was not flashed",
                hint: "apt install a newer package instead: docs/guide/box.md")
        case .failure(let failure): throw Failure(why: "rauc: \(failure)", hint: hint)
        case nil: throw Failure(why: "no thread can be made", hint: "watchboxctl health")
        }
    }
}
