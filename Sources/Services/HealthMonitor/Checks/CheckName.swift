/// All checks there are: a closed set, because metrics carry them as a label.
enum CheckName: String, CaseIterable, Sendable {
    case publish
    case frozenPicture = "frozen-picture"
    case camera
    case key
    /// Of a camera at this machine: what it is encoded with, and whether that holds what was asked for.
    case encoder
    case audio
    /// Of a camera that is recorded: whether it is.
    case recording
    case unit
    case power
    case heat
    case storageReadOnly = "storage-read-only"
    case disk
    case card
    case memory
    case cpu
    case tasks
    case clock
    case networkLink = "network-link"
    case networkAddress = "network-address"
    case networkGateway = "network-gateway"
    case networkDNS = "network-dns"
    case relay
    case kas
    case certificate
    case watchdog
    case boot
    /// The configuration that runs is the one that the operator wrote.
    case configuration
    /// The monitor itself: its settings, its budgets, its history.
    case monitor
}
