internal import Glibc

/// The system's own text.
public enum SystemMessage {
    /// For an errno. Safe from any thread since glibc 2.32.
    public static func text(_ number: CInt) -> String {
        guard let text = strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }
}
