import { register } from "@sessions/conformance"
import { test } from "vitest"
import { indexedDb, strict } from "./subject.ts"

register(test, indexedDb)
register(test, strict)
