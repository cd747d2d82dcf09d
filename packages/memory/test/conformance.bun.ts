import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { capabilities, memory } from "./subject.ts"

// A case may take longer than Bun's default limit of five seconds per test.
register(test, memory, { skip: { with: test.skip, capabilities } })
