import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import subject, { capabilities } from "./subject.ts"

register(Deno.test, subject, { skip: { with: Deno.test.ignore, capabilities } })
registerProperties(Deno.test, subject, { runs: 50 })
