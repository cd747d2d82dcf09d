import { register } from "@sessions/conformance"
import { test } from "vitest"
import { fileSystem, inParts, onDisk } from "./subject.ts"

// It reads a whole folder, however many sessions there are.
register(test, fileSystem, { sizes: { sessions: 100 } })
// Each of its creations waits for the disk several times.
register(test, onDisk, { sizes: { sessions: 50, race: 8 } })
register(test, inParts, { sizes: { sessions: 50 } })
