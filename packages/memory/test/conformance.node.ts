import { test } from "node:test"
import { register } from "@sessions/conformance"
import { memory } from "./subject.ts"

register(test, memory)
