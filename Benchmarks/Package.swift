// swift-tools-version: 6.2
import PackageDescription

// A package of its own: whoever builds WatchBox does not build the benchmark library.

let package = Package(
    name: "watchbox-benchmarks",
    dependencies: [
        .package(name: "watchbox", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "FramePathBenchmarks",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "FramePath", package: "watchbox"),
            ],
            path: "Benchmarks/FramePath",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        // For Tests/Rigs/bench/run: figures to hold against `openssl speed`.
        .executableTarget(
            name: "SealingRate",
            dependencies: [
                .product(name: "FramePath", package: "watchbox"), .product(name: "ArchivePath", package: "watchbox"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
