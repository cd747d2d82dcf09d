import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { capabilities, server } from "./subject.ts"

register(Deno.test, server, { skip: { with: Deno.test.ignore, capabilities } })
registerProperties(Deno.test, server, { runs: 10 })
