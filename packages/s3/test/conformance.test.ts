import { register } from "@sessions/conformance"
import { test } from "vitest"
import { createFakeSubject } from "./subject.ts"

register(test, createFakeSubject("s3"))
// Seals and merges constantly, with a prefix and a shard, in a bucket that expects bare ETags.
register(
  test,
  createFakeSubject(
    "s3 with small objects",
    { tailBytes: 3_000, segmentBytes: 2_000, mergedBytes: 8_000, prefix: "a/b", shard: 2, readAheadBytes: 100_000 },
    { etags: "bare" },
  ),
  { sizes: { sessions: 50 } },
)
