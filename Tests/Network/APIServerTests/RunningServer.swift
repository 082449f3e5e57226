import ControlAPI
import ControlClient
import Glibc
import Logging
import ServiceLifecycle
import Testing

@testable import APIServer

/// An `APIServer` on a Unix socket in a directory of its own, for the time of one test.
struct RunningServer: Sendable {
    let path: String
    /// As `onRunning` reported it.
    let address: String
    private let services: ServiceGroup

    var client: ControlClient {
        ControlClient(
            socketPath: path, readTimeout: .seconds(60), changeTimeout: .seconds(60), silenceTimeout: .seconds(60))
    }

    func connect() throws -> RawClient { try RawClient(path: path) }

    func stop() async { await services.triggerGracefulShutdown() }

    /// - Parameters:
    ///   - listener: nil for a socket `api.sock`, mode 0666, in the directory.
    static func with(
        _ routes: [APIRoute] = [], listener: APIServerConfiguration.Listener? = nil,
        directory: ScratchDirectory = ScratchDirectory(),
        configure: (inout APIServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (RunningServer) async throws -> Void
    ) async throws {
        let path = directory.path + "/api.sock"
        var configuration = APIServerConfiguration(
            listener: listener ?? .unixSocket(path: path, mode: 0o666, group: nil))
        // A slow machine is no one's fault: each test shortens what it is about.
        configuration.headerTimeout = .seconds(3600)
        configuration.idleTimeout = .seconds(3600)
        configuration.requestTimeout = .seconds(3600)
        configuration.writeTimeout = .seconds(3600)
        configuration.shutdownGrace = .seconds(3600)
        configure(&configuration)
        let (addresses, running) = AsyncStream<String>.makeStream()
        let server = APIServer(
            configuration: configuration, router: APIRouter(routes), logger: Self.logger,
            onRunning: { running.yield($0) })
        let services = ServiceGroup(services: [server], logger: Self.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { running.finish() }
                try await services.run()
            }
            var iterator = addresses.makeAsyncIterator()
            if let address = await iterator.next(isolation: nil) {
                do {
                    try await body(RunningServer(path: path, address: address, services: services))
                } catch {
                    await services.triggerGracefulShutdown()
                    throw error
                }
                await services.triggerGracefulShutdown()
            }
            try await group.waitForAll()
        }
        withExtendedLifetime(directory) {}
    }

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// A directory that everybody may enter; removed, files included, with its last holder.
final class ScratchDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/wb-api-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("mkdtemp: \(String(cString: strerror(errno)))") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        chmod(path, 0o755)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// But `.` and `..`.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension APIRoute {
    /// Answers with its own path.
    static func simple(_ method: APIRequest.Method, _ path: String) -> APIRoute {
        APIRoute(method, path, "For tests.") { request in
            APIResponse(body: .text("\(request.method.rawValue) \(request.path)", type: "text/plain"))
        }
    }
}
