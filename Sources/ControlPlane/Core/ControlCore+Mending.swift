internal import CameraStore
internal import ErrorCatalog

// A store that holds something else than what runs: a replacement that was interrupted, a change that could be neither
// finished nor taken back, a database that was damaged.
extension ControlCore {
    /// Makes the store hold what runs. The note comes first: what a kill interrupts is finished by the next start.
    func mendStore() throws {
        guard let store else { return }
        var wanted = current
        // What runs is on no disk under its number.
        if isUnsaved { wanted.number = nextNumber() }
        do {
            let staged = try shelf.stage(wanted)
            do {
                try shelf.beginRestore(staged)
            } catch {
                effects.discard([staged])
                throw error
            }
        } catch {
            // The note of a replacement that is not finished does as well: a kill leads to the whole of that.
            guard shelf.unfinishedRestore() != nil else { throw error }
        }
        try current.store.write(to: store, effects: effects)
        forgetLearnt()
        try shelf.abandonRestore()
        isStoreTorn = false
        if !isUnsaved { savingProblem = nil }
    }

    /// A rollback, an import or a mending that was interrupted.
    func finishRestore() {
        guard let generation = shelf.unfinishedRestore(), let store else { return }
        do {
            try generation.store.write(to: store, effects: effects)
            try shelf.finishRestore(generation)
            current = generation
        } catch {
            notMended(error)
        }
    }

    /// The database was damaged and moved aside: the last generation knows what was in it.
    func restoreLostStore() {
        guard let store else { return }
        // Told afterwards: a store with an event does not look lost to the next start.
        defer {
            if let path = store.setAside {
                report(
                    CodedError(
                        .databaseDamaged, "the database was damaged and moved to \(path)",
                        why: "its cameras and relays come from generation \(current.number)"), .system)
            }
        }
        guard !isStoreTorn, isLost(store) else { return }
        do {
            try mendStore()
        } catch {
            notMended(error)
        }
    }

    /// Empty, and not because somebody removed the last of it. Also when the process that moved the damaged one aside
    /// was killed: a change takes one object away, and a store that was ever used has events.
    private func isLost(_ store: CameraStore) -> Bool {
        let kept = current.store.cameras.count + current.store.objects.count
        guard kept > 0, (try? StoreContent(reading: store)) == StoreContent() else { return false }
        return store.setAside != nil || kept > 1 || (try? store.latestEventID()) == 0
    }

    private func notMended(_ error: any Error) {
        isStoreTorn = true
        savingProblem = CodedError(of: error)
        report(CodedError(of: error), .system)
    }
}
