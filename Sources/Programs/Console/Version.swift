/// The release that this program is part of.
public enum Version {
    /// Semantic version; the CHANGELOG says what is in it.
    public static let current = "0.2.0"
}
