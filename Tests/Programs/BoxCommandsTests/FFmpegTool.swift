import Foundation

/// ffmpeg, as somebody else who looks at films.
enum FFmpegTool {
    static let ffmpeg = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private static func run(_ path: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// MD5 of each decoded frame.
    static func frameHashes(_ file: String, _ track: String) throws -> [Substring] {
        try run(ffmpeg ?? "", ["-v", "error", "-i", file, "-map", "0:\(track)", "-f", "framemd5", "-"])
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }
    }

    static func complaints(_ file: String, _ ffmpeg: String) throws -> String {
        try run(ffmpeg, ["-v", "error", "-xerror", "-i", file, "-f", "null", "-"])
    }
}
