extension KeyedDecodingContainer {
    /// Absent fields take their defaults, so that a document says only what differs from them.
    func value<Value: Decodable>(_ key: Key, default defaults: @autoclosure () -> Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? defaults()
    }
}
