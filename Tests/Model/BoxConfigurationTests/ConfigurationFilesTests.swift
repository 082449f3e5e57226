import ErrorCatalog
import Foundation
import Glibc
import Testing

@testable import BoxConfiguration

struct ConfigurationFilesTests {
    /// A directory that is gone at the end of its test.
    private final class Directory {
        let path: String

        init() {
            path = NSTemporaryDirectory() + "watchbox-configuration-\(UUID().uuidString)"
            try! FileManager.default.createDirectory(atPath: path + "/conf.d", withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ bytes: [UInt8]) {
            #expect(FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data(bytes)))
        }

        func write(_ name: String, _ text: String) { write(name, Array(text.utf8)) }

        func fault() -> CodedError? {
            #expect(throws: CodedError.self) { try ConfigurationFiles.read(directory: path) }
        }
    }

    @Test func `files come in the order of their names`() throws {
        let directory = Directory()
        directory.write("conf.d/20-b.toml", "b = 1")
        directory.write("conf.d/10-ü.toml", "a = 1")
        directory.write("conf.d/.hidden.toml", "h = 1")
        directory.write("conf.d/notes.txt", "n = 1")
        directory.write("conf.d/30.toml~", "t = 1")
        directory.write("watchbox.toml", "version = 1")
        let files = try ConfigurationFiles.read(directory: directory.path)
        #expect(files.map(\.name) == ["watchbox.toml", "conf.d/10-ü.toml", "conf.d/20-b.toml"])
        #expect(files.map(\.text) == ["version = 1", "a = 1", "b = 1"])
    }

    @Test func `a box without files has none`() throws {
        #expect(try ConfigurationFiles.read(directory: Directory().path).isEmpty)
        #expect(try ConfigurationFiles.read(directory: "/nonexistent/watchbox").isEmpty)
    }

    @Test func `links, pipes and directories are refused, and nothing waits for a pipe`() {
        let link = Directory()
        symlink("/etc/passwd", link.path + "/watchbox.toml")
        #expect(link.fault()?.what == "watchbox.toml is a link")
        let pipe = Directory()
        mkfifo(pipe.path + "/conf.d/a.toml", 0o600)
        #expect(pipe.fault()?.what == "conf.d/a.toml is not a file")
        let folder = Directory()
        mkdir(folder.path + "/conf.d/a.toml", 0o700)
        #expect(folder.fault()?.code == .unreadableFile)
    }

    @Test func `a directory may be a link`() throws {
        let directory = Directory()
        let link = Directory()
        directory.write("a.toml", "a = 1")
        rmdir(link.path + "/conf.d")
        symlink(directory.path, link.path + "/conf.d")
        #expect(try ConfigurationFiles.read(directory: link.path).map(\.name) == ["conf.d/a.toml"])
    }

    @Test func `size and number are bounded`() throws {
        let directory = Directory()
        directory.write("watchbox.toml", [UInt8](repeating: 0x23, count: ConfigurationFiles.sizeLimit))
        #expect(try ConfigurationFiles.read(directory: directory.path).count == 1)
        for number in 1..<ConfigurationFiles.countLimit { directory.write("conf.d/\(number).toml", "") }
        #expect(try ConfigurationFiles.read(directory: directory.path).count == ConfigurationFiles.countLimit)
        directory.write("conf.d/last.toml", "")
        #expect(directory.fault()?.what == "conf.d holds too many files")
        directory.write("watchbox.toml", [UInt8](repeating: 0x23, count: ConfigurationFiles.sizeLimit + 1))
        #expect(directory.fault()?.what == "watchbox.toml is longer than 256 KiB")
    }

    @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x93]] as [[UInt8]])
    func `what is not UTF-8 is reported with its line`(bytes: [UInt8]) {
        let directory = Directory()
        directory.write("watchbox.toml", Array("version = 1\n# ü\nname = \"".utf8) + bytes + Array("\"\n".utf8))
        let fault = directory.fault()
        #expect(fault?.code == .unreadableFile)
        #expect(fault?.what == "watchbox.toml is not UTF-8 in line 3")
    }
}
