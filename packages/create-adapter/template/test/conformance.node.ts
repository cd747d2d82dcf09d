import { test } from "node:test"
import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import subject from "./subject.ts"

register(test, subject)
registerProperties(test, subject, { runs: 50 })
