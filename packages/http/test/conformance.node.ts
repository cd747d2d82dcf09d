import { test } from "node:test"
import { register } from "@sessions/conformance"
import { serve } from "./servers/node.ts"
import { createHttpSubject } from "./subject.ts"

register(test, createHttpSubject("http", serve))
