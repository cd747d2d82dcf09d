import { register } from "@sessions/conformance"
import { test } from "vitest"
import { serve } from "./servers/node.ts"
import { createHttpSubject } from "./subject.ts"

// A list is one answer, however many sessions there are.
register(test, createHttpSubject("http", serve), { sizes: { sessions: 100 } })
