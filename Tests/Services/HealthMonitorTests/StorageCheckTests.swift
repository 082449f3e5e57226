import ControlAPI
import ErrorCatalog
import Foundation
import Glibc
import Platform
import Testing

@testable import BoxReadings
@testable import HealthMonitor

struct StorageCheckTests {
    private func mount(_ own: String, _ fileSystem: String) throws -> Mount {
        try #require(Mount(line: "1 0 8:1 / / \(own) - ext4 /dev/mmcblk0p2 \(fileSystem)"))
    }

    @Test func `a file system that is read-only is a failure whatever the canary said`() throws {
        let finding = StorageChecks.readOnly(.init(data: try mount("rw", "ro")), canary: CanaryReading())
        #expect(finding.state == .fail)
        #expect(finding.code == .readOnly)
    }

    @Test func `a mount that the sandbox made read-only is not`() throws {
        #expect(StorageChecks.readOnly(.init(data: try mount("ro", "rw")), canary: CanaryReading()).state == .ok)
    }

    @Test(arguments: [(EROFS, ErrorCode.readOnly), (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EIO, .writeFailed)])
    func `a canary that cannot be written says why`(number: Int32, code: ErrorCode) {
        let finding = StorageChecks.readOnly(MountReading(), canary: .init(failure: number, call: "fsync"))
        #expect(finding.state == .fail)
        #expect(finding.code == code)
        #expect(finding.evidence.contains("fsync"))
    }

    @Test func `without a canary nothing is known`() throws {
        #expect(StorageChecks.readOnly(.init(data: try mount("rw", "rw")), canary: nil).state == .unknown)
    }

    @Test func `blocks and inodes both fill a disk`() {
        func state(_ blocks: Double, _ inodes: Double?) -> HealthState {
            StorageChecks.disk(
                .init(sizeBytes: 100, freeBytes: 1, blocksUsed: blocks, inodesUsed: inodes),
                limits: HealthThresholds.diskUsed, was: nil
            ).state
        }
        #expect(state(0.5, nil) == .ok)
        #expect(state(0.91, 0.1) == .warn)
        #expect(state(0.5, 0.98) == .fail)
        #expect(StorageChecks.disk(nil, limits: HealthThresholds.diskUsed, was: nil).state == .unknown)
    }

    @Test func `only a root that became read-only after an error while the box ran is a fault`() throws {
        var watch = RootWatch()
        func took(_ mount: Mount?, errors: Int64? = nil) -> String {
            switch watch.took(MountReading(root: mount, rootErrors: errors)) {
            case .fine: "fine"
            case .closed: "closed"
            case .failed: "failed"
            }
        }
        #expect(took(nil) == "fine")
        // Mounted so from the start, as system images are.
        #expect(took(try mount("ro", "ro"), errors: 2) == "fine")
        // As the kernel leaves it after an error: its own option still says rw.
        #expect(took(try mount("rw", "ro"), errors: 2) == "failed")

        watch = RootWatch()
        #expect(took(try mount("ro", "rw"), errors: 2) == "fine")
        // `mount -o remount,ro /`: old errors are not its own.
        #expect(took(try mount("ro", "ro,errors=remount-ro"), errors: 2) == "closed")
        #expect(took(try mount("ro", "ro,errors=remount-ro"), errors: 3) == "failed")

        // Newer kernels say so themselves, whatever the file system.
        watch = RootWatch()
        #expect(took(try mount("ro", "rw")) == "fine")
        #expect(took(try mount("ro", "ro")) == "closed")
        #expect(took(try mount("ro", "ro,emergency_ro")) == "failed")
    }

    @Test func `errors on record are those of the root's own device`() throws {
        let tree = try FixtureTree(healthyBoard)
        #expect(MountReading.read(tree.paths).rootErrors == nil)
        try tree.write("sys/fs/ext4/mmcblk0p3/errors_count", "9\n")
        try tree.write("sys/fs/ext4/mmcblk0p2/errors_count", "1\n")
        #expect(MountReading.read(tree.paths).rootErrors == 1)
        // A name of its own, which ext4 does not list.
        try tree.write(
            "proc/self/mountinfo", "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/mapper/system rw\n")
        #expect(MountReading.read(tree.paths).rootErrors == nil)
        try tree.write("sys/fs/ext4/dm-0/errors_count", "4\n")
        try tree.write("sys/dev/block/.keep", "")
        try FileManager.default.createSymbolicLink(
            atPath: "\(tree.root)/sys/dev/block/254:0", withDestinationPath: "../../devices/virtual/block/dm-0")
        #expect(MountReading.read(tree.paths).rootErrors == 4)
    }

    @Test func `what is wrong with the root is reported when all else is well`() {
        func state(_ root: RootWatch.Outcome) -> HealthState {
            StorageChecks.readOnly(MountReading(), canary: CanaryReading(), root: root).state
        }
        #expect(state(.fine) == .ok)
        #expect(state(.closed("x")) == .warn)
        #expect(state(.failed("x")) == .fail)
    }
}
