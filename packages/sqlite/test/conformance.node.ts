import { test } from "node:test"
import { register } from "@sessions/conformance"
import { relaxed } from "./subject.ts"

register(test, relaxed)
