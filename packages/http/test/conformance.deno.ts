import { register } from "@sessions/conformance"
import { serve } from "./servers/deno.ts"
import { capabilities, createHttpSubject } from "./subject.ts"

register(Deno.test, createHttpSubject("http", serve), { skip: { with: Deno.test.ignore, capabilities } })
