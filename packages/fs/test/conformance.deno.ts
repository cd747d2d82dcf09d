import { register } from "@sessions/conformance"
import { capabilities, fileSystem, inParts } from "./subject.ts"

register(Deno.test, fileSystem, { skip: { with: Deno.test.ignore, capabilities } })
register(Deno.test, inParts, { skip: { with: Deno.test.ignore, capabilities } })
