import { register } from "@sessions/conformance"
import { fileSystem, inParts } from "./subject.ts"

register(Deno.test, fileSystem)
register(Deno.test, inParts)
