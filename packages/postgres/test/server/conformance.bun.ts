import { test } from "bun:test"
import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { capabilities, server } from "./subject.ts"

// Bun's default limit of five seconds per test is shorter than that of a case.
const testWithTimeout = (name: string, fn: () => void | Promise<void>): void => test(name, fn, 600_000)

register(testWithTimeout, server, { skip: { with: test.skip, capabilities } })
registerProperties(testWithTimeout, server, { runs: 10 })
