internal import CameraModel
internal import ControlAPI
internal import Glibc
internal import Platform

/// Follows the file in which control lists for the monitor what there is to watch.
struct SettingsFile: Sendable {
    private struct Stamp: Equatable, Sendable {
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    enum News: Sendable {
        case settings(HealthServiceSettings)
        /// The settings before stay in force.
        case invalid(String)
    }

    private static let maxBytes = 128 << 10

    let path: String
    private var stamp: Stamp?

    init(path: String) {
        self.path = path
    }

    /// Nil while nothing changed. A file that is not there yet changes nothing.
    mutating func changes() -> News? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            stamp = nil
            return nil
        }
        let now = Stamp(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
        guard now != stamp else { return nil }
        stamp = now
        guard status.st_size <= Self.maxBytes else {
            return .invalid("\(path) is longer than \(Self.maxBytes) bytes")
        }
        do throws(SmallFile.Failure) {
            let bytes = try SmallFile.read(path, atMost: Self.maxBytes)
            do {
                return .settings(try JSONDocument.decode(HealthServiceSettings.self, from: bytes))
            } catch {
                return .invalid("\(path) is not understood: \(JSONDocument.reason(error))")
            }
        } catch {
            return .invalid("\(path) cannot be read: \(error)")
        }
    }
}
