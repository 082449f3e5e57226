import BoxConfiguration

/// What the reader itself knows of the configuration.
enum ConfigurationSchema {
    /// JSON Schema, for editors.
    static var text: String { BoxSettings.schema }
    /// The documentation's page.
    static var page: String { ConfigurationReference.page }
}
