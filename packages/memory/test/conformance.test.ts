import { register } from "@sessions/conformance"
import { test } from "vitest"
import { memory, memoryAlone } from "./subject.ts"

register(test, memory)
register(test, memoryAlone)
