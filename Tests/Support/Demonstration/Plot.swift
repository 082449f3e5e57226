/// A scatter of points over time, as inline SVG.
package struct Plot {
    package struct Point {
        /// Seconds.
        package var x: Double
        package var y: Double
        package var isMarked: Bool

        package init(x: Double, y: Double, isMarked: Bool) {
            self.x = x
            self.y = y
            self.isMarked = isMarked
        }
    }

    package var points: [Point]
    package var unit: String

    package init(points: [Point], unit: String) {
        self.points = points
        self.unit = unit
    }

    private let width = 900.0
    private let height = 220.0
    /// Right of the plot: half of the last time's label.
    private let rightMargin = 24.0
    /// Of a letter in the page's 11 pixels, generously: what is cut off is worse than a gap.
    package static let letterWidth = 7.0

    package var svg: String {
        guard let last = points.map(\.x).max(), let first = points.map(\.x).min(), let top = points.map(\.y).max()
        else { return "<p>nothing was measured</p>" }
        let span = max(last - first, 0.001)
        let ceiling = Self.roundedUp(top)
        let steps = (0...4).map { ceiling * Double($0) / 4 }
        // As wide as the widest label.
        let margin = Double(steps.map { label($0, ceiling).count }.max() ?? 0) * Self.letterWidth + 8
        func across(_ x: Double) -> Double { margin + (x - first) / span * (width - margin - rightMargin) }
        func down(_ y: Double) -> Double { height - 24 - y / ceiling * (height - 40) }
        var parts = [
            "<svg viewBox=\"0 0 \(fixed(width, 0)) \(fixed(height, 0))\" role=\"img\">"
        ]
        for value in steps {
            let y = fixed(down(value), 1)
            parts.append(
                "<line class=\"axis\" x1=\"\(fixed(margin, 0))\" x2=\"\(fixed(width - rightMargin, 0))\" y1=\"\(y)\" y2=\"\(y)\"/>"
            )
            parts.append(
                "<text x=\"\(fixed(margin - 6, 0))\" y=\"\(fixed(down(value) + 4, 1))\" text-anchor=\"end\">\(label(value, ceiling))</text>"
            )
        }
        for second in Int(first.rounded(.up))...max(Int(first.rounded(.up)), Int(last)) {
            parts.append(
                "<text x=\"\(fixed(across(Double(second)), 1))\" y=\"\(fixed(height - 6, 0))\" text-anchor=\"middle\">\(second) s</text>"
            )
        }
        for point in points {
            let kind = point.isMarked ? "keydot" : "dot"
            let radius = point.isMarked ? "3" : "1.8"
            parts.append(
                "<circle class=\"\(kind)\" cx=\"\(fixed(across(point.x), 1))\" cy=\"\(fixed(down(point.y), 1))\" r=\"\(radius)\"/>"
            )
        }
        return parts.joined() + "</svg>"
    }

    private func label(_ value: Double, _ ceiling: Double) -> String {
        fixed(value, ceiling < 4 ? 2 : ceiling < 40 ? 1 : 0) + " " + unit
    }

    /// To 1, 2 or 5 times a power of ten.
    private static func roundedUp(_ value: Double) -> Double {
        guard value > 0 else { return 1 }
        var scale = 1.0
        while scale * 10 <= value { scale *= 10 }
        while scale > value { scale /= 10 }
        return [1, 2, 5, 10].map { $0 * scale }.first { $0 >= value } ?? value
    }
}
