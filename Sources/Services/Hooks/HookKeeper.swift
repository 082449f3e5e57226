internal import Logging

/// Saves where the hooks are, all in one file, one write after the other.
actor HookKeeper {
    private let memory: HookMemory
    private let runners: [HookRunner]
    private let logger: Logger
    private var saved: [String: HookPlace]
    private var isTroubled = false

    init(memory: HookMemory, runners: [HookRunner], saved: [String: HookPlace], logger: Logger) {
        self.memory = memory
        self.runners = runners
        self.saved = saved
        self.logger = logger
    }

    /// A disk that takes nothing does not stop messages: a restart then reports some events again.
    func save() async {
        var places: [String: HookPlace] = [:]
        for runner in runners { places[runner.name] = await runner.place }
        guard places != saved else { return }
        do {
            try memory.save(places)
            saved = places
            isTroubled = false
        } catch {
            if !isTroubled { logger.warning("where the hooks are cannot be saved: \(error)") }
            isTroubled = true
        }
    }
}
