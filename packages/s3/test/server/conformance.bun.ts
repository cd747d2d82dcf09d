import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { capabilities, server, sizes } from "./subject.ts"

// Bun's own limit of five seconds a test is below that of a case.
register((name, fn) => test(name, fn, 30_000), server, {
  sizes,
  timeLimit: 25_000,
  skip: { with: test.skip, capabilities },
})
