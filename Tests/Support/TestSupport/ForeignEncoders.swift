import Foundation

/// What the ffmpeg of this machine can encode, by its own account: tests are skipped for what a machine lacks, never because our
/// own code could not open it.
public enum ForeignEncoders {
    private static let path = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private static let names: Set<Substring> = {
        guard let path else { return [] }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-hide_banner", "-encoders"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return [] }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // " V....D libx264   libx264 H.264 …"
        return Set(text.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst().first })
    }()

    /// Whether ffmpeg is here, and lists all of these.
    public static func has(_ requested: String...) -> Bool { requested.allSatisfy { names.contains(Substring($0)) } }
}
