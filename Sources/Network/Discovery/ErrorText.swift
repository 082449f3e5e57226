internal import Glibc

/// The system's own words for an error.
enum ErrorText {
    static var current: String { text(of: errno) }

    static func text(of number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}
