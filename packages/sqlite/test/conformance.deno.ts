import { register } from "@sessions/conformance"
import { capabilities, relaxed } from "./subject.ts"

register(Deno.test, relaxed, { skip: { with: Deno.test.ignore, capabilities } })
