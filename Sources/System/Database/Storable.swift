/// What SQLite keeps in a column (https://sqlite.org/datatype3.html).
public enum StoredValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// What can be stored in a column, and read back.
public protocol Storable {
    var stored: StoredValue { get }
    /// Nil for a value of another kind, or one that does not fit.
    init?(_ stored: StoredValue)
}

extension Int64: Storable {
    public var stored: StoredValue { .integer(self) }

    public init?(_ stored: StoredValue) {
        guard case .integer(let value) = stored else { return nil }
        self = value
    }
}

extension Int: Storable {
    public var stored: StoredValue { .integer(Int64(self)) }

    public init?(_ stored: StoredValue) {
        guard case .integer(let value) = stored else { return nil }
        self.init(exactly: value)
    }
}

extension Bool: Storable {
    public var stored: StoredValue { .integer(self ? 1 : 0) }

    public init?(_ stored: StoredValue) {
        guard case .integer(let value) = stored else { return nil }
        self = value != 0
    }
}

extension Double: Storable {
    public var stored: StoredValue { .real(self) }

    public init?(_ stored: StoredValue) {
        switch stored {
        case .real(let value): self = value
        case .integer(let value): self.init(exactly: value)
        case .null, .text, .blob: return nil
        }
    }
}

extension String: Storable {
    public var stored: StoredValue { .text(self) }

    public init?(_ stored: StoredValue) {
        guard case .text(let value) = stored else { return nil }
        self = value
    }
}

extension [UInt8]: Storable {
    public var stored: StoredValue { .blob(self) }

    public init?(_ stored: StoredValue) {
        guard case .blob(let value) = stored else { return nil }
        self = value
    }
}
