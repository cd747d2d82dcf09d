import { register } from "@sessions/conformance"
import { test } from "vitest"
import { serve } from "./servers/node.ts"
import { createHttpSubject } from "./subject.ts"

register(test, createHttpSubject("http", serve))
