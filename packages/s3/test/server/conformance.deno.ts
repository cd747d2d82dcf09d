import { register } from "@sessions/conformance"
import { capabilities, server, sizes } from "./subject.ts"

register(Deno.test, server, { sizes, skip: { with: Deno.test.ignore, capabilities } })
