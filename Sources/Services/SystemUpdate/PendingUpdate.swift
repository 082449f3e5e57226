internal import ControlAPI
internal import Glibc
public import Platform

/// What the system that installs an update tells the one that comes: in a file on the part of the card that both see.
public struct PendingUpdate: Codable, Sendable, Equatable {
    /// Of the bundle: that of the system that is to come.
    public var version: String
    /// Where it was written to: A or B. An update may have the version of the system that installed it.
    public var system: String
    /// Version of the system that installed it.
    public var from: String
    /// The cameras that published then.
    public var cameras: [String]
    /// Seconds since 1970, by the box's clock.
    public var installed: Int64

    public init(version: String, system: String, from: String, cameras: [String], installed: Int64) {
        self.version = version
        self.system = system
        self.from = from
        self.cameras = cameras
        self.installed = installed
    }

    private static let maxBytes = 64 << 10
    private static let maxCameras = 256

    /// - Returns: nil when no update is under way. A file that cannot be read counts as none: what it would decide is only how
    ///   long the new system is watched.
    public static func read(_ path: String) -> PendingUpdate? {
        guard let bytes = try? SmallFile.read(path, atMost: maxBytes),
            let pending = try? JSONDocument.decode(Self.self, from: bytes), pending.cameras.count <= maxCameras
        else { return nil }
        return pending
    }

    public func write(_ path: String) throws(FileFailure) {
        try DurableFile.replace(path, with: JSONDocument.bytes(self))
        // Whoever may look at the box may see it: there is nothing in it but names.
        chmod(path, 0o644)
    }

    public static func remove(_ path: String) throws(FileFailure) {
        try DurableFile.remove(path)
    }
}
