/// How long the box's other processes may take to answer.
struct ProcessDeadlines: Sendable {
    /// For their state, which somebody waits for.
    var status = Duration.seconds(1)
    /// After it the camera is restarted.
    var change = Duration.seconds(5)
    /// A camera that has just begun may have no frame for some seconds. Its process waits 8 seconds for one, and is to
    /// say itself that there is none.
    var frame = Duration.seconds(13)
    /// A test ends by itself after 25 seconds.
    var test = Duration.seconds(28)
    /// The camera itself is asked, several times.
    var device = Duration.seconds(25)
    /// The names of a year, on a slow card.
    var disk = Duration.seconds(15)
}
