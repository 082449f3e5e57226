import ArgumentParser

/// The forms that an archive can have (docs/ref/archive-format.md).
enum ArchiveProfile: String, CaseIterable, ExpressibleByArgument {
    /// Segments of AES-256-GCM: what OpenTDF's tools open.
    case s
    /// AES-128-CBC over the whole, with a MAC: what Arkavo's readers of whole archives open.
    case f
    /// HTTP Live Streaming, encrypted sample by sample (cbcs): what FairPlay players take.
    case p
}
