import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { test } from "bun:test"
import subject, { capabilities } from "./subject.ts"

register(test, subject, { skip: { with: test.skip, capabilities } })
registerProperties(test, subject, { runs: 50 })
