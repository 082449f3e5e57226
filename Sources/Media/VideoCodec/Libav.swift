package import CAVCodec

/// What all users of libav need: the libraries in memory, and errors as text.
package enum Libav {
    /// Brings a library into the process, unless it is there. Before the first `wb_` call of that library.
    package static func load(_ library: wb_library) throws(VideoCodecError) {
        var failure = [CChar](repeating: 0, count: 512)
        guard wb_libav_load(library, &failure, failure.count) else {
            throw .libraryMissing(text(failure))
        }
    }

    /// Passes `code` through, or throws when it is an error. Forgets what libav logged before the call that failed.
    @discardableResult
    package static func check(_ code: Int32, _ call: String) throws(VideoCodecError) -> Int32 {
        guard code < 0 else { return code }
        throw .failed(call: call, code: code, message: message(for: code))
    }

    /// libav's message for an error code, with the last error that it logged on this thread, which often says more.
    package static func message(for code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        _ = wb_av_strerror(code, &buffer, buffer.count)
        let message = text(buffer)
        let log = takeLog()
        return log.isEmpty ? message : "\(message) (\(log))"
    }

    /// The last error that libav logged on this thread; also clears it, so that it is not taken for a later one.
    @discardableResult
    package static func takeLog() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        wb_libav_take_log(&buffer, buffer.count)
        return text(buffer)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
