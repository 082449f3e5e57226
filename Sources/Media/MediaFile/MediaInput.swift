internal import Media

/// A file being read: formats and access units in the order of the file, with the file's own times.
protocol MediaInput: AnyObject {
    /// The tracks that the file declares; nil where it does not say.
    var trackCount: Int? { get }

    /// The next events; empty when what was read holds none; nil at the end of the file.
    func next() throws(MediaSourceError) -> [MediaEvent]?

    /// An access unit cannot be made into a key frame; a track that is encoded again can do it.
    func requestKeyFrame()
}

extension MediaInput {
    func requestKeyFrame() {}
}
