import Foundation

/// PyPI's otdf-python, asked by a script of Tests/Rigs in a process of its own.
package enum OtdfPython {
    package struct Failure: Error {
        package let status: Int32
        /// What it wrote to standard error.
        package let message: String
    }

    /// A Python that has it; nil: there is none.
    package static var interpreter: String? {
        let path = ProcessInfo.processInfo.environment["WATCHBOX_OTDF_PYTHON"] ?? ""
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    /// Waits without holding a thread: a service under test may need it.
    ///
    /// - Parameters:
    ///   - script: below Tests/Rigs.
    ///   - request: JSON on its standard input; the reply is JSON on its standard output.
    package static func run<Reply: Decodable>(
        _ script: String, _ command: String, _ request: some Encodable
    ) async throws -> Reply {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        // Files, not pipes: neither side can block on the other.
        let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-otdf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["request", "reply", "errors"].map { directory.appending(path: $0) }
        try JSONEncoder().encode(request).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        guard let interpreter else { throw Failure(status: -1, message: "there is no Python that has otdf-python") }
        process.executableURL = URL(filePath: interpreter)
        process.arguments = [tests.appending(path: "Rigs/\(script)").path(), command]
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        process.terminationHandler = { continuation.yield($0.terminationStatus) }
        try process.run()
        var iterator = ends.makeAsyncIterator()
        let status = await iterator.next() ?? -1
        guard status == 0 else {
            throw Failure(status: status, message: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
        }
        return try JSONDecoder().decode(Reply.self, from: Data(contentsOf: files[1]))
    }
}
