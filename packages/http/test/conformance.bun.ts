import { register } from "@sessions/conformance"
import { test } from "bun:test"
import { serve } from "./servers/bun.ts"
import { capabilities, createHttpSubject } from "./subject.ts"

register(test, createHttpSubject("http", serve), { skip: { with: test.skip, capabilities } })
