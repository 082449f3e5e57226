/// What RAUC knows of the two systems of this box: `rauc status --detailed --output-format=json` (1.8 to 1.13).
struct SlotReport: Decodable, Equatable, Sendable {
    /// One system: the slot that holds its root, by the name that the boot loader has for it.
    struct System: Equatable, Sendable {
        var name: String
        var isBooted: Bool
        /// The boot loader would start it.
        var isGood: Bool
        /// Of the bundle that it came from; nil for the one that was flashed.
        var version: String?
    }

    /// A, B.
    var booted: String
    /// Of the slot that is started next: `system.0`.
    var primary: String?
    /// By name.
    var systems: [System]
    /// The name of the system that is started next.
    var next: String?

    private enum CodingKeys: String, CodingKey {
        case booted, slots
        case primary = "boot_primary"
    }

    /// One object with one key, the slot's name.
    private struct Slot: Decodable {
        struct Contents: Decodable {
            struct Status: Decodable {
                struct Bundle: Decodable { var version: String? }
                var bundle: Bundle?
            }

            var bootname: String?
            var state: String
            var bootStatus: String?
            var slotStatus: Status?

            enum CodingKeys: String, CodingKey {
                case bootname, state
                case bootStatus = "boot_status"
                case slotStatus = "slot_status"
            }
        }

        var name: String
        var contents: Contents

        init(from decoder: any Decoder) throws {
            let named = try decoder.singleValueContainer().decode([String: Contents].self)
            guard named.count == 1, let only = named.first else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "one slot in each object"))
            }
            (name, contents) = (only.key, only.value)
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        booted = try container.decode(String.self, forKey: .booted)
        primary = try container.decodeIfPresent(String.self, forKey: .primary)
        let slots = try container.decode([Slot].self, forKey: .slots)
        var systems: [System] = []
        for slot in slots {
            guard let name = slot.contents.bootname else { continue }
            systems.append(
                System(
                    name: name, isBooted: slot.contents.state == "booted", isGood: slot.contents.bootStatus == "good",
                    version: slot.contents.slotStatus?.bundle?.version))
            if slot.name == primary { next = name }
        }
        guard systems.contains(where: { $0.isBooted }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "no system of it is running"))
        }
        self.systems = systems.sorted { $0.name < $1.name }
    }
}
