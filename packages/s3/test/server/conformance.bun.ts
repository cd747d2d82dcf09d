import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { capabilities, server, sizes } from "./subject.ts"

// Bun's default limit of five seconds per test is shorter than that of a case.
register((name, fn) => test(name, fn, 30_000), server, {
  sizes,
  timeLimit: 25_000,
  skip: { with: test.skip, capabilities },
})
