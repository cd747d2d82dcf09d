import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { bun, bunInParts, capabilities } from "./subject.ts"

register(test, bun, { skip: { with: test.skip, capabilities } })
register(test, bunInParts, { skip: { with: test.skip, capabilities } })
