import Foundation
import Settings
import Testing

@testable import CameraStore

@Suite struct CameraTests {
    @Test func `a camera comes back as it was added`() throws {
        try withStore { store in
            var camera = everything.camera
            camera.revision = 99
            try store.add(camera, profiles: everything.profiles)
            camera.revision = 1
            #expect(try store.camera("front-door") == camera)
            #expect(try store.cameras() == [camera])
            #expect(try store.profiles(of: "front-door") == everything.profiles)
            #expect(try store.camera("garage") == nil)
            #expect(try store.profiles(of: "garage") == [])
        }
    }

    @Test func `an ID and a UUID are given once`() throws {
        try withStore { store in
            try store.add(everything.camera)
            #expect(throws: CameraStoreError.exists("front-door")) { try store.add(sample("front-door")) }
            var other = sample("garage")
            other.uuid = everything.camera.uuid
            #expect(throws: CameraStoreError.invalid(field: "uuid", why: "camera front-door has it")) {
                try store.add(other)
            }
            #expect(try store.cameras().count == 1)
        }
    }

    @Test func `a camera that cannot be added leaves nothing`() throws {
        try withStore { (store) throws in
            #expect(throws: CameraStoreError.self) {
                try store.add(sample("front"), profiles: [profile("a", of: "front"), profile("a", of: "front")])
            }
            #expect(throws: CameraStoreError.self) {
                try store.add(sample("front"), profiles: [profile("a", of: "garage")])
            }
            #expect(try store.cameras() == [])
        }
    }

    @Test func `two writers do not overwrite each other`() throws {
        try withStore { store in
            try store.add(sample("front"))
            var one = try #require(try store.camera("front"))
            var other = one
            one.name = "One"
            #expect(try store.update(one, ifRevision: 1).revision == 2)
            other.name = "Other"
            let error = try #require(throws: CameraStoreError.self) { try store.update(other, ifRevision: 1) }
            #expect(error == .conflict("camera front", current: 2))
            #expect("\(error)".contains("revision 2"))
            #expect(try store.camera("front")?.name == "One")
            #expect(try store.update(other).revision == 3)
        }
    }

    @Test func `an update keeps what belongs to the store, and none that changes nothing counts`() throws {
        try withStore { store in
            try store.add(sample("front"))
            let added = try #require(try store.camera("front"))
            try store.setConnected("front", at: 1_763_700_000)
            var stale = added
            stale.uuid = Camera.makeUUID()
            stale.added = 5
            #expect(try store.update(stale).revision == 1)
            stale.identity.mac = "44-19-B6-A1-C2-D3"
            let stored = try store.update(stale)
            #expect(stored.uuid == added.uuid && stored.added == added.added)
            #expect(stored.lastConnected == 1_763_700_000)
            #expect(stored.identity.mac == "44:19:b6:a1:c2:d3" && stored.revision == 2)
            #expect(try store.camera("front") == stored)
            #expect(try store.update(stored) == stored)
        }
    }

    @Test func `what is not there is named`() throws {
        try withStore { (store) throws in
            let missing = CameraStoreError.noSuchCamera("front")
            #expect(throws: missing) { try store.update(sample("front")) }
            #expect(throws: missing) { try store.setConnected("front", at: 5) }
            #expect(throws: missing) { try store.setProfiles([], of: "front") }
            #expect(throws: missing) { try store.setThumbnail(nil, of: "front") }
            #expect(try !store.remove("front"))
        }
    }

    @Test func `a removed camera takes its profiles and its picture along`() throws {
        try withStore { store in
            try store.add(sample("front"), profiles: [profile("a", of: "front")])
            try store.setThumbnail([0xff, 0xd8, 0xff, 0], of: "front")
            #expect(try store.remove("front"))
            try store.add(sample("front"))
            #expect(try store.profiles(of: "front") == [])
            #expect(try store.thumbnail(of: "front") == nil)
        }
    }

    @Test func `a camera that gets another ID is the same camera, with all that is known of it`() throws {
        try withStore { store in
            try store.add(everything.camera, profiles: everything.profiles)
            try store.add(sample("garage"))
            try store.setConnected("front-door", at: 1_763_700_001)
            let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0]
            try store.setThumbnail(jpeg, of: "front-door", taken: 5)
            let known = try #require(try store.camera("front-door"))
            var renamed = known
            renamed.id = "porch"
            renamed.name = "Porch"
            #expect(throws: CameraStoreError.conflict("camera front-door", current: 1)) {
                try store.rename("front-door", to: renamed, ifRevision: 2)
            }
            let stored = try store.rename("front-door", to: renamed, ifRevision: 1)
            renamed.revision = 2
            #expect(stored == renamed)
            #expect(try store.camera("porch") == renamed)
            #expect(try store.camera("front-door") == nil)
            let profiles = try store.profiles(of: "porch")
            #expect(profiles.map(\.id) == everything.profiles.map(\.id))
            #expect(profiles.allSatisfy { $0.camera == "porch" })
            #expect(try store.thumbnail(of: "porch") == jpeg)
            #expect(try store.thumbnailTaken(of: "porch") == 5)
            // The former ID has nothing of it.
            try store.add(sample("front-door"))
            #expect(try store.profiles(of: "front-door") == [])
            #expect(try store.thumbnail(of: "front-door") == nil)

            var other = renamed
            other.id = "garage"
            #expect(throws: CameraStoreError.exists("garage")) { try store.rename("porch", to: other) }
            other.id = "Garage"
            #expect(throws: CameraStoreError.self) { try store.rename("porch", to: other) }
            other.id = "new"
            #expect(throws: CameraStoreError.noSuchCamera("shed")) { try store.rename("shed", to: other) }
            #expect(try store.cameras().map(\.id).sorted() == ["front-door", "garage", "porch"])
            // The same name is a change all the same: somebody may have the former one in hand.
            other = try #require(try store.camera("garage"))
            other.id = "shed"
            #expect(try store.rename("garage", to: other).revision == 2)
        }
    }

    @Test func `the grid has an order, and every camera is in it`() throws {
        try withStore { store in
            for id in ["c", "a", "b"] { try store.add(sample(id)) }
            #expect(try store.cameras().map(\.id) == ["a", "b", "c"])
            try store.reorder(["b", "c", "a"])
            #expect(try store.cameras().map(\.id) == ["b", "c", "a"])
            #expect(try store.cameras().map(\.gridPosition) == [0, 1, 2])
            #expect(try store.cameras().map(\.revision) == [1, 2, 2])
            for wrong in [[], ["a", "b"], ["a", "b", "b"], ["a", "b", "x"], ["a", "b", "c", "c"]] {
                #expect(throws: CameraStoreError.self) { try store.reorder(wrong) }
            }
            #expect(try store.cameras().map(\.id) == ["b", "c", "a"])
        }
    }

    @Test func `profiles are a change of the camera`() throws {
        try withStore { store in
            try store.add(sample("front"))
            let profiles = [profile("b", of: "front"), profile("a", of: "front", isDefault: true)]
            try store.setProfiles(profiles, of: "front")
            try store.setProfiles(profiles, of: "front")
            #expect(try store.profiles(of: "front") == profiles)
            #expect(try store.camera("front")?.revision == 2)
            #expect(throws: CameraStoreError.self) {
                try store.setProfiles(profiles.map { profile($0.id, of: "front", isDefault: true) }, of: "front")
            }
            let many = (0...CameraStore.profileLimit).map { profile("\($0)", of: "front") }
            #expect(throws: CameraStoreError.tooMany("profiles of camera front", limit: 16)) {
                try store.setProfiles(many, of: "front")
            }
            #expect(try store.profiles(of: "front") == profiles)
        }
    }

    @Test func `a thumbnail is a small JPEG`() throws {
        try withStore { store in
            try store.add(sample("front"))
            let jpeg = [0xff, 0xd8, 0xff] + [UInt8](repeating: 1, count: CameraStore.thumbnailLimit - 3)
            try store.setThumbnail(jpeg, of: "front")
            #expect(try store.thumbnail(of: "front") == jpeg)
            #expect(throws: CameraStoreError.self) { try store.setThumbnail(jpeg + [1], of: "front") }
            #expect(throws: CameraStoreError.self) { try store.setThumbnail(Array("<svg>".utf8), of: "front") }
            #expect(throws: CameraStoreError.self) { try store.setThumbnail([], of: "front") }
            #expect(try store.thumbnail(of: "front") == jpeg)
            try store.setThumbnail(nil, of: "front")
            #expect(try store.thumbnail(of: "front") == nil)
            #expect(try store.camera("front")?.revision == 1)
        }
    }

    @Test func `there is an end to the number of cameras`() throws {
        try withStore { store in
            for number in 0..<CameraStore.cameraLimit { try store.add(sample("c\(number)")) }
            #expect(throws: CameraStoreError.tooMany("cameras", limit: 256)) { try store.add(sample("one-more")) }
        }
    }

    @Test func `settings are bare values in JSON`() throws {
        let settings: [String: SettingValue] = [
            "a": .string("x"), "b": .integer(5), "c": .real(2.5), "d": .boolean(true), "e": .strings(["x"]),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(settings)
        #expect(String(decoding: json, as: UTF8.self) == #"{"a":"x","b":5,"c":2.5,"d":true,"e":["x"]}"#)
        #expect(try JSONDecoder().decode([String: SettingValue].self, from: json) == settings)
        #expect(SettingValue.integer(25) == .real(25) && SettingValue.real(25.5) != .integer(25))
        #expect(SettingValue.integer(1) != .boolean(true) && SettingValue.string("1") != .integer(1))
        for wrong in [#"{"a":null}"#, #"{"a":[1]}"#, #"{"a":{"b":1}}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([String: SettingValue].self, from: Data(wrong.utf8))
            }
        }
    }
}
