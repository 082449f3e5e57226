package import FLV

extension StreamMetadata {
    /// The body of a script tag in a file: `encodedSetDataFrame` without its first value, the string `@setDataFrame`.
    package func encodedScriptTag() -> [UInt8] {
        Array(encodedSetDataFrame().dropFirst(3 + "@setDataFrame".utf8.count))
    }
}
