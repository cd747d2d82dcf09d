import { registerProperties } from "@sessions/conformance/properties"
import { test } from "vitest"
import { fileSystem, inParts } from "./subject.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)

registerProperties(test, fileSystem, { seed, runs: 16 })
registerProperties(test, inParts, { seed, runs: 10 })
