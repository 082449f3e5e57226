import Testing

/// The real programs and third-party peers, one test at a time: each starts its own processes, and two cores are few.
@Suite(.serialized, .timeLimit(.minutes(15)))
enum EndToEndTests {}
