import ArgumentParser
import Glibc
import VideoCodec

/// Started by camera processes: a decoder that hangs or crashes does it here.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture", abstract: "Make a JPEG of the key frame on standard input.", shouldDisplay: false)

    /// Bytes that are written to: enough for a JPEG of 3840x2160, less than the unit of a camera may have.
    private static let mostMemory: rlim_t = 200 << 20

    func run() throws {
        // A child whose parent is gone must not hang for ever in its place, and pictures come before snapshots.
        alarm(15)
        nice(10)
        // In the same control group as the frame path: that must not pay for a picture that takes all memory.
        var memory = rlimit(rlim_cur: Self.mostMemory, rlim_max: Self.mostMemory)
        setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &memory)
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0, request.count <= 32 << 20 else { break }
            request += buffer.prefix(count)
        }
        do throws(VideoCodecError) {
            Self.write(try PictureRequest(request).jpeg())
        } catch {
            Self.write(Array("\(error)".utf8))
            throw ExitCode(1)
        }
    }

    private static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
