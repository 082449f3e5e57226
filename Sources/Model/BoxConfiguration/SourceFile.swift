/// One configuration file, as it was read.
public struct SourceFile: Equatable, Sendable {
    /// Relative to the configuration directory: `conf.d/10-cams.toml`.
    public var name: String
    public var text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}
