import { register } from "@sessions/conformance"
import { capabilities, server, sizes } from "./subject.ts"

register(Deno.test, server, { sizes, timeLimit: 25_000, skip: { with: Deno.test.ignore, capabilities } })
