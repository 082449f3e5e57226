import ArgumentParser
import Glibc
import VideoCodec

/// Started by camera processes: a decoder that hangs, crashes or is taken over does it here, where it has nothing.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture", abstract: "Make a JPEG of the key frame on standard input.", shouldDisplay: false)

    private static let maxRequestLength = 32 << 20

    func run() throws {
        do {
            try FrameRequest.prepare()
            // Frames of the list come after those of the stream.
            let report = try DecoderSandbox.enter(DecoderSandbox.Limits(seconds: 15, niceness: 10))
            Self.write(report.line)
            Self.write(try FrameRequest(try Self.request()).jpeg())
        } catch {
            Self.write(Array("\(error)".utf8))
            _exit(1)
        }
        // Straight away: what libraries do at their end is not on the list of system calls.
        _exit(0)
    }

    private static func request() throws -> [UInt8] {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0, request.count <= maxRequestLength else { return request }
            request += buffer.prefix(count)
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
