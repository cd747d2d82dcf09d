import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { capabilities, relaxed } from "./subject.ts"

register(test, relaxed, { skip: { with: test.skip, capabilities } })
