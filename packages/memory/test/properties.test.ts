import { registerProperties } from "@sessions/conformance/properties"
import { test } from "vitest"
import { memory, memoryAlone } from "./subject.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)

registerProperties(test, memory, { seed, runs: 200 })
registerProperties(test, memoryAlone, { seed, runs: 50 })
