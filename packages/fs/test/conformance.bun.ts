import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { capabilities, fileSystem, inParts } from "./subject.ts"

register(test, fileSystem, { skip: { with: test.skip, capabilities } })
register(test, inParts, { skip: { with: test.skip, capabilities } })
