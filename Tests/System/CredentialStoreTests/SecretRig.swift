import Foundation
import Systemd

@testable import CredentialStore

/// A box's directories, gone at the end. The runtime directory is in memory where this machine has such a place.
final class SecretRig {
    let root: String
    let state: String
    let runtime: String
    /// Whether `runtime` is on a tmpfs.
    let isInMemory: Bool

    init() throws {
        let files = FileManager.default
        root = files.temporaryDirectory.appending(path: "watchbox-test-\(UUID().uuidString)").path
        state = root + "/state"
        let memory = try? SecretDirectory.root("/dev/shm/watchbox-test-\(UUID().uuidString)")
        isInMemory = memory?.isInMemory == true
        runtime = isInMemory ? memory?.path ?? "" : root + "/run"
        if let memory, !isInMemory { rmdir(memory.path) }
        try files.createDirectory(
            atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
        try? FileManager.default.removeItem(atPath: runtime)
    }

    /// - Parameter socket: nil: this box's systemd does not encrypt.
    func store(socket: String? = nil, tpm: String = "/nonexistent") throws -> CredentialStore {
        try CredentialStore(
            stateDirectory: state, runtimeDirectory: runtime,
            encryption: CredentialEncryption(socketPath: socket ?? root + "/no-socket"), tpmDevice: tpm,
            requiresMemoryFileSystem: isInMemory)
    }

    func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    func write(_ bytes: [UInt8], _ path: String) throws {
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }

    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard let mode = attributes[.posixPermissions] as? Int else { throw CocoaError(.fileReadUnknown) }
        return mode
    }

    /// Every file and directory under both directories.
    func everything() -> [String] {
        [state, runtime].flatMap { directory in
            (FileManager.default.enumerator(atPath: directory)?.allObjects as? [String] ?? []).map {
                "\(directory)/\($0)"
            }
        }.sorted()
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Files under the state directory that contain a string, as it is or as Base64 or hexadecimal.
    func leaks(of secret: String) -> [String] {
        let bytes = Data(secret.utf8)
        // Base64 of a part that does not depend on what stands before it.
        let encoded = (0..<3).map { shift in
            String(bytes.dropFirst(shift).base64EncodedString().dropLast(6))
        }
        let needles = [secret, bytes.map { String(format: "%02x", $0) }.joined()] + encoded
        return everything().filter { $0.hasPrefix(state) }.filter { path in
            guard let content = try? Data(contentsOf: URL(filePath: path)) else { return false }
            return needles.contains { content.range(of: Data($0.utf8)) != nil }
        }
    }
}
