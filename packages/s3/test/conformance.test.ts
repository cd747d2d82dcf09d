import { register } from "@sessions/conformance"
import { test } from "vitest"
import { createFakeSubject } from "./subject.ts"

register(test, createFakeSubject("s3"))
// Everything rolls and merges all the time, below a prefix and behind a shard, in a bucket that wants its ETags bare.
register(
  test,
  createFakeSubject(
    "s3 in small pieces",
    { tailBytes: 3_000, segmentBytes: 2_000, mergedBytes: 8_000, prefix: "a/b", shard: 2, readAheadBytes: 100_000 },
    { etags: "bare" },
  ),
)
