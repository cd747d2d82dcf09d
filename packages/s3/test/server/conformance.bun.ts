import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { capabilities, server, sizes } from "./subject.ts"

register(test, server, { sizes, skip: { with: test.skip, capabilities } })
