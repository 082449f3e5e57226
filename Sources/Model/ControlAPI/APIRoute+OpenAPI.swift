internal import ErrorCatalog
internal import FoundationEssentials

extension APIRoute {
    /// Hands out the OpenAPI document that was installed with the program. It is made from the routes when they change
    /// (docs/recipes.md), and a test compares the two.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - directory: nil: `share/watchbox` next to the program's own directory, where `make install` puts it.
    public static func openAPI(_ name: String, in directory: String? = nil) -> APIRoute {
        APIRoute(.get, APIPath.openAPI(), "This API as an OpenAPI 3.1 document") { _ in
            let path = "\(directory ?? installedDirectory)/\(name)"
            guard let document = try? Data(contentsOf: URL(filePath: path)) else {
                throw CodedError(
                    .notFound, "there is no OpenAPI document here", why: "\(path) cannot be read",
                    hint: "Install WatchBox with its documents (make install), or read docs/ref/\(name) of its sources")
            }
            return APIResponse(body: .json(Array(document)))
        }
    }

    private static var installedDirectory: String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: program).deletingLastPathComponent().path + "/../share/watchbox"
    }
}
