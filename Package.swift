// swift-tools-version: 6.2
import PackageDescription

// Layers, lowest first, and folders by purpose: docs/design/0001-layers.md; Tests/Rigs/check-layers checks.

let common: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let nio = "swift-nio"
let nioCore = Target.Dependency.product(name: "NIOCore", package: nio)
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: nio)
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: nio)
let nioLocks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: nio)
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: nio)
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// Folders by purpose: a target imports only from its own and from those before it. `Tests` has the same without `C`, and
/// `Support` for what tests share.
let folders = [
    ("C", "CALSA CAVCodec CCurl COpenSSL CProgram CSQLite CSandbox CSystemd CV4L2 CXML2 CZlib"),
    (
        "Protocols",
        "AMF0 CommonEncryption ErrorCatalog FLV HTTPVideo KeyAccess Media NanoTDF ONVIF PrometheusText RTMP RTP RTSP Redaction TDF TOML UplinkRate Wire"
    ),
    (
        "System",
        "Compression CredentialStore Cryptography Database HTTPClient NanoTDFCryptography Platform Systemd TDFCryptography XMLReader"
    ),
    ("Model", "BoxConfiguration BoxMemory BoxReadings CameraModel ControlAPI Settings"),
    ("Network", "APIServer ConnectionAcceptance ControlClient Discovery KeyAccessClient ONVIFClient RTMPTransport"),
    ("Media", "AudioCapture DeviceSource MediaFile RTSPIngest VideoCapture VideoCodec"),
    (
        "Services",
        "Archive CameraPipeline CameraUnit ControlPlane Doctor HealthMonitor Hooks KeyAccessServer Player Recording Relay RelayProbe SystemUpdate"
    ),
    ("Programs", "BoxCommands BoxView Console watchboxctl watchboxd"),
]

/// Where tests are that no target of Sources is named after.
let testPaths = ["Demonstration": "Tests/Programs/DemonstrationTests", "EndToEnd": "Tests/Programs/EndToEndTests"]

func path(_ target: String, in root: String = "Sources", suffix: String = "") -> String {
    guard let folder = folders.first(where: { $0.1.split(separator: " ").contains(Substring(target)) })?.0 else {
        fatalError("\(target) is in none of the folders")
    }
    return "\(root)/\(folder)/\(target)\(suffix)"
}

/// Layer 0: a module map and a shim, nothing else.
func systemLibrary(_ name: String, pkgConfig: String?, debian: String) -> Target {
    .systemLibrary(name: name, path: path(name), pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// Layer 1: bytes in, values and actions out; no sockets, clocks, Foundation or NIO.
func protocolCore(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path(name), swiftSettings: common + [.strictMemorySafety()])
}

/// Layers 2 and 3: drivers own one outside thing each; services compose them.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: path(name), swiftSettings: common)
}

/// Released programs are position-independent; packed relocations (glibc 2.36, Debian 12) save 3 MB of memory in each
/// process, and the symbols that only a debugger wants are not exported.
let releaseLinking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--no-export-dynamic",
            "-Xlinker", "--gc-sections",
        ], .when(configuration: .release))
]

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path(name), swiftSettings: common, linkerSettings: releaseLinking)
}

/// Their own code stays as it is written where what they test is optimised, as in `make test`: that costs the compiler less.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], fixtures: Bool = false, linking: [LinkerSetting]? = nil
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"],
        path: testPaths[name] ?? path(name, in: "Tests", suffix: "Tests"), exclude: fixtures ? ["Fixtures"] : [],
        swiftSettings: common + [.unsafeFlags(["-Onone"], .when(configuration: .release))], linkerSettings: linking)
}

