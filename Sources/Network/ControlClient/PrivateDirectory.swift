@preconcurrency internal import Dispatch
internal import Glibc
internal import Platform

/// A directory that only this user enters, for one socket.
final class PrivateDirectory: Sendable {
    let path: String
    /// Where ssh makes its socket.
    var socket: String { path + "/api.sock" }

    /// In the user's own place for such things; where ssh could not be told of it, in /tmp.
    init() throws(SSHForwardError) {
        var why: CInt = ENOENT
        let names: [String] = ["XDG_RUNTIME_DIR", "TMPDIR"]
        let own = names.compactMap { (name: String) -> String? in getenv(name).map { String(cString: $0) } }
        for place in own + ["/tmp"] {
            guard SSHForward.isPlain(place), UnixAddress(path: place + "/watchboxctl-XXXXXX/api.sock") != nil else {
                continue
            }
            var template = Array("\(place)/watchboxctl-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                why = errno
                continue
            }
            path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
            return
        }
        throw .noDirectory(why: SystemMessage.text(why))
    }

    /// Once more does no harm.
    func remove() {
        unlink(socket)
        rmdir(path)
    }

    /// The signals that end this process, until `end()`; a command that has taken one for itself keeps it.
    struct Signals {
        fileprivate let sources: [(number: CInt, source: any DispatchSourceSignal)]

        func end() {
            for (number, source) in sources {
                source.cancel()
                signal(number, SIG_DFL)
            }
        }
    }

    /// Removes itself before one of them ends the process.
    func removedOnSignals() -> Signals {
        let queue = DispatchQueue(label: "watchbox.forward.signals")
        var sources: [(CInt, any DispatchSourceSignal)] = []
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var current = sigaction()
            guard sigaction(number, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil else { continue }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                remove()
                _exit(128 + number)
            }
            source.resume()
            sources.append((number, source))
        }
        return Signals(sources: sources)
    }
}
