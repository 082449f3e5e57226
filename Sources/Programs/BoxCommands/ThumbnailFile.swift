import Archive
import Console
import Glibc
import Platform

/// The page in its folder, which it makes where there is none: what it makes is for its owner alone. Whoever lets go of it before it is finished leaves
/// nothing behind.
final class ThumbnailFile {
    static let name = "index.html"

    private let folder: String
    private let isNew: Bool
    private var file: UnfinishedFile?
    private var isFinished = false

    /// Of the page in a folder.
    static func path(in folder: String) -> String { folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }

    init(in folder: String, or what: String) throws(CommandFailure) {
        self.folder = folder
        let number: CInt = mkdir(folder, 0o700) == 0 ? 0 : errno
        isNew = number == 0
        var status = stat()
        guard isNew || number == EEXIST && stat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure(
                what: what, why: "\(folder): \(number == EEXIST ? "it is no folder" : SystemMessage.text(number))",
                hint: "name another folder: --output", status: .usage)
        }
        do throws(FileFailure) { file = try UnfinishedFile(Self.path(in: folder)) } catch {
            throw CommandFailure(.output(error), what: what)
        }
    }

    deinit {
        file = nil
        if isNew, !isFinished { rmdir(folder) }
    }

    /// Bytes so far.
    var size: Int64 { file?.size ?? 0 }

    func append(_ text: String, or what: String) throws(CommandFailure) {
        do throws(FileFailure) { try file?.append(Array(text.utf8)[...]) } catch {
            throw CommandFailure(.output(error), what: what)
        }
    }

    /// - Parameter replaces: a page that is there.
    func finish(replaces: Bool, or what: String) throws(CommandFailure) {
        do throws(FileFailure) { try file?.finish(replaces: replaces) } catch {
            throw CommandFailure(.output(error), what: what)
        }
        isFinished = true
    }
}
