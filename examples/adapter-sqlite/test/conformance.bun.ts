import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { test } from "bun:test"
import { createSqliteStorage } from "../src/index.ts"
import subject from "../subject.ts"

// Bun's default limit of five seconds per test is shorter than that of a case.
const testWithTimeout = (name: string, fn: () => void | Promise<void>): void => test(name, fn, 600_000)

const { capabilities } = createSqliteStorage("")
register(testWithTimeout, subject, { skip: { with: test.skip, capabilities } })
registerProperties(testWithTimeout, subject, { runs: 20 })
