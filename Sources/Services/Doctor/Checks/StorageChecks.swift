internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog
internal import Glibc
internal import Platform

extension DoctorCheck {
    static let storageChecks: [DoctorCheck] = [
        DoctorCheck(reading: "storage", storage),
        DoctorCheck(reading: "database", database),
    ]

    private static func storage(_ environment: Environment) -> Finding {
        let directory = environment.state
        let reading: DiskReading
        do throws(DiskReading.Failure) { reading = try DiskReading.read(directory) } catch {
            return error.errno == EACCES
                ? .unknown("this user may not look into \(directory)", hint: "Run it with sudo")
                : .fail("\(directory) is not there", .writeFailed, hint: "Install the package, or run: make install")
        }
        if reading.isReadOnly { return .fail("the file system of \(directory) is read-only", .readOnly) }
        let limits = HealthThresholds.diskUsed
        let state = reading.verdict(limits: limits, was: nil)
        let inodes = reading.inodesUsed ?? 0
        let evidence =
            "\(reading.blocksUsed.percent) used, \(reading.freeBytes / 1_000_000) MB free"
            + (inodes >= limits.warn ? ", \(inodes.percent) of the inodes used" : "")
        if state == .fail { return .fail(evidence, .diskFull) }
        let canary: String
        if access(directory, W_OK) == 0 {
            if let failure = Canary.failure(in: directory) {
                let code: ErrorCode =
                    failure.errno == EROFS ? .readOnly : failure.errno == ENOSPC ? .diskFull : .writeFailed
                return .fail(
                    "a test file was not written: \(failure.call): \(SystemMessage.text(failure.errno))", code)
            }
            canary = ", a test file was written and flushed"
        } else {
            canary = ", not written to as this user"
        }
        return state == .warn ? .warn(evidence, .diskSpaceLow) : .ok(evidence + canary)
    }

    /// The header only, without SQLite: opening somebody else's database in WAL mode would leave files that the daemon
    /// may not write. The daemon looks at the content itself whenever it opens it.
    private static func database(_ environment: Environment) -> Finding {
        let path = "\(environment.state)/state.db"
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, atMost: 100)
        } catch .missing {
            return .unknown("there is none yet: the daemon has never run here")
        } catch {
            return .unknown("\(error)", hint: "Run it with sudo")
        }
        guard let status = SmallFile.status(path) else { return .unknown("it went away") }
        if let damage = damage(bytes, size: Int64(status.st_size)) {
            return .fail(
                damage, .databaseDamaged,
                hint: "Run: systemctl restart watchbox-control, which sets it aside and begins a new one")
        }
        let log = SmallFile.status("\(path)-wal").map { ", \(Int64($0.st_size) >> 10) KiB of log" } ?? ""
        return .ok("\(Int64(status.st_size) >> 10) KiB\(log), its header is sound")
    }

    /// SQLite's file format §1.3; nil when the header is sound.
    static func damage(_ header: [UInt8], size: Int64) -> String? {
        if size == 0 { return nil }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            return "state.db is not an SQLite database"
        }
        let stored = Int64(header[16]) << 8 | Int64(header[17])
        let page: Int64 = stored == 1 ? 65_536 : stored
        guard page >= 512, page & (page - 1) == 0 else { return "state.db has a page size of \(page)" }
        guard size % page == 0 else { return "state.db was cut: \(size) bytes are not a multiple of the page size" }
        return nil
    }
}

/// A file that has no name when it is written, so that nothing is left behind.
private enum Canary {
    static func failure(in directory: String) -> (call: String, errno: Int32)? {
        var name = Array("\(directory)/.doctor-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { return ("open", errno) }
        defer { close(descriptor) }
        unlink(name)
        let bytes = [UInt8](repeating: 0x57, count: 4096)
        let written = write(descriptor, bytes, bytes.count)
        guard written == bytes.count else { return ("write", written < 0 ? errno : ENOSPC) }
        return fsync(descriptor) == 0 ? nil : ("fsync", errno)
    }
}
