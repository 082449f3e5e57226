internal import Glibc

/// An argument list or an environment as `exec` and its relatives take it.
public enum CStrings {
    /// - Parameter body: gets a list that ends with nil, valid until it returns.
    public static func with<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
