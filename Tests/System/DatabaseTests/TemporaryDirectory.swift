import Foundation

/// A directory that is gone after `body`.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    return try body(directory.path)
}

func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    guard let mode = attributes[.posixPermissions] as? Int else { throw CocoaError(.fileReadUnknown) }
    return mode
}

func files(_ directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
}