let package = Package(
    name: "watchbox",
    products: [
        .executable(name: "watchboxd", targets: ["watchboxd"]),
        .executable(name: "watchboxctl", targets: ["watchboxctl"]),
        // For Benchmarks/, a package of its own, so that a build of the product does not build the benchmark library.
        .library(name: "FramePath", targets: ["Wire", "RTMP", "NanoTDF", "Cryptography", "NanoTDFCryptography"]),
        // For Benchmarks/, too: what recordings are written with.
        .library(name: "ArchivePath", targets: ["Archive", "TDF"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // 0: C modules
        systemLibrary("COpenSSL", pkgConfig: "openssl", debian: "libssl-dev"),
        // Loaded on first use, never linked (docs/design/0002): so no pkg-config, whose flags would link it.
        systemLibrary("CCurl", pkgConfig: nil, debian: "libcurl4-openssl-dev"),
        systemLibrary("CZlib", pkgConfig: "zlib", debian: "zlib1g-dev"),
        .target(name: "CAVCodec", path: path("CAVCodec"), linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CSandbox", path: path("CSandbox")),
        .target(name: "CProgram", path: path("CProgram")),
        systemLibrary("CSQLite", pkgConfig: nil, debian: "libsqlite3-dev"),
        systemLibrary("CSystemd", pkgConfig: nil, debian: "libsystemd-dev"),
        // The kernel's own header, and libv4lconvert, loaded when a camera speaks a format that needs it.
        systemLibrary("CV4L2", pkgConfig: nil, debian: "libv4l-dev"),
        systemLibrary("CALSA", pkgConfig: nil, debian: "libasound2-dev"),
        // Its headers are not on the compiler's own path, and the library is loaded on first use: it brings ICU.
        .target(
            name: "CXML2", path: path("CXML2"), cSettings: [.unsafeFlags(["-iwithsysroot", "/usr/include/libxml2"])],
            linkerSettings: [.linkedLibrary("dl")]
        ),

        // 1: protocols, no I/O
        protocolCore("Wire"),
        protocolCore("Media", ["Wire"]),
        protocolCore("AMF0", ["Wire"]),
        protocolCore("CommonEncryption", ["Wire", "Media"]),
        protocolCore("FLV", ["Wire", "Media", "AMF0"]),
        protocolCore("RTMP", ["Wire", "AMF0"]),
        protocolCore("NanoTDF", ["Wire"]),
        protocolCore("KeyAccess", ["Wire"]),
        protocolCore("TDF", ["Wire", "NanoTDF", "KeyAccess"]),
        protocolCore("Settings", ["Wire", "KeyAccess", "ErrorCatalog"]),
        protocolCore("RTP", ["Wire", "Media"]),
        protocolCore("RTSP", ["Wire"]),
        protocolCore("HTTPVideo", ["RTSP"]),
        protocolCore("ONVIF", ["Wire"]),
        protocolCore("ErrorCatalog", ["Wire"]),
        protocolCore("Redaction"),
        protocolCore("TOML", ["Wire"]),
        protocolCore("PrometheusText"),
        protocolCore("UplinkRate"),

        // 2: drivers
        // What the others ask of the operating system: files, threads, clocks. The lowest of them.
        module("Platform", ["CSandbox"]),
        module("Cryptography", ["Wire", "COpenSSL"]),
        module("NanoTDFCryptography", ["COpenSSL", "Cryptography", "NanoTDF"]),
        module(
            "TDFCryptography", ["COpenSSL", "CommonEncryption", "Cryptography", "KeyAccess", "NanoTDF", "TDF", "Wire"]),
        module("Compression", ["CZlib"]),
        module("ConnectionAcceptance", [nioCore]),
        module("HTTPClient", ["Wire", "CCurl", "Cryptography", "Platform"]),
        module(
            "KeyAccessClient",
            ["Settings", "Wire", "NanoTDF", "KeyAccess", "Cryptography", "HTTPClient", "Platform", logging]),
        module(
            "RTMPTransport",
            [
                "ConnectionAcceptance", "Wire", "RTMP", "Cryptography", "Platform", nioCore, nioPosix, nioTLS, nioSSL,
            ]),
        module("VideoCodec", ["Wire", "Media", "CAVCodec", "CSandbox", "Platform"]),
        module("MediaFile", ["Wire", "Media", "FLV", "Platform", "VideoCodec", "CAVCodec"]),
        module("VideoCapture", ["Wire", "CSandbox", "CV4L2", "Platform"]),
        module("AudioCapture", ["Wire", "CALSA", "Platform"]),

        // What daemons, programs and tests share of cameras, configuration and the control API.
        module("CameraModel", ["Settings", "ErrorCatalog", "Media", "RTMP", "UplinkRate", "Wire"]),
        module(
            "DeviceSource",
            ["AudioCapture", "CameraModel", "ErrorCatalog", "Media", "Platform", "VideoCapture", "VideoCodec", logging]),
        module("XMLReader", ["CXML2", "ONVIF"]),
        module(
            "ONVIFClient",
            ["CameraModel", "Cryptography", "HTTPClient", "ONVIF", "Platform", "XMLReader", "Wire", logging]),
        module("Discovery", ["ONVIF", "Platform", "RTSP", "XMLReader", "Wire", logging]),
        module(
            "RTSPIngest",
            [
                "CameraModel", "Cryptography", "ErrorCatalog", "HTTPClient", "HTTPVideo", "Media", "ONVIF",
                "ONVIFClient", "Platform", "RTP", "RTSP", "VideoCodec", "Wire", logging,
            ]),
        module("ControlAPI", ["Wire", "CameraModel", "ErrorCatalog", "Settings"]),
        module(
            "BoxConfiguration",
            [
                "CameraModel", "ErrorCatalog", "Platform", "RTMP", "Settings", "TDFCryptography", "TOML", "Wire",
            ]),
        module("Systemd", ["Wire", "CSystemd", "Platform", logging]),
        // What HealthMonitor and Doctor both read of the box, and from when on it is bad.
        module("BoxReadings", ["ControlAPI", "Platform"]),
        module("Database", ["CSQLite", "Platform"]),
        module("BoxMemory", ["Wire", "Database", "ONVIF"]),
        module("CredentialStore", ["Wire", "Cryptography", "Platform", "Systemd"]),
        module("ControlClient", ["ControlAPI", "CProgram", "HTTPClient", "Platform", "Wire"]),
        module(
            "APIServer",
            [
                "ControlAPI", "ErrorCatalog", "Platform", "Wire",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"), nioCore, nioPosix, nioLocks, lifecycle,
                logging,
            ]),

        module(
            "Console",
            ["Settings", "Wire", "ErrorCatalog", "Platform", "Systemd", arguments, lifecycle, logging, signals]),

        // 3: services
        module(
            "Archive",
            [
                "CommonEncryption", "Compression", "ControlAPI", "Cryptography", "KeyAccess", "NanoTDF", "Platform",
                "TDF",
                "TDFCryptography", "Wire",
            ]),
        module(
            "CameraPipeline",
            [
                "Settings", "CameraModel", "DeviceSource", "ErrorCatalog", "Wire", "Media", "FLV", "RTMP", "NanoTDF",
                "NanoTDFCryptography", "Cryptography", "RTMPTransport", "RTSPIngest", "KeyAccessClient", "Platform",
                "UplinkRate", "VideoCapture", "VideoCodec", "MediaFile", nioCore, nioPosix, lifecycle, logging,
            ]),
        module(
            "CameraUnit",
            [
                "Settings", "Wire", "CameraModel", "ControlAPI", "ErrorCatalog", "Platform", "PrometheusText",
                "Systemd", lifecycle,
            ]),
        module(
            "ControlPlane",
            [
                "Wire", "BoxConfiguration", "BoxMemory", "CameraModel", "ControlAPI", "ControlClient",
                "CredentialStore", "Database", "Discovery", "ErrorCatalog", "KeyAccessClient", "Platform",
                "PrometheusText", "ONVIF", "RTSPIngest", "Settings", "Systemd", lifecycle, logging,
            ]),
        module(
            "HealthMonitor",
            [
                "BoxReadings", "CameraModel", "ControlAPI", "ControlClient", "Database", "ErrorCatalog", "Platform",
                "PrometheusText", "Systemd", lifecycle, logging,
            ]),
        module("BoxView", ["CameraModel", "ControlAPI", "ErrorCatalog", "Console", "Settings", "UplinkRate", "Wire"]),
        module(
            "Doctor",
            [
                "Wire", "BoxConfiguration", "BoxReadings", "CameraModel", "ControlAPI", "ControlClient",
                "CredentialStore", "Cryptography", "ErrorCatalog", "HTTPClient", "KeyAccessClient", "RTMP",
                "RTMPTransport", "Redaction", "RelayProbe", "Platform", "Settings", "Systemd", "VideoCapture",
            ]),
        module(
            "Hooks",
            [
                "Settings", "Wire", "CameraModel", "ControlAPI", "ControlClient", "ErrorCatalog", "HTTPClient",
                "Redaction", "Platform", lifecycle, logging,
            ]),
        module(
            "KeyAccessServer",
            [
                "ConnectionAcceptance", "Wire", "NanoTDF", "NanoTDFCryptography", "KeyAccess", "Cryptography",
                "Compression", "HTTPClient", "Platform", nioCore, nioHTTP1, nioLocks, nioPosix, nioSSL, lifecycle,
                logging,
            ]),
        module(
            "Player",
            [
                "Settings", "Wire", "Media", "FLV", "RTMP", "NanoTDF", "NanoTDFCryptography", "Cryptography",
                "RTMPTransport",
                "KeyAccess", "KeyAccessClient", "Platform", "VideoCodec", "MediaFile", nioCore, nioPosix, logging,
            ]),
        module(
            "Recording",
            [
                "Archive", "BoxReadings", "CameraModel", "CameraPipeline", "ControlAPI", "ErrorCatalog",
                "KeyAccessClient", "Media", "MediaFile", "NanoTDF", "Platform", "Settings", "TDF", "TDFCryptography",
                lifecycle, logging,
            ]),
        module(
            "Relay",
            [
                "ConnectionAcceptance", "Wire", "Platform", "PrometheusText", "FLV", "RTMP", "RTMPTransport", nioCore,
                nioHTTP1, nioPosix, lifecycle, logging,
            ]),

        module(
            "RelayProbe",
            ["Cryptography", "FLV", "Media", "NanoTDF", "NanoTDFCryptography", "RTMP", "RTMPTransport", nioCore]),
        module("SystemUpdate", ["ControlAPI", "Platform"]),

        // 4: programs
        module(
            "BoxCommands",
            [
                "Archive", "AudioCapture", "BoxConfiguration", "BoxReadings", "BoxView", "CameraModel", "ControlAPI",
                "ControlClient", "CredentialStore", "Cryptography", "Doctor", "ErrorCatalog", "HTTPClient", "Player",
                "Relay", "RelayProbe", "KeyAccess", "KeyAccessClient", "KeyAccessServer", "Media", "MediaFile",
                "NanoTDF", "RTMP", "RTMPTransport", "Platform", "Settings", "Systemd", "TDF", "TDFCryptography",
                "VideoCapture", "VideoCodec", "SystemUpdate", "Console", "Wire", arguments,
            ]),
        program(
            "watchboxd",
            [
                "Settings", "KeyAccess", "APIServer", "BoxCommands", "CProgram", "CameraModel", "CameraPipeline",
                "CameraUnit",
                "ControlAPI", "ControlClient",
                "ControlPlane", "CredentialStore", "Doctor", "ErrorCatalog", "HealthMonitor", "Hooks",
                "KeyAccessServer", "Recording", "Relay",
                "KeyAccessClient", "Platform", "RTMPTransport", "Systemd", "VideoCodec", "Wire", "Console", arguments,
                lifecycle, logging,
            ]),
        program("watchboxctl", ["BoxCommands"]),

        // What tests and rigs share.
        // What starts the programs as a person would, compares all that they did, and reports: for EndToEndTests and `make demo`.
        .target(
            name: "Demonstration", dependencies: ["Console", "FLV", "Media", "VideoCodec"],
            path: "Tests/Support/Demonstration", swiftSettings: common),
        .executableTarget(
            name: "watchbox-demo", dependencies: ["Demonstration", "Console", arguments],
            path: "Tests/Support/watchbox-demo", swiftSettings: common, linkerSettings: releaseLinking),
        // Killed while it writes, by BoxMemoryTests.
        .executableTarget(
            name: "MemoryWriter", dependencies: ["BoxMemory", "ONVIF"], path: "Tests/Support/MemoryWriter",
            swiftSettings: common),
        // Records archives; started and killed by ArchiveTests.
        .executableTarget(
            name: "ArchiveGrower", dependencies: ["Archive", "NanoTDF", "TDF"], path: "Tests/Support/ArchiveGrower",
            swiftSettings: common),
        // Run in the guest of Tests/Rigs/vm, where there are cameras and an encoder.
        .executableTarget(
            name: "DeviceCheck", dependencies: ["CV4L2", "Media", "VideoCapture", "VideoCodec"],
            path: "Tests/Support/DeviceCheck",
            swiftSettings: common),
        // A V4L2 device made of what it answers.
        .target(
            name: "ScriptedDevice", dependencies: ["CSandbox", "CV4L2", "VideoCapture"],
            path: "Tests/Support/ScriptedDevice",
            swiftSettings: common),
        // A camera on such a device, run by Tests/Rigs/bench.
        .executableTarget(
            name: "ScriptedCamera",
            dependencies: [
                "Settings", "CameraModel", "CameraPipeline", "DeviceSource", "ScriptedDevice", "VideoCapture",
                "VideoCodec", logging,
            ],
            path: "Tests/Support/ScriptedCamera", swiftSettings: common),
        // Run in the network namespaces of Tests/Rigs/discovery.
        .executableTarget(
            name: "DiscoveryCheck",
            dependencies: ["CameraModel", "Discovery", "ONVIF", "RTSPIngest", logging],
            path: "Tests/Support/DiscoveryCheck",
            swiftSettings: common),
        // A crowd of viewers for the KAS, run by Tests/Rigs/bench.
        .executableTarget(
            name: "KeyAccessLoad",
            dependencies: [
                "Settings", "Cryptography", "KeyAccess", "KeyAccessClient", "NanoTDF", "NanoTDFCryptography", "Wire",
            ],
            path: "Tests/Support/KeyAccessLoad", swiftSettings: common),
        // The OpenAPI documents of docs/ref, made from the routes; tests compare the two.
        .target(
            name: "OpenAPI", dependencies: ["CameraModel", "ControlAPI", "ErrorCatalog", "Settings", "UplinkRate"],
            path: "Tests/Support/OpenAPI",
            swiftSettings: common),
        .target(name: "TestSupport", path: "Tests/Support/TestSupport", swiftSettings: common),
        .target(
            name: "FLVTestSupport", dependencies: ["FLV", "Media"], path: "Tests/Support/FLVTestSupport",
            swiftSettings: common),
        .target(
            name: "ChannelTestSupport", dependencies: [nioCore, nioPosix, nioLocks],
            path: "Tests/Support/ChannelTestSupport",
            swiftSettings: common),
        // Tests mirror the targets; EndToEndTests starts the programs.
        tests("Wire", ["Wire"]),
        tests("Media", ["Media", "Wire"], fixtures: true),
        tests("AMF0", ["AMF0", "Wire"]),
        tests("CommonEncryption", ["CommonEncryption", "Cryptography", "Media", "MediaFile", "TDFCryptography"]),
        tests("FLV", ["FLV", "FLVTestSupport", "AMF0", "Media", "Wire"], fixtures: true),
        tests("RTMP", ["RTMP", "AMF0", "Wire"], fixtures: true),
        tests("NanoTDF", ["NanoTDF", "NanoTDFCryptography", "Cryptography", "Wire"], fixtures: true),
        tests("KeyAccess", ["KeyAccess", "Wire"], fixtures: true),
        tests("TDF", ["TDF", "TDFCryptography", "Cryptography", "KeyAccess", "NanoTDF", "Wire"]),
        tests(
            "Archive",
            [
                "Archive", "ArchiveGrower", "Compression", "ControlAPI", "Cryptography", "KeyAccess", "NanoTDF",
                "Platform", "TDF",
                "TDFCryptography", "Wire",
            ]),
        tests(
            "Recording",
            [
                "Archive", "CameraModel", "CameraPipeline", "ControlAPI", "Cryptography", "ErrorCatalog",
                "KeyAccessClient", "Media", "MediaFile", "NanoTDF", "Platform", "Recording", "TDF", "TDFCryptography",
                "VideoCodec", lifecycle,
            ]),
        tests("Compression", ["Compression"]),
        tests("Cryptography", ["Cryptography", "NanoTDF", "Wire"], fixtures: true),
        tests(
            "HTTPClient", ["HTTPClient", "Cryptography"],
            // For a name look-up that hangs: libcurl then finds the test's.
            linking: [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getaddrinfo"])]),
        tests(
            "KeyAccessClient",
            [
                "Settings", "KeyAccessClient", "KeyAccess", "HTTPClient", "Cryptography", "NanoTDF",
                "NanoTDFCryptography", "Wire",
            ]),
        tests(
            "RTMPTransport",
            ["AMF0", "ChannelTestSupport", "RTMPTransport", "RTMP", "Wire", nioCore, nioPosix, nioLocks],
            fixtures: true),
        tests("VideoCodec", ["CAVCodec", "VideoCodec", "Media", "Platform"]),
        tests("VideoCapture", ["VideoCapture", "ScriptedDevice", "CV4L2"]),
        tests("AudioCapture", ["AudioCapture", "VideoCodec", "Media"]),
        tests(
            "DeviceSource",
            [
                "CAVCodec", "DeviceSource", "CameraModel", "CV4L2", "ErrorCatalog", "Media", "ScriptedDevice",
                "VideoCapture", "VideoCodec", logging,
            ]),
        tests("MediaFile", ["MediaFile", "VideoCodec", "FLV", "FLVTestSupport", "Media", "Wire"]),
        tests(
            "CameraPipeline",
            [
                "Settings", "CameraModel", "CameraPipeline", "ErrorCatalog", "RTMPTransport", "RTMP", "FLV",
                "Media", "NanoTDF", "NanoTDFCryptography", "Cryptography", "UplinkRate", "VideoCodec", "Wire", nioCore,
                nioPosix, logging,
            ], fixtures: true),
        tests("RTP", ["RTP", "Media", "Wire"], fixtures: true),
        tests("RTSP", ["RTSP", "Cryptography", "Wire"], fixtures: true),
        tests("HTTPVideo", ["HTTPVideo", "RTSP"]),
        tests("ONVIF", ["ONVIF", "Cryptography", "XMLReader"], fixtures: true),
        tests("XMLReader", ["XMLReader", "ONVIF"]),
        tests("SystemUpdate", ["SystemUpdate", "Platform"]),
        tests("RelayProbe", ["RelayProbe", "FLV", "RTMP", "RTMPTransport", nioCore]),
        tests("ONVIFClient", ["ONVIFClient", "CameraModel", "ONVIF", "HTTPClient", "Platform", logging]),
        tests("Discovery", ["Discovery", "ONVIF", "Platform", "Wire", logging]),
        tests(
            "RTSPIngest",
            [
                "RTSPIngest", "CameraModel", "ErrorCatalog", "HTTPClient", "Media", "ONVIF", "ONVIFClient",
                "Platform", "RTP", "RTSP", "VideoCodec", logging,
            ]),
        tests("ErrorCatalog", ["ErrorCatalog"]),
        tests("Redaction", ["Redaction"]),
        tests(
            "Hooks",
            ["Hooks", "APIServer", "ControlAPI", "ErrorCatalog", lifecycle, logging]),
        tests("TOML", ["TOML"]),
        tests("CameraModel", ["Settings", "RTMP", "ErrorCatalog", "CameraModel"]),
        tests("ControlAPI", ["ControlAPI", "CameraModel", "ErrorCatalog", "OpenAPI"]),
        tests("PrometheusText", ["PrometheusText"]),
        tests("UplinkRate", ["UplinkRate"]),
        tests(
            "BoxConfiguration",
            [
                "BoxConfiguration", "CameraModel", "Cryptography", "ErrorCatalog", "Settings", "TDFCryptography",
                "TOML",
                "Wire",
            ]),
        tests("Platform", ["Platform"]),
        tests("Systemd", ["Systemd", logging]),
        tests("Database", ["CSQLite", "Database"]),
        tests("BoxMemory", ["BoxMemory", "Database", "MemoryWriter", "ONVIF", "Settings"], fixtures: true),
        tests("CredentialStore", ["CredentialStore", "Platform", "Systemd"]),
        tests(
            "APIServer",
            [
                "APIServer", "ControlAPI", "ControlClient", "ErrorCatalog", "HTTPClient", "PrometheusText", lifecycle,
                logging,
            ]),
        tests(
            "ControlPlane",
            [
                "ControlPlane", "BoxConfiguration", "BoxMemory", "CameraModel", "ControlAPI", "CredentialStore",
                "Cryptography", "Database", "Discovery", "ErrorCatalog", "KeyAccess", "KeyAccessClient",
                "KeyAccessServer", "ONVIF",
                "OpenAPI", "Settings", "Systemd", "Wire", logging,
            ], fixtures: true),
        tests(
            "HealthMonitor",
            [
                "HealthMonitor", "BoxReadings", "CameraModel", "ControlAPI", "Database", "ErrorCatalog", "Platform",
                "PrometheusText", "Systemd", logging,
            ]),
        tests(
            "CameraUnit",
            [
                "Settings", "CameraUnit", "CameraModel", "ControlAPI", "ErrorCatalog", "OpenAPI",
                "PrometheusText", "Systemd", "UplinkRate", logging,
            ]),
        tests(
            "BoxCommands",
            [
                "APIServer", "Archive", "BoxCommands", "BoxConfiguration", "BoxView", "Console", "ControlAPI",
                "ControlClient", "ControlPlane", "CredentialStore", "Cryptography", "KeyAccess", "Media", "MediaFile",
                "NanoTDF", "Settings", "Systemd", "TDF", "TDFCryptography", "VideoCodec", "watchboxctl", "Wire",
                arguments,
                lifecycle, logging,
            ]),
        tests(
            "BoxView",
            [
                "BoxConfiguration", "BoxView", "CameraModel", "ControlAPI", "ErrorCatalog", "Console", "Settings",
                "UplinkRate",
            ]),
        tests(
            "Doctor",
            [
                "Doctor", "BoxConfiguration", "BoxReadings", "ControlAPI", "Cryptography",
                "ErrorCatalog", "Platform", "RTMPTransport", "RelayProbe", "Settings", "Systemd", "VideoCapture",
            ]),
        tests("Demonstration", ["Demonstration"]),
        tests(
            "KeyAccessServer",
            [
                "KeyAccessServer", "KeyAccess", "KeyAccessClient", "Compression", "Cryptography", "HTTPClient",
                "Archive", "NanoTDF", "NanoTDFCryptography", "TDF", "TDFCryptography", "Wire", "CZlib", nioCore,
                nioPosix, nioSSL, lifecycle, logging,
            ], fixtures: true),
        tests(
            "Player",
            [
                "Wire", "Settings", "ChannelTestSupport", "Player", "KeyAccess", "KeyAccessClient", "RTMPTransport",
                "RTMP", "Cryptography",
                "NanoTDF", "NanoTDFCryptography", "FLV", "FLVTestSupport", "Media", nioCore, logging,
            ]),
        tests(
            "Relay",
            [
                "ChannelTestSupport", "Relay", "RTMPTransport", "RTMP", "FLV", "AMF0", nioCore, nioPosix,
                nioLocks, logging,
            ]),
        tests(
            "EndToEnd",
            [
                "APIServer", "BoxCommands", "Settings", "watchboxd", "watchboxctl", "ControlAPI", "ControlClient",
                "Demonstration", "Doctor", "Console", "FLV",
                "Media",
                "NanoTDF", "NanoTDFCryptography", "Cryptography", "KeyAccessClient", "Platform", "Player", "RTMP",
                "RTMPTransport", "Systemd", "Wire", nioCore, arguments, lifecycle, logging,
            ]),
    ],
    swiftLanguageModes: [.v6]
)
