import Foundation

/// A program of this package, which the build puts beside the tests.
package enum BuiltProgram {
    package static func path(_ name: String) -> String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name).path
    }
}
