internal import BoxReadings
internal import CameraModel

/// One reading: how often, how long it may take, and which checks it decides.
enum Probe: Hashable, Sendable {
    case camera(String)
    case units
    case power
    case heat
    case watchdog
    case load
    case tasks
    case clock
    case network
    case mounts
    case canary
    case disk
    case card
    case relay(String)
    case kas

    /// The box's own, which need no settings.
    static let ofTheBox: [Probe] = [
        .units, .power, .heat, .watchdog, .load, .tasks, .clock, .network, .mounts, .canary, .disk, .card,
    ]

    /// Seconds between two of its readings; one that found trouble is made again with the next round that allows it.
    func period(inTrouble: Bool) -> Double {
        switch self {
        case .camera: 2
        case .units: inTrouble ? 2 : 10
        case .power, .heat, .watchdog, .load, .clock, .network, .mounts: 10
        case .tasks: 30
        case .canary, .disk, .relay, .kas: inTrouble ? 10 : 60
        case .card: 600
        }
    }

    /// Seconds after which a reading counts as hanging.
    var limit: Double {
        switch self {
        case .camera: 3
        case .units, .power, .heat, .watchdog, .load, .tasks, .clock, .network, .mounts, .disk, .card: 5
        case .canary, .relay, .kas: 20
        }
    }

    /// Whether a round waits for it; what may take long by its nature is collected by a later one.
    var isAwaited: Bool {
        switch self {
        case .canary, .disk, .card, .relay, .kas: false
        default: true
        }
    }

    var checks: [CheckName] {
        switch self {
        case .camera: [.publish, .camera, .frozenPicture, .key, .encoder, .audio]
        case .units: [.unit]
        case .power: [.power]
        case .heat: [.heat]
        case .watchdog: [.watchdog, .boot]
        case .load: [.memory, .cpu]
        case .tasks: [.tasks]
        case .clock: [.clock]
        case .network: [.networkLink, .networkAddress, .networkGateway]
        case .mounts, .canary: [.storageReadOnly]
        case .disk: [.disk]
        case .card: [.card]
        case .relay: [.relay]
        case .kas: [.kas]
        }
    }

    var object: String? {
        switch self {
        case .camera(let id): id
        case .relay(let name): name
        default: nil
        }
    }

    var text: String {
        switch self {
        case .camera(let id): "asking camera \(id)"
        case .relay(let name): "reaching relay \(name)"
        default: "the check \(checks.map(\.rawValue).joined(separator: ", "))"
        }
    }
}

/// What a probe brought.
enum Reading: Sendable {
    case camera(CameraReading)
    case units(UnitReading)
    case power(PowerReading)
    case heat(HeatReading)
    case watchdog(WatchdogReading)
    case load(PressureReading, GroupReading)
    case tasks(TaskReading)
    case clock(ClockReading)
    case network(NetworkReading)
    case mounts(MountReading)
    case canary(CanaryReading)
    case disk(DiskReading?)
    case card(CardReading)
    case peer(HealthServiceSettings.Peer, PeerReading)
}
