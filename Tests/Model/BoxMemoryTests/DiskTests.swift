import BoxMemory
import Foundation
import MemoryWriter
import TestSupport
import Testing

/// File systems that end or cannot be written, in a mount namespace of the writer's own.
@Suite(.ownThread) struct DiskTests {
    /// Needs root, or a kernel that gives users namespaces.
    private static let canMount: Bool = {
        let probe = try? WriterProcess.run(namespace + ["mount -t tmpfs -o size=64k none /mnt"])
        return probe?.status == 0
    }()

    private static let namespace =
        ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--map-root-user"]) + ["sh", "-ec"]

    /// The numbers that the writer acknowledged, and what it said then.
    private func words(_ output: String) -> (acknowledged: Int, error: String) {
        let lines = output.split(separator: "\n").map(String.init)
        return (lines.compactMap { Int($0) }.last ?? 0, lines.filter { Int($0) == nil }.joined(separator: "\n"))
    }

    @Test(.enabled(if: canMount, "no mount namespaces here"), arguments: [64, 160, 256, 400, 700])
    func `a full disk is named, and the memory stays as it was`(kibibytes: Int) throws {
        try withTemporaryDirectory { directory in
            let script = """
                mkdir \(directory)/small
                mount -t tmpfs -o size=\(kibibytes)k none \(directory)/small
                \(WriterProcess.program) \(directory)/small/state.db 1 \(Undisturbed.steps) || status=$?
                cp \(directory)/small/state.db* \(directory)/
                exit $status
                """
            let ran = try WriterProcess.run(Self.namespace + [script])
            let (acknowledged, error) = words(ran.output)
            #expect(ran.status == 1)
            #expect(error.contains("/small/state.db could not be written: the disk is full.\nNext: free some space"))
            // With the smaller ones, not even the tables could be made.
            #expect(kibibytes <= 160 || acknowledged > 0)
            let memory = try BoxMemory(path: directory + "/state.db")
            #expect(memory.setAside == nil)
            #expect(try MemoryHistory.state(of: memory) == Undisturbed.states[acknowledged])
        }
    }

    @Test(.enabled(if: canMount, "no mount namespaces here"))
    func `a read-only file system is named`() throws {
        try withTemporaryDirectory { directory in
            let script = """
                mkdir \(directory)/disk
                mount -t tmpfs none \(directory)/disk
                \(WriterProcess.program) \(directory)/disk/state.db 1 20 > \(directory)/log
                mount -o remount,ro \(directory)/disk
                \(WriterProcess.program) \(directory)/disk/state.db 21 22 || true
                \(WriterProcess.program) \(directory)/disk/other.db 1 2
                """
            let ran = try WriterProcess.run(Self.namespace + [script])
            #expect(ran.status == 1)
            for name in ["state.db", "other.db"] {
                #expect(
                    ran.output.contains(
                        "\(directory)/disk/\(name) could not be written: the file or its file system is read-only.\nNext: "
                    ),
                    "\(ran.output)")
            }
        }
    }

    /// What a broken device looks like: writing fails with another error than a full disk.
    @Test(arguments: [96, 200, 600])
    func `a write that fails is said, and the memory stays as it was`(kibibytes: Int) throws {
        try withTemporaryDirectory { directory in
            // In blocks of 512 bytes. The signal would end the process; a device sends none.
            let script = """
                trap '' XFSZ
                ulimit -f \(kibibytes * 2)
                exec \(WriterProcess.program) \(directory)/state.db 1 \(Undisturbed.steps)
                """
            let ran = try WriterProcess.run(["sh", "-ec", script])
            let (acknowledged, error) = words(ran.output)
            #expect(ran.status == 1)
            #expect(error.contains("\(directory)/state.db could not be written: SQLite: disk I/O error"))
            #expect(error.contains("Next: look at `dmesg`"))
            let memory = try BoxMemory(path: directory + "/state.db")
            #expect(try MemoryHistory.state(of: memory) == Undisturbed.states[acknowledged])
        }
    }
}
