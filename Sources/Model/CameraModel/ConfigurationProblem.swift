/// One thing that is wrong with a configuration, in the text that a person sees.
public struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// Path of the field in the JSON document: `source.testPattern.width`.
    public var field: String
    /// What is wrong with its value. Never the value of a secret.
    public var reason: String
    /// What to write instead.
    public var hint: String

    public init(field: String, reason: String, hint: String) {
        self.field = field
        self.reason = reason
        self.hint = hint
    }

    public var description: String { "\(field): \(reason). \(hint)" }
}

/// Everything that is wrong with a configuration; never empty.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    public var problems: [ConfigurationProblem]

    public init(problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension ConfigurationError {
    /// What a decoder refused, as a problem of one field.
    init(_ error: any Error) {
        let problem: ConfigurationProblem
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            problem = ConfigurationProblem(
                field: Self.path(context.codingPath + [key]), reason: "is missing", hint: "Add it")
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            problem = ConfigurationProblem(
                field: Self.path(context.codingPath), reason: "has the wrong type",
                hint: context.debugDescription)
        case DecodingError.dataCorrupted(let context):
            problem = ConfigurationProblem(
                field: Self.path(context.codingPath),
                reason: context.codingPath.isEmpty ? "is not a JSON document" : "has a value that is not allowed",
                hint: context.debugDescription)
        default:
            problem = ConfigurationProblem(
                field: "(document)", reason: "cannot be read", hint: "Check that it is a JSON document")
        }
        self.init(problems: [problem])
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        var text = ""
        for key in keys {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text.isEmpty ? "(document)" : text
    }
}
