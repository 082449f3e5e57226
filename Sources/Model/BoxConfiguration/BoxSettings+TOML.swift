internal import Settings
internal import TOML

extension BoxSettings {
    /// All that differs from the defaults, as TOML in a stable order; reads back to an equal value. Secrets are names.
    public func toml() -> String {
        var writer = TOMLWriter()
        writer.line("version", .integer(KeyTable.version))
        for part in storedParts() {
            let path = part.object.split(separator: ".", maxSplits: 1).map(String.init)
            writer.table(path)
            for key in KeyTable.object(path.first ?? "")?.keys ?? [] {
                if let value = part.settings[key.name] { writer.line(key.name, value.toml) }
            }
        }
        return writer.text
    }
}

extension SettingValue {
    var toml: TOMLText {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .real(let number): .float(number)
        case .boolean(let flag): .boolean(flag)
        case .strings(let list): .array(list.map(TOMLText.string))
        }
    }
}
