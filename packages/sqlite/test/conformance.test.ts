import { register } from "@sessions/conformance"
import { test } from "vitest"
import { onDisk, relaxed } from "./subject.ts"

register(test, relaxed)
// Each of its writes waits for the disk.
register(test, onDisk, { sizes: { sessions: 50, race: 8 } })
