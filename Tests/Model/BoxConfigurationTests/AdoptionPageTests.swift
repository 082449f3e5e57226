import Foundation
import Testing

@testable import BoxConfiguration

/// docs/guide/first-boot.md is what a newcomer copies from.
struct AdoptionPageTests {
    private static func page() throws -> String {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        return String(decoding: try Data(contentsOf: root.appending(path: "docs/guide/first-boot.md")), as: UTF8.self)
    }

    @Test func `its example is taken as it is`() throws {
        let page = try Self.page()
        let begin = try #require(page.firstRange(of: "```toml\n"))
        let end = try #require(page[begin.upperBound...].firstRange(of: "```"))
        let (file, issues) = AdoptionFile.read(Array(page[begin.upperBound..<end.lowerBound].utf8))
        #expect(issues == [])
        #expect(file?.secrets.count == 3)
        #expect(file?.ethernet != nil && file?.wireless != nil && file?.administratorKeys?.count == 1)
    }

    @Test func `it names every key that only such a file has, and no other`() throws {
        let page = try Self.page()
        let places = ClearSecretKey.all.map { key in
            (KeyTable.object(key.table)?.title ?? "") + ".\(key.name)"
        }
        let authorities = KeyTable.objects.filter { $0.key(AdoptionAuthority.reference) != nil }.map {
            "\($0.title).\(AdoptionAuthority.name)"
        }
        #expect(authorities.count == 3)
        let network =
            ["address", "gateway", "dns"].map { "network.ethernet.\($0)" }
            + ["ssid", "password", "country", "hidden"].map { "network.wifi.\($0)" }
        for names in [["name", "admin_keys"], network, places, authorities] {
            for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
        }
        var reading = Reading()
        var ethernet = NetworkTable(object: "", place: Place(), nodes: [:])
        _ = ethernet.ethernet(&reading)
        var wireless = NetworkTable(object: "", place: Place(), nodes: [:])
        _ = wireless.wireless(&reading)
        #expect(
            ethernet.known.map { "network.ethernet.\($0)" } + wireless.known.map { "network.wifi.\($0)" } == network)
    }
}
