import Foundation

extension Report {
    /// The report as plain text, for a terminal and `report.txt`.
    package var text: String {
        let width = figures.map(\.label.count).max() ?? 0
        let lines = figures.map { label, value in
            "  " + label.padding(toLength: width + 2, withPad: " ", startingAt: 0) + value
        }
        let verdict = isGood ? "OK: everything is exact, and the relay saw nothing." : "NOT EXACT: see the lines above."
        return (["WatchBox demo, \(seconds) s"] + lines + [verdict]).joined(separator: "\n") + "\n"
    }

    /// The report as one page that needs nothing else.
    package var page: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><title>WatchBox demo</title>
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <style>
        :root { color-scheme: light dark; --ink: #17202a; --paper: #fbfaf7; --soft: #6b7680; --line: #d9d6cf;
          --good: #1b7f4b; --bad: #b3261e; --mark: #2563ab; --key: #d9822b; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --paper: #14181c; --soft: #97a1ab;
          --line: #2f363d; --good: #58c48a; --bad: #ff8a80; --mark: #6fa8e0; --key: #f0a95b; } }
        body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
          max-width: 70rem; margin: 2rem auto; padding: 0 1.25rem; }
        h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem }
        .verdict { font-weight: 600; color: var(\(isGood ? "--good" : "--bad")) }
        .views { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1.25rem }
        figure { margin: 0 } img { width: 100%; display: block; border: 1px solid var(--line) }
        img.noise { image-rendering: pixelated }
        figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem }
        table { border-collapse: collapse; width: 100% }
        td { border-bottom: 1px solid var(--line); padding: .35rem .5rem; vertical-align: top }
        td:first-child { color: var(--soft); white-space: nowrap; width: 1% ; padding-right: 2rem }
        svg { width: 100%; height: auto; display: block } svg text { fill: var(--soft); font-size: 11px }
        .axis { stroke: var(--line) } .dot { fill: var(--mark) } .keydot { fill: var(--key) }
        </style></head><body>
        <h1>WatchBox demo</h1>
        <p class="verdict">\(isGood
            ? "Every frame arrived exactly as it left the encoder, and the relay could see none of them."
            : "Something was not exact: see the figures.")</p>
        <div class="views">
        <figure><img class="noise" alt="noise" src="\(dataURI(relay.frame))"><figcaption><b>What the relay sees.</b>
        One pixel for each byte of the first key frame, as the relay holds it. \(escaped(relay.verdict))</figcaption></figure>
        <figure><img alt="the frame" src="\(dataURI(viewerFrame))"><figcaption><b>What the viewer sees</b>,
        with the key that the key access server gave to it.</figcaption></figure>
        </div>
        <h2>Figures</h2>
        <table>\(figures.map { "<tr><td>\(escaped($0.label))</td><td>\(escaped($0.value))</td></tr>" }.joined())</table>
        <h2>Latency of each frame, capture to opened, in ms</h2>
        \(Plot(
            points: comparison.latencies.map { .init(x: Double($0.dts) / 1000, y: $0.milliseconds, isMarked: false) },
            unit: "ms"
        ).svg)
        <h2>Size of each frame before sealing, in kB <span style="color:var(--key)">● key frame</span></h2>
        \(Plot(
            points: camera.filter { $0.track == "video" }.map {
                .init(x: Double($0.dts) / 1000, y: Double($0.bytes) / 1000, isMarked: $0.key)
            },
            unit: "kB"
        ).svg)
        <p style="color:var(--soft)">\(escaped(versions))</p>
        </body></html>

        """
    }

    private func dataURI(_ png: [UInt8]) -> String {
        "data:image/png;base64," + Data(png).base64EncodedString()
    }
}

/// For text between tags and in attributes.
package func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
        .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
}
