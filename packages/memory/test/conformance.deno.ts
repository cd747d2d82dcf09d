import { register } from "@sessions/conformance"
import { memory } from "./subject.ts"

register(Deno.test, memory)
