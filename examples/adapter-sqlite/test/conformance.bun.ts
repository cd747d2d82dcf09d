import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { test } from "bun:test"
import { createSqliteStorage } from "../src/index.ts"
import subject from "../subject.ts"

// Bun's own limit of five seconds a test is below that of a case.
const patient = (name: string, fn: () => void | Promise<void>): void => test(name, fn, 30_000)

const { capabilities } = createSqliteStorage("")
register(patient, subject, { skip: { with: test.skip, capabilities } })
registerProperties(patient, subject, { runs: 20 })
