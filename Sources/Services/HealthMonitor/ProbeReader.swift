internal import BoxReadings
internal import CameraModel
internal import ControlClient
internal import Systemd

/// Makes the readings: each in its own lane.
struct ProbeReader: Sendable {
    let paths: HealthPaths
    let units: any UnitControl
    let cameras: any CameraStatusReading
    let clock: any HealthClock
    let clockAsker: ClockAsker

    /// False while the reading before has not ended.
    ///
    /// - Parameter witness: says that a relay works without being tried.
    func start(
        _ probe: Probe, in slot: ProbeSlot<Reading>, at now: UInt64, settings: HealthServiceSettings, witness: String?
    ) -> Bool {
        let paths = paths
        func blocking(_ read: @escaping @Sendable () -> Reading) -> Bool { slot.start(at: now, blocking: read) }
        switch probe {
        case .camera(let id):
            return slot.start(at: now) { [cameras] in
                do {
                    return .camera(.answered(try await cameras.status(of: id)))
                } catch let error as ControlClientError where error.isDenied {
                    return .camera(.refused("\(error)"))
                } catch {
                    return .camera(.silent("\(error)"))
                }
            }
        case .units: return slot.start(at: now) { [units] in .units(await UnitReading.read(units)) }
        case .power: return blocking { .power(.read(paths.box)) }
        case .heat: return blocking { .heat(.read(paths.box)) }
        case .watchdog: return blocking { .watchdog(.read(paths.box)) }
        case .load: return blocking { .load(.read(paths.box), .read(paths)) }
        case .tasks: return blocking { .tasks(.read(paths)) }
        case .clock:
            return slot.start(at: now) { [clock, clockAsker] in .clock(await clockAsker.read(clock)) }
        case .network: return blocking { .network(.read(paths.box)) }
        case .mounts: return blocking { .mounts(.read(paths)) }
        case .canary: return blocking { .canary(.read(paths)) }
        case .disk: return blocking { .disk(Self.disk(paths)) }
        case .card: return blocking { .card(.read(paths)) }
        case .relay(let name):
            guard let peer = settings.relays.first(where: { $0.name == name }) else { return false }
            if let witness { return slot.start(at: now) { .peer(peer, .vouched(witness)) } }
            return blocking { .peer(peer, .read(peer)) }
        case .kas:
            guard let peer = settings.kas else { return false }
            return blocking { .peer(peer, .read(peer)) }
        }
    }

    /// The data directory may not be there before control has run.
    static func disk(_ paths: HealthPaths) -> DiskReading? {
        do throws(DiskReading.Failure) { return try DiskReading.read(paths.dataDirectory) } catch {
            return error.isMissing ? try? DiskReading.read(paths.stateDirectory) : nil
        }
    }
}
