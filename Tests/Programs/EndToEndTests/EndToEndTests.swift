import Testing

/// The real programs and foreign peers, one test at a time: each starts processes of its own, and two cores are few.
@Suite(.serialized, .timeLimit(.minutes(15)))
enum EndToEndTests {}
