import ControlAPI
import Testing

@testable import SystemUpdate

struct SlotReportTests {
    /// What RAUC 1.8 said on a box that had just been flashed (`rauc status --detailed --output-format=json`).
    private static let flashed = #"""
        {"compatible":"watchbox-amd64","variant":"","booted":"A","boot_primary":"system.0","slots":[
        {"boot.0":{"class":"boot","device":"/dev/disk/by-partlabel/boot_a","type":"raw","bootname":null,"state":"active","parent":"system.0","mountpoint":null,"boot_status":null,"slot_status":{"bundle":{"compatible":null}}}},
        {"system.1":{"class":"system","device":"/dev/disk/by-partlabel/system_b","type":"raw","bootname":"B","state":"inactive","parent":null,"mountpoint":null,"boot_status":"bad","slot_status":{"bundle":{"compatible":null}}}},
        {"system.0":{"class":"system","device":"/dev/disk/by-partlabel/system_a","type":"raw","bootname":"A","state":"booted","parent":null,"mountpoint":null,"boot_status":"good","slot_status":{"bundle":{"compatible":null}}}},
        {"boot.1":{"class":"boot","device":"/dev/disk/by-partlabel/boot_b","type":"raw","bootname":null,"state":"inactive","parent":"system.1","mountpoint":null,"boot_status":null,"slot_status":{"bundle":{"compatible":null}}}}]}
        """#

    private func slots(_ text: String) throws -> SystemSlots {
        SystemSlots(try JSONDocument.decode(SlotReport.self, from: Array(text.utf8)))
    }

    @Test func `a flashed box runs A, and B is empty`() throws {
        let slots = try slots(Self.flashed)
        #expect(slots.running == SystemSlots.System(name: "A", version: nil, isGood: true))
        #expect(slots.other == SystemSlots.System(name: "B", version: nil, isGood: false))
        #expect(slots.next == "A")
    }

    @Test func `after an update the other one is next, with its version`() throws {
        let text = Self.flashed
            .replacing(#""boot_primary":"system.0""#, with: #""boot_primary":"system.1""#)
            .replacing(
                #""boot_status":"bad","slot_status":{"bundle":{"compatible":null}}"#,
                with:
                    #""boot_status":"good","slot_status":{"bundle":{"compatible":"x","version":"0.3.0"},"status":"ok"}"#
            )
        let slots = try slots(text)
        #expect(slots.other == SystemSlots.System(name: "B", version: "0.3.0", isGood: true))
        #expect(slots.next == "B")
    }

    @Test(arguments: [
        ("", ""), (#""state":"booted""#, #""state":"inactive""#), (#""booted":"A","#, ""),
        (#"{"boot.0":"#, #"{},{"boot.0":"#), (#""state":"active""#, #""state":7"#),
    ])
    func `what is not such a report is refused`(part: String, other: String) {
        let text = part.isEmpty ? "" : Self.flashed.replacing(part, with: other)
        #expect(throws: (any Error).self) { try slots(text) }
    }
}
