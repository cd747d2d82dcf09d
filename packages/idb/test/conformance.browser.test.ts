import { register } from "@sessions/conformance"
import { test } from "vitest"
import { indexedDb, relaxed } from "./subject.ts"

register(test, indexedDb)
register(test, relaxed)
