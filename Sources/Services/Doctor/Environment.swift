internal import BoxReadings
internal import ControlClient
internal import Glibc
internal import Platform
public import Systemd

/// What the doctor examines: this machine, or in tests a tree of files.
public struct Environment: Sendable {
    /// Who looks, as the kernel has it.
    public struct Identity: Equatable, Sendable {
        public var userIdentifier: UInt32
        /// All of them, the primary one included.
        public var groupIdentifiers: [UInt32]

        public init(userIdentifier: UInt32, groupIdentifiers: [UInt32]) {
            self.userIdentifier = userIdentifier
            self.groupIdentifiers = groupIdentifiers
        }

        /// Of this process.
        public static var current: Identity {
            var groups = [gid_t](repeating: 0, count: 1024)
            let count = getgroups(CInt(groups.count), &groups)
            return Identity(
                userIdentifier: geteuid(), groupIdentifiers: [getegid()] + groups.prefix(Int(max(0, count))))
        }
    }

    /// In front of every absolute path; empty for the machine itself.
    public var root = ""
    public var configurationDirectory = "/etc/watchbox"
    public var stateDirectory = "/var/lib/watchbox"
    public var socketPath = ControlClient.defaultSocketPath
    /// Version of this program.
    public var version: String
    public var identity = Identity.current
    /// Nothing is asked: no daemon, no PID 1, no name server, no relay, no KAS.
    public var isOffline = false
    /// The most that a daemon may take for an answer.
    public var answerLimit = Duration.seconds(5)
    public var units: any UnitControl
    /// Name of the H.264 encoder that opens here and how it was chosen; throws why none does. Nil: not tried.
    public var encoder: (@Sendable () throws -> String)?
    /// Whether the clock follows a time server; nil when the kernel does not report it to this user.
    public var isClockSynchronised: @Sendable () -> Bool? = { ClockSynchronisation.isSynchronised }
    /// What the kernel has to hold decoders with, and what it lacks, each as text. Nil: not looked at.
    public var decoders: (@Sendable () -> (evidence: String, lack: String?))?

    /// This machine.
    public init(version: String, units: any UnitControl) {
        self.version = version
        self.units = units
    }

    /// Where a path of the machine is in these environment.
    func path(_ absolute: String) -> String { root + absolute }

    var state: String { path(stateDirectory) }
    /// For the readings that the health monitor makes as well.
    var boxPaths: BoxPaths { BoxPaths(root: root) }
    var client: ControlClient {
        ControlClient(socketPath: path(socketPath), readTimeout: answerLimit, changeTimeout: answerLimit)
    }
}
