/// TCP ports that a unit's files let its process bind: what they and their drop-ins say, as systemd reads them.
struct UnitPorts: Equatable {
    /// Nil: any.
    private(set) var allowed: [ClosedRange<Int>]?
    /// Also those below 1024.
    private(set) var isPrivileged = false

    /// - Parameter files: the contents of the unit's file and of its drop-ins, in the order in which systemd reads them.
    init(files: [String]) {
        var allow: [ClosedRange<Int>] = []
        var isOpen = true
        for line in files.flatMap(UnitFiles.assignments) {
            switch line.key {
            case "SocketBindDeny":
                // What is denied elsewhere is denied by `any`, in all units of ours.
                isOpen = line.value.isEmpty || (isOpen && line.value != "any")
            case "SocketBindAllow":
                if line.value.isEmpty { allow = [] } else if let range = Self.range(line.value) { allow.append(range) }
            case "AmbientCapabilities":
                let has = line.value.split(separator: " ").contains("CAP_NET_BIND_SERVICE")
                isPrivileged =
                    line.value.isEmpty ? false : line.value.hasPrefix("~") ? isPrivileged : isPrivileged || has
            default: break
            }
        }
        allowed = isOpen ? nil : allow
    }

    enum Answer: Equatable {
        case allowed
        /// The filter of the unit.
        case filtered
        /// Below 1024, and the unit has no capability for that.
        case privileged
    }

    func allows(_ port: Int) -> Answer {
        if let allowed, !allowed.contains(where: { $0.contains(port) }) { return .filtered }
        return (1..<1024).contains(port) && !isPrivileged ? .privileged : .allowed
    }

    /// `any`, `tcp`, `tcp:443`, `ipv4:tcp:1000-2000`, `443`; nil for what is not for TCP.
    private static func range(_ value: String) -> ClosedRange<Int>? {
        var ports: ClosedRange<Int>? = 0...65_535
        for part in value.split(separator: ":") {
            switch part {
            case "any", "tcp", "ipv4", "ipv6": continue
            case "udp": return nil
            default:
                let ends = part.split(separator: "-", maxSplits: 1).map { Int($0) }
                guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else { return nil }
                ports = first...last
            }
        }
        return ports
    }
}
