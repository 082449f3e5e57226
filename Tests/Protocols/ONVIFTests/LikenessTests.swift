import ONVIF
import Testing

@Suite struct LikenessTests {
    private static let endpoint = "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3"
    private static let front = DeviceIdentity(endpoint: endpoint, serial: "S1", mac: "44:19:b6:a1:c2:d3")

    @Test(arguments: [
        DeviceIdentity(endpoint: endpoint), DeviceIdentity(serial: "S1"), DeviceIdentity(mac: "44-19-B6-A1-C2-D3"),
        // After a factory reset there is another endpoint reference.
        DeviceIdentity(endpoint: "urn:uuid:other", serial: "S1"),
        // On its other interface.
        DeviceIdentity(endpoint: endpoint, mac: "44:19:b6:a1:c2:ff"),
    ]) func `any part of its identity says that it is the camera`(seen: DeviceIdentity) {
        #expect(Self.front.trait(sharedWith: seen) != nil && seen.trait(sharedWith: Self.front) != nil)
    }

    @Test(arguments: [
        DeviceIdentity(), DeviceIdentity(serial: "S3"),
        // Cheap makers give the same serial number, or the same endpoint reference, to all.
        DeviceIdentity(serial: "S1", mac: "00:00:00:00:00:02"),
        DeviceIdentity(endpoint: endpoint, serial: "S3", mac: "00:00:00:00:00:02"),
        DeviceIdentity(serial: "S3", mac: "44:19:b6:a1:c2:d3"),
        DeviceIdentity(endpoint: "urn:uuid:other"),
    ]) func `what contradicts it is another camera`(seen: DeviceIdentity) {
        #expect(Self.front.trait(sharedWith: seen) == nil && seen.trait(sharedWith: Self.front) == nil)
        #expect(DeviceIdentity().trait(sharedWith: seen) == nil)
    }
}
