import { test } from "node:test"
import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { server } from "./subject.ts"

register(test, server)
registerProperties(test, server, { runs: 10 })
