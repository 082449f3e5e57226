internal import Glibc
internal import NIOSSL

/// A server's certificate and key in use, and whether their files have changed since.
struct ServerCertificate {
    /// What distinguishes one state of a file from another without reading it.
    private struct Stamp: Equatable {
        var device: UInt64
        var node: UInt64
        var size: Int64
        var seconds: Int64
        var nanoseconds: Int64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            node = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = Int64(status.st_mtim.tv_sec)
            nanoseconds = Int64(status.st_mtim.tv_nsec)
        }
    }

    private let files: RTMPServerTLS
    private(set) var context: NIOSSLContext
    private var stamps: [Stamp?]

    init(_ files: RTMPServerTLS) throws(RTMPTransportError) {
        self.files = files
        // First the look, then the reading: what changes in between is read again.
        stamps = Self.stamps(files)
        context = try files.makeContext()
    }

    /// Nil when nothing changed. Connections keep the context that they began with. When the new files cannot be used
    /// (one of the two came and the other did not, yet), the old ones stay until the next change.
    mutating func reload() -> Result<Void, RTMPTransportError>? {
        let now = Self.stamps(files)
        guard now != stamps else { return nil }
        stamps = now
        do throws(RTMPTransportError) {
            context = try files.makeContext()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private static func stamps(_ files: RTMPServerTLS) -> [Stamp?] {
        [Stamp(files.certificateFile), Stamp(files.privateKeyFile)]
    }
}
