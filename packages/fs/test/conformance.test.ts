import { register } from "@sessions/conformance"
import { test } from "vitest"
import { fileSystem, inParts, onDisk } from "./subject.ts"

register(test, fileSystem)
// Each of its creations waits for the disk several times.
register(test, onDisk, { sizes: { sessions: 50, race: 8 } })
register(test, inParts)
