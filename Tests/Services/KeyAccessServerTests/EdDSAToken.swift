/// A token signed with the Ed25519 key of RFC 8037 appendix A, by pyca/cryptography 48.0.0. Expires at 1 900 000 000.
enum EdDSAToken {
    static let text =
        "eyJhbGciOiAiRWREU0EifQ.eyJpc3MiOiAiaHR0cHM6Ly9pZCIsICJzdWIiOiAidmlld2VyIiwgImF1ZCI6ICJ1cm46d2F0Y"
        + "2hib3g6a2FzIiwgImV4cCI6IDE5MDAwMDAwMDAsICJzY29wZSI6ICJrYXMucmV3cmFwIiwgInN0cmVhbXMiOiBbIioiXX0.y"
        + "MP08xvV2Xfesekfav_Mae-cbn2JKE5ICazzgoCf1Jx-u13RlNw8NGu3SVE-f3j7Q75vKr9ya9yfxjelRCUyBQ"
}
