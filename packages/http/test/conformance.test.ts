import { register } from "@sessions/conformance"
import { test } from "vitest"
import { serve } from "./servers/node.ts"
import { createHttpSubject } from "./subject.ts"

// Slow: a case lists 1,000 sessions; the suite is one call, and judges every change of the protocol.
register(test, createHttpSubject("http", serve))
