import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { bun, bunInParts, capabilities } from "./subject.ts"

// Bun's own limit of five seconds a test is below that of a case.
register((name, fn) => test(name, fn, 30_000), bun, { skip: { with: test.skip, capabilities } })
register((name, fn) => test(name, fn, 30_000), bunInParts, { skip: { with: test.skip, capabilities } })
