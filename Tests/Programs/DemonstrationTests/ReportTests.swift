import Demonstration
import Foundation
import Testing

struct ReportTests {
    @Test(arguments: [
        (0.0, 2, "0.00"), (1.005, 1, "1.0"), (12.345, 2, "12.35"), (-0.4, 0, "0"), (-1.25, 1, "-1.3"),
        (1999.9, 0, "2000"),
    ])
    func `numbers have a fixed count of decimals`(value: Double, decimals: Int, text: String) {
        #expect(fixed(value, decimals) == text)
    }

    @Test func `names from outside cannot become markup`() {
        var report = Report(comparison: Comparison(camera: [], viewer: []))
        report.source = "<img onerror=\"x\">&"
        #expect(report.page.contains("&lt;img onerror=&quot;x&quot;&gt;&amp;"))
        #expect(!report.page.contains("<img onerror"))
    }

    @Test func `a report without frames is not good`() {
        #expect(!Report(comparison: Comparison(camera: [], viewer: [])).isGood)
    }

    /// Figures that make labels of every length: `0.25 ms` to `200000 kB`.
    @Test(arguments: [0.0004, 0.9, 3.7, 38, 900, 180_000])
    func `no label of an axis leaves the frame`(top: Double) throws {
        let points = (0...120).map { Plot.Point(x: Double($0) / 10, y: top, isMarked: false) }
        let svg = Plot(points: points, unit: "kB").svg
        let box = try #require(svg.firstMatch(of: /viewBox="0 0 (\d+) (\d+)"/))
        let (width, height) = (try #require(Double(box.1)), try #require(Double(box.2)))
        let labels = svg.matches(of: /<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)">([^<]+)</)
        #expect(labels.count == 5 + 13)
        for label in labels {
            let (x, y) = (try #require(Double(label.1)), try #require(Double(label.2)))
            // 11 pixels, of which a letter takes not more than this.
            let length = Double(label.4.count) * 7
            let left = label.3 == "end" ? x - length : x - length / 2
            #expect(left >= 0, "\(label.4) begins at \(left)")
            #expect(left + length <= width && y <= height && y >= 8, "\(label.4)")
        }
    }

    @Test func `a plot marks each point once and survives one point and none`() {
        let points: [Plot.Point] = [.init(x: 0, y: 1, isMarked: true), .init(x: 1, y: 3, isMarked: false)]
        let svg = Plot(points: points, unit: "ms").svg
        #expect(svg.components(separatedBy: "<circle").count == 3)
        #expect(svg.components(separatedBy: "class=\"keydot\"").count == 2)
        #expect(Plot(points: Array(points.prefix(1)), unit: "ms").svg.hasPrefix("<svg"))
        #expect(Plot(points: [], unit: "ms").svg == "<p>nothing was measured</p>")
    }
}
