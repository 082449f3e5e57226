import Glibc
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(15)))
struct CredentialDirectoryTests {
    private final class Folder {
        let path: String
        init() throws {
            var template = Array("/tmp/watchbox-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        deinit {
            for name in ["a", "kas-key", "camera-front_password", "big", "empty", "exact", "link", "pipe"] {
                unlink("\(path)/\(name)")
            }
            rmdir("\(path)/folder")
            rmdir(path)
        }
        func write(_ bytes: [UInt8], _ name: String) throws {
            let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            try #require(descriptor >= 0)
            try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
            close(descriptor)
        }
    }

    @Test func `a credential is its file's bytes`() throws {
        let folder = try Folder()
        try folder.write([0, 1, 255, 10], "kas-key")
        try folder.write([], "empty")
        let directory = CredentialDirectory(path: folder.path)
        #expect(try directory.read("kas-key") == [0, 1, 255, 10])
        #expect(try directory.read("empty") == [])
        #expect(try directory.read("other") == nil)
        #expect(directory.path("kas-key") == "\(folder.path)/kas-key")
        #expect(directory.path("other") == nil)
        #expect(directory.names == ["empty", "kas-key"])
    }

    @Test func `64 KiB are read, one byte more is refused`() throws {
        let folder = try Folder()
        try folder.write([UInt8](repeating: 7, count: 65_536), "exact")
        try folder.write([UInt8](repeating: 7, count: 65_537), "big")
        let directory = CredentialDirectory(path: folder.path)
        #expect(try directory.read("exact")?.count == 65_536)
        #expect(throws: SystemdError.invalid("credential big is longer than 65536 bytes")) { try directory.read("big") }
    }

    @Test func `only files are credentials`() throws {
        let folder = try Folder()
        try folder.write([1], "a")
        try #require(symlink("/etc/passwd", "\(folder.path)/link") == 0)
        try #require(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        try #require(mkdir("\(folder.path)/folder", 0o700) == 0)
        let directory = CredentialDirectory(path: folder.path)
        for name in ["link", "pipe", "folder"] {
            #expect(throws: SystemdError.self) { try directory.read(name) }
            #expect(directory.path(name) == nil)
        }
        #expect(directory.names == ["a"])
    }

    @Test(arguments: ["", ".", "..", "a/b", "../passwd", "a b", "a\0", "ä", String(repeating: "a", count: 256)])
    func `a name that could leave the directory is refused`(name: String) throws {
        let directory = CredentialDirectory(path: "/etc")
        #expect(throws: SystemdError.self) { try directory.read(name) }
        #expect(directory.path(name) == nil)
    }

    @Test(arguments: [nil, "", "relative"])
    func `a process without credentials has none`(path: String?) throws {
        let directory = CredentialDirectory(path: path)
        #expect(try directory.read("a") == nil)
        #expect(directory.path("a") == nil)
        #expect(directory.names.isEmpty)
    }
}
