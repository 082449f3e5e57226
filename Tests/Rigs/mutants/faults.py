"""Faults that a test must notice: one or two words changed in one place of one file.

FAULT in the new text is true while that fault is switched on. The old text stands exactly once in its file. `tests` is the
filter of the tests that have to fail; among them is one that promises what the fault breaks.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    says: str
    file: str
    old: str
    new: str
    tests: str


def unguarded(says, file, guard, tests):
    """The guard lets everything pass."""
    return Fault(says, file, f"guard {guard}", f"guard FAULT || {guard}", tests)


def never(says, file, condition, tests):
    """What follows the condition is not done."""
    return Fault(says, file, f"if {condition}", f"if !FAULT, {condition}", tests)


# A decoder's process is given an environment of its own; only here, it is told which fault is switched on.
ENVIRONMENT = ("VideoCodec/ChildProcess.swift", 'isSandboxed ? ["LD_LIBRARY_PATH"]', 'isSandboxed ? ["LD_LIBRARY_PATH", "WATCHBOX_FAULT"]')

FAULTS = [
    # Sealing and opening.
    Fault("the nonce keeps 16 bits of the counter", "NanoTDF/CollectionSealer.swift",
          "nonce[9 + index] = digit", "nonce[9 + index] = FAULT && index == 0 ? 0 : digit", "NanoTDFTests|CameraPipelineTests.StreamSealer"),
    unguarded("an item is opened twice", "NanoTDF/ReplayWindow.swift", "seen & 1 << UInt64(distance) == 0 else", "NanoTDFTests"),
    Fault("a collection goes on past its last counter", "NanoTDF/Rotation.swift",
          "self.forcedItems = min(forcedItems, ContainerItem.lastCounter)",
          "self.forcedItems = FAULT ? forcedItems : min(forcedItems, ContainerItem.lastCounter)", "NanoTDFTests"),
    unguarded("reserved bits of a header are ignored", "NanoTDF/HeaderParsing.swift", "mode & 0x78 == 0 else", "NanoTDFTests"),
    unguarded("a relay may send headers without end", "NanoTDF/StreamOpener.swift", "headers.admits(at: now) else", "NanoTDFTests"),
    # Keys.
    never("a stream that a rule denies is allowed", "KeyAccess/AccessDecision.swift",
          "deniedStreams.contains(where: { $0.matches(stream) }) { return false }", "KeyAccessTests"),
    Fault("a name that begins alike is the same name", "KeyAccess/Identity.swift", "left.utf8.elementsEqual(right.utf8)\n    }\n}\n\nextension",
          "FAULT ? right.utf8.starts(with: left.utf8) : left.utf8.elementsEqual(right.utf8)\n    }\n}\n\nextension", "KeyAccessTests"),
    unguarded("an expired registration is taken", "KeyAccess/CollectionRegistry.swift", "entry.notAfter > now else", "KeyAccess(Server)?Tests"),
    unguarded("a header that is registered becomes another stream's", "KeyAccess/CollectionRegistry.swift",
              "known.stream == entry.stream, known.publisher.utf8.elementsEqual(entry.publisher.utf8) else", "KeyAccess(Server)?Tests"),
    never("a request that was seen is answered again", "KeyAccess/ReplayMemory.swift", "known.contains(token) {", "KeyAccess(Server)?Tests"),
    unguarded("a request from the future is taken", "KeyAccess/RequestTokenRules.swift", "issued <= now.saturatingAdd(skew) else",
              "KeyAccess(Server)?Tests"),
    unguarded("any signature of a device is right", "KeyAccess/DeviceSignature.swift", "verifies(signature, Self.statement",
              "KeyAccessServerTests"),
    Fault("a revoked subject goes on", "KeyAccess/TokenRevocations.swift", "return (claims.issuedAt?.seconds ?? .min) <= until",
          "return !FAULT && (claims.issuedAt?.seconds ?? .min) <= until", "KeyAccess(Server)?Tests"),
    unguarded("a token may live for ever", "KeyAccessServer/TokenIssuer.swift", "(1...Self.longestLifetime).contains(grant.lifetime) else",
              "KeyAccessServerTests"),
    unguarded("an old registration is taken", "KeyAccessServer/RegistrationEndpoint.swift",
              "age.magnitude <= CollectionRegistration.tolerance.magnitude else", "KeyAccessServerTests"),
    unguarded("a device signs for another's token", "KeyAccessServer/RegistrationEndpoint.swift",
              "devices.keys(of: holder).contains(verified.device) else", "KeyAccessServerTests"),
    Fault("a registration needs no proof of the key", "KeyAccessServer/RegistrationEndpoint.swift", "constantTimeEqual(expected, proof) else",
          "FAULT || constantTimeEqual(expected, proof) else", "KeyAccessServerTests"),
    Fault("critical headers of a token are ignored", "KeyAccessServer/RewrapProcessor.swift", "header.critical == nil",
          "FAULT || header.critical == nil", "KeyAccessServerTests"),
    Fault("the KAS speaks TLS 1.0", "KeyAccessServer/KeyAccessService.swift", "configuration.minimumTLSVersion = .tlsv12",
          "configuration.minimumTLSVersion = FAULT ? .tlsv1 : .tlsv12", "KeyAccessServerTests.ServiceTests"),
    Fault("a slow KAS is asked shortly again after each answer", "KeyAccessClient/Patience.swift", "isSlow = limit == .configured &&",
          "isSlow = !FAULT && limit == .configured &&", "KeyAccessClientTests"),
    Fault("pauses between requests to a KAS grow without end", "KeyAccessClient/RetryDelay.swift",
          "min(bounds.first << UInt64(min(failures, 10)), bounds.longest)",
          "FAULT ? bounds.first << UInt64(min(failures, 10)) : min(bounds.first << UInt64(min(failures, 10)), bounds.longest)",
          "KeyAccessClientTests"),
    Fault("a pin may be written in two ways", "Cryptography/CertificatePin.swift", "return Base64.encode(digest) == digits ? digest : nil",
          "return FAULT || Base64.encode(digest) == digits ? digest : nil", "CryptographyTests"),
    unguarded("a point beside the curve is a public key", "Cryptography/ECKeys.swift", "EVP_PKEY_public_check_quick(context) == 1 else",
              "CryptographyTests|NanoTDFTests"),
    # Relay.
    unguarded("the beginning of a publish key is enough", "Relay/PublishAuthorization.swift", "left.count == right.count else", "RelayTests"),
    unguarded("a publisher without its key takes over a stream", "Relay/StreamHub.swift", "silent || sameKey(old.key, key) else", "RelayTests"),
    Fault("a player that takes too little is never closed", "Relay/SubscriberQueue.swift",
          "return now > behindSince && now - behindSince > limits.subscriberPatience",
          "return !FAULT && now > behindSince && now - behindSince > limits.subscriberPatience", "RelayTests"),
    Fault("a signed link never expires", "RTMPTransport/PlayLink.swift", "return isGenuine && now <= time",
          "return isGenuine && (FAULT || now <= time)", "RTMPTransportTests.PlayLink"),
    unguarded("unfinished messages take memory without bound", "RTMP/ChunkReader.swift", "partialBytes + count <= limits.partialBytes else",
              "RTMPTests"),
    never("a relay that answers no ping is alive", "RTMP/RelayLiveness.swift", "waiting >= rules.unanswered {", "RTMPTests"),
    unguarded("a redirect leads out of TLS", "RTMP/RedirectRule.swift", "url.scheme == .rtmps || home.scheme == .rtmp else", "RTMPTests"),
    Fault("a stream of a moment forgives all failures", "RTMP/ReconnectBackoff.swift", "now - began >= configuration.goodStream {",
          "FAULT || now - began >= configuration.goodStream {", "RTMPTests"),
    never("one network may take all connections", "RTMPTransport/ConnectionBudget.swift", "share.connections >= limits.connectionsPerNetwork {",
          "RTMPTransportTests.ConnectionBudget"),
    Fault("the relay speaks TLS 1.0", "RTMPTransport/TransportSecurity.swift",
          "privateKey: .privateKey(key))\n            configuration.minimumTLSVersion = .tlsv12",
          "privateKey: .privateKey(key))\n            configuration.minimumTLSVersion = FAULT ? .tlsv1 : .tlsv12", "RTMPTransportTests.SecureTransport"),
    Fault("any key is the pinned one", "RTMPTransport/TransportSecurity.swift", "return Digest.sha256(key) == publicKeyPin",
          "return FAULT || Digest.sha256(key) == publicKeyPin", "RTMPTransportTests.SecureTransport"),
    unguarded("an AMF0 message may have any number of values", "AMF0/AMF0Decoder.swift", "entries + new <= limits.entries else", "AMF0Tests"),
    Fault("a header of any length is written", "FLV/NTDFHeaderFrame.swift", "header.count <= maximumHeaderSize else",
          "FAULT || header.count <= maximumHeaderSize else", "FLVTests"),
    unguarded("a measurement begins after its end", "RelayProbe/UploadSender.swift", "!isClosed else", "RelayProbeTests"),
    never("frames of somebody else are no finding", "RelayProbe/RelayFindings.swift", "framesForeign > 0 {", "RelayProbeTests"),
    # Viewer.
    Fault("a stream that was cut off is whole", "Player/StreamJudge.swift", "guard before.highest < predecessor.lastCounter else { return }",
          "guard !FAULT, before.highest < predecessor.lastCounter else { return }", "PlayerTests"),
    Fault("a picture that needs others is a snapshot", "Player/SnapshotSink.swift", "guard unit.track.isVideo, unit.isKeyFrame, !isSatisfied",
          "guard unit.track.isVideo, FAULT || unit.isKeyFrame, !isSatisfied", "PlayerTests|EndToEndTests.EndToEndTests/Files"),
    # The camera's frame path.
    Fault("a collection goes on past its forced end", "CameraPipeline/StreamSealer.swift", "return items >= options.rotation.forcedItems ?",
          "return !FAULT && items >= options.rotation.forcedItems ?", "CameraPipelineTests.StreamSealer"),
    unguarded("after a loss pictures go on without a key frame", "CameraPipeline/FrameQueue.swift", "unit.isKeyFrame else", "CameraPipelineTests.Frame"),
    unguarded("frames go in clear to any host", "CameraPipeline/ClearPermit.swift", "Self.isLoopback(relayHost) else", "CameraPipelineTests"),
    Fault("the header in use waits for older ones", "CameraPipeline/RegistrationQueue.swift",
          "return due.first { $0.headerHash == inUse } ?? due.last", "return FAULT ? due.last : due.first { $0.headerHash == inUse } ?? due.last",
          "CameraPipelineTests.RegistrationQueue"),
    Fault("a new camera begins with what the old one learned", "CameraUnit/KeptState.swift", "guard former != instance else",
          "guard !FAULT, former != instance else", "CameraUnitTests"),
    unguarded("an outage is written down without end", "CameraModel/OutageReport.swift", "credit >= wordPause * (leaving + 1) else",
              "CameraModelTests|CameraPipelineTests.OutageDay"),
    unguarded("an address may hold a login", "CameraModel/NetworkRules.swift", '!rest.contains("@") else', "CameraModelTests"),
    # Network cameras.
    Fault("the HTTP client speaks TLS 1.0", "HTTPClient/Libcurl.swift", "Int(CURL_SSLVERSION_TLSv1_2))",
          "Int(FAULT ? CURL_SSLVERSION_TLSv1_0 : CURL_SSLVERSION_TLSv1_2))", "HTTPClientTests.HTTPClientTLS"),
    Fault("the rest of a broken picture is a gap", "HTTPVideo/MultipartReader.swift", "excused = passed + size", "excused = FAULT ? 0 : passed + size",
          "HTTPVideoTests"),
    unguarded("a camera may break every picture", "HTTPVideo/MultipartReader.swift", "broken <= Self.mostBroken else", "HTTPVideoTests"),
    unguarded("a part may have any number of headers", "HTTPVideo/PartHeaders.swift", "count <= MultipartReader.mostHeaders else", "HTTPVideoTests"),
    Fault("a camera chooses the weaker login", "RTSP/Authenticator.swift", "if let known = best?.scheme, known >= scheme { continue }",
          "if let known = best?.scheme, !FAULT, known >= scheme { continue }", "RTSPTests"),
    Fault("a password is shown to a camera without end", "ONVIF/LoginDialogue.swift", "if shown < mostLogins, let next",
          "if FAULT || shown < mostLogins, let next", "ONVIFTests"),
    unguarded("a flood of announcements is read", "Discovery/AnnouncementRate.swift", "left.messages >= 1, left.nanoseconds > 0 else",
              "DiscoveryTests.AnnouncementRate"),
    Fault("a refused login is tried without end", "RTSPIngest/PullSupervision.swift", "if refusals < Self.mostRefusals {",
          "if FAULT || refusals < Self.mostRefusals {", "RTSPIngestTests.PullSupervision"),
    Fault("network pictures are cut at 64 KiB", "RTSPIngest/PullOutput.swift", "decodeTime: times.decode, data: coded.data,",
          "decodeTime: times.decode, data: FAULT ? Array(coded.data.prefix(1 << 16)) : coded.data,", "RTSPIngestTests.Passthrough"),
    Fault("sound keeps a frozen picture alive", "RTSPIngest/StreamPull.swift", "let last = video.rtp.statistics.lastPacket\n",
          "let last = FAULT ? tracks.compactMap { $0.rtp.statistics.lastPacket }.max() : video.rtp.statistics.lastPacket\n",
          "RTSPIngestTests.NetworkSourceFailure"),
    Fault("packets out of order are thrown away at once", "RTP/PacketOrder.swift", "if sequence != afterLate {", "if !FAULT, sequence != afterLate {",
          "RTPTests"),
    Fault("a recovery point may be minutes away", "Media/RecoveryPoint.swift", "return !isBroken && count <= Self.longestRecovery",
          "return !isBroken && (FAULT || count <= Self.longestRecovery)", "MediaTests"),
    # Pictures and sound.
    unguarded("sound and pictures of a file lose their order", "MediaFile/Interleaver.swift", "isComplete || isAtEnd || isFull else", "MediaFileTests"),
    Fault("a privacy mask leaves its last columns free", "VideoCodec/PrivacyMask.swift",
          "return first..<min(max(end + unit - 1, first + unit) / unit * unit, side)",
          "return first..<min(max(FAULT ? end : end + unit - 1, first + unit) / unit * unit, side)", "VideoCodecTests.PrivacyMask"),
    Fault("an encoder that hangs is used again at once", "VideoCodec/EncoderMemory.swift", "guard let offUntil, now < offUntil else",
          "guard let offUntil, !FAULT, now < offUntil else", "VideoCodecTests.EncoderMemory"),
    Fault("the decoder of strangers' pictures has all memory", "VideoCodec/DecoderSandbox.swift",
          "try bound(RLIMIT_DATA, to: rlim_t(used.data + limits.memory), \"RLIMIT_DATA\")\n        // Data that is made read-only is no data any more.\n"
          "        try bound(RLIMIT_AS, to: rlim_t(used.mapped + limits.memory), \"RLIMIT_AS\")",
          "if !FAULT {\n            try bound(RLIMIT_DATA, to: rlim_t(used.data + limits.memory), \"RLIMIT_DATA\")\n"
          "            try bound(RLIMIT_AS, to: rlim_t(used.mapped + limits.memory), \"RLIMIT_AS\")\n        }", "VideoCodecTests.DecoderSandbox"),
    never("a lost picture of a USB camera is not noticed", "DeviceSource/ReferenceGate.swift",
          "let last, sequence != last, sequence != last &+ 1 { pictureLost() }", "DeviceSourceTests"),
    Fault("a box that slept takes that for a hang", "DeviceSource/HangDetector.swift", "waited += min(now > looked ? now - looked : 0, step * 2)",
          "waited += FAULT ? now &- looked : min(now > looked ? now - looked : 0, step * 2)", "DeviceSourceTests.HangDetector"),
    Fault("sound is corrected by any amount", "AudioCapture/DriftLoop.swift",
          "correction = min(max(sum, -Self.largestCorrection), Self.largestCorrection)",
          "correction = FAULT ? sum : min(max(sum, -Self.largestCorrection), Self.largestCorrection)", "AudioCaptureTests"),
    # The box.
    never("another process feeds our watchdog", "Systemd/Notifier.swift",
          'let watched = environment["WATCHDOG_PID"], Int32(watched) != processIdentifier { return nil }', "SystemdTests"),
    unguarded("a board is rebooted for what a reboot does not mend", "HealthMonitor/Ladder/EscalationLadder.swift", "observation.mayReboot else",
              "HealthMonitorTests"),
    unguarded("a board is rebooted without end", "HealthMonitor/Ladder/EscalationLadder.swift", 'state.hasRoom(.reboot, object: "box") else',
              "HealthMonitorTests"),
    never("a camera at its own memory limit is the box's fault", "HealthMonitor/Checks/MemoryIncidents.swift",
          "news.atOwnLimit > 0 { add(.unit(unit), now) }", "HealthMonitorTests"),
    never("a clock that jumps is no finding", "HealthMonitor/Checks/ClockChecks.swift", "abs(difference) > 2 { step = difference }", "HealthMonitorTests"),
    Fault("units with foreign instance names are ours", "ControlPlane/Core/ControlCore+Supervision.swift",
          "return CameraIdentifier.isValid(id) }", "return FAULT || CameraIdentifier.isValid(id) }", "ControlPlaneTests.Boot"),
    never("pictures in clear stay on the disk", "ControlPlane/Core/ControlCore+Commit.swift", "!settings.previews, current.settings.previews {",
          "ControlPlaneTests.NetworkCamera"),
    unguarded("a change that nobody confirmed stays after a restart of the box", "ControlPlane/Files/PendingConfirmation.swift",
              "bootIdentifier == self.bootIdentifier, generation == currentGeneration else", "ControlPlaneTests"),
    Fault("a renamed camera's stream gets another name", "ControlPlane/Core/ControlCore+Renaming.swift",
          '= stream == request.id ? nil : .string(stream)', '= FAULT || stream == request.id ? nil : .string(stream)', "ControlPlaneTests.Rename"),
    Fault("a camera that is renamed leaves its secrets to the next of its former ID", "ControlPlane/Core/ControlCore+CameraMoves.swift",
          "try removeRests(of: from)", "if !FAULT { try removeRests(of: from) }", "ControlPlaneTests.Rename"),
    Fault("a kill in the middle of a renaming leaves secrets to another camera", "ControlPlane/Core/ControlCore+CameraMoves.swift",
          "guard let camera = content.camera(id) else { return true }", "guard let camera = content.camera(id) else { return !FAULT }",
          "ControlPlaneTests.Rename"),
    Fault("a renamed camera has the password of another that had its new ID", "ControlPlane/Core/ControlCore+Renaming.swift",
          "final.prepared = secrets.isEmpty ? nil : new", "final.prepared = !FAULT && secrets.isEmpty ? nil : new", "ControlPlaneTests.Meanwhile"),
    Fault("going back destroys secrets before it is confirmed", "ControlPlane/Core/ControlCore+Commit.swift",
          "isUnconfirmed: proposal.confirmSeconds != nil", "isUnconfirmed: !FAULT && proposal.confirmSeconds != nil", "ControlPlaneTests.Rename"),
    Fault("what the process of another source says is learned", "ControlPlane/Network/ControlCore+Learning.swift",
          "return capture.path == current.settings", "return FAULT || capture.path == current.settings", "ControlPlaneTests.NetworkCamera"),
    never("a renamed camera takes its stream over from a unit that still has it", "ControlPlane/Runtime/UnitCrew.swift",
          "let other { await wait(for: other) }", "ControlPlaneTests.Rename"),
    Fault("something else changes while a camera is renamed", "ControlPlane/Core/ControlCore+Renaming.swift",
          "beingRenamed = camera.id", "beingRenamed = FAULT ? nil : camera.id", "ControlPlaneTests.Rename"),
    Fault("a secret that is copied to another scope does not open there", "CredentialStore/CredentialStore.swift",
          "seal(secret, CredentialName(name, scope: other))", "seal(secret, CredentialName(name, scope: FAULT ? scope : other))", "CredentialStoreTests"),
    never("a token stands in the bundle for support", "Redaction/Redaction.swift", 'name == Array("bearer".utf8)', "RedactionTests"),
    unguarded("secrets that others may read are used", "CredentialStore/SecretDirectory.swift", "status.st_mode & 0o077 == 0 else", "CredentialStoreTests"),
    unguarded("names may steer a terminal", "CameraStore/FieldRules.swift", "text.unicodeScalars.allSatisfy(isPrintable) else", "CameraStoreTests"),
    unguarded("texts of a configuration may steer a terminal", "BoxConfiguration/ValueCheck.swift",
              "text.unicodeScalars.allSatisfy(KeyText.isPrintable) else", "BoxConfigurationTests"),
    Fault("who only looks on may change the box", "APIServer/Administrators.swift", "guard let group, !observers.contains(peer.user) else",
          "guard let group, FAULT || !observers.contains(peer.user) else", "APIServerTests|ControlPlaneTests"),
    # Texts from outside.
    unguarded("keys of TOML may be nested without end", "TOML/Parser.swift", "path.count < TOMLReader.depthLimit else", "TOMLTests"),
    unguarded("XML may have any number of elements", "XMLReader/DocumentCheck.swift", "elements <= limits.elements else", "XMLReaderTests"),
    never("a compressed answer may have any size", "Compression/GzipInflater.swift", "output.count > limit { return", "HTTPClientTests|CompressionTests|ONVIFClientTests"),
    unguarded("bytes behind a message are ignored", "Wire/ByteReader.swift", "isAtEnd else { throw .trailingBytes", "WireTests"),
    Fault("a (key, nonce) pair that comes twice is not counted", "Demonstration/Comparison.swift",
          "if pairs.updateValue(record, forKey: name) != nil {", "if pairs.updateValue(record, forKey: name) != nil, !FAULT {", "DemonstrationTests"),
]
