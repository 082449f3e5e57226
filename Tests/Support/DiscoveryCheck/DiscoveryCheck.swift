import Discovery
import Glibc
import Logging
import Synchronization

/// What Tests/Rigs/discovery runs in its network namespaces: the searches and the listener of the box, as lines of JSON.
@main
enum DiscoveryCheck {
    static let usage = """
        DiscoveryCheck COMMAND, one JSON object per line:
          search [--interface NAME]… [--scan CIDR]… [--large] [--ports N,N] [--onvif-ports N,N] [--no-multicast]
                 [--no-questions] [--timeout SECONDS] [--answer-timeout SECONDS] [--cancel-after SECONDS]
          listen [--interface NAME]… [--rescan SECONDS]      until it is killed
          camera URL --user NAME --password-file FILE --memory FILE
                 a camera's source, informed of devices that may be the camera when it is away, until it is killed
          interfaces
          range CIDR [--large]
        """

    static func main() async {
        do {
            var arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
            switch try arguments.next("a command") {
            case "search": try await search(&arguments)
            case "listen": try await listen(&arguments)
            case "camera": try await CameraCheck.run(&arguments)
            case "interfaces": try interfaces(&arguments)
            case "range": try range(&arguments)
            case let other: throw UsageError("what is \(other)?")
            }
        } catch let error as DiscoveryError {
            Line(error).say()
            exit(1)
        } catch let error as UsageError {
            complain("\(error.reason)\n\(usage)")
            exit(2)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ text: String) {
        let line = Array(text.utf8) + [10]
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    private static func search(_ arguments: inout Arguments) async throws {
        var options = SearchOptions()
        let names = try arguments.options("--interface")
        options.interfaces = names.isEmpty ? nil : names
        options.allowsLarge = arguments.flag("--large")
        options.ranges = try arguments.options("--scan").map { text in
            try AddressRange(text, allowsLarge: options.allowsLarge)
        }
        options.ports = try arguments.ports("--ports") ?? options.ports
        options.onvifPorts = try arguments.ports("--onvif-ports") ?? options.onvifPorts
        options.multicast = !arguments.flag("--no-multicast")
        options.asksDevices = !arguments.flag("--no-questions")
        options.timeout = try arguments.seconds("--timeout") ?? options.timeout
        options.answerTimeout = try arguments.seconds("--answer-timeout") ?? options.answerTimeout
        let cancelAfter = try arguments.seconds("--cancel-after")
        try arguments.end()
        let search = Search(options, logger: Logger(label: "discovery-check"))
        if let cancelAfter {
            Task {
                try await Task.sleep(for: cancelAfter)
                search.cancel()
            }
        }
        let last = Mutex(SearchProgress())
        let found = try await search.run { progress in
            Line("progress", progress).say()
            last.withLock { $0 = progress }
        }
        for device in found {
            var line = Line("device")
            line.device = Line.Device(device)
            line.say()
        }
        Line("done", last.withLock { $0 }).say()
    }

    private static func listen(_ arguments: inout Arguments) async throws {
        let names = try arguments.options("--interface")
        let rescan = try arguments.seconds("--rescan") ?? .seconds(30)
        try arguments.end()
        let listener = AnnouncementListener(
            rescanInterval: rescan, interfaces: names.isEmpty ? nil : names, logger: Logger(label: "discovery-check"))
        let announcements = listener.announcements()
        let looking = Task {
            var last = AnnouncementListener.Status()
            while !Task.isCancelled {
                let status = listener.status
                if status.networks != last.networks || status.problem != last.problem {
                    var line = Line("listening")
                    line.networks = status.networks
                    line.problem = status.problem
                    line.say()
                }
                last = status
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        for await announcement in announcements {
            var line = Line("announcement")
            line.announcement = Line.Heard(announcement)
            line.say()
        }
        looking.cancel()
    }

    private static func interfaces(_ arguments: inout Arguments) throws {
        try arguments.end()
        var line = Line("interfaces")
        line.interfaces = [:]
        for interface in try NetworkInterfaces.list() {
            let addresses =
                interface.ipv4.map { "\($0.address)/\($0.prefix)" } + [interface.ipv6LinkLocal].compactMap { $0 }
            line.interfaces?[interface.name] = addresses + (interface.isSearchable ? ["searchable"] : [])
        }
        line.say()
    }

    private static func range(_ arguments: inout Arguments) throws {
        let allowsLarge = arguments.flag("--large")
        var line = Line("range")
        line.addresses = try AddressRange(try arguments.next("a network"), allowsLarge: allowsLarge).count
        try arguments.end()
        line.say()
    }
}
