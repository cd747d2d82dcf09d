import { register } from "@sessions/conformance"
import { capabilities, memory } from "./subject.ts"

register(Deno.test, memory, { skip: { with: Deno.test.ignore, capabilities } })
