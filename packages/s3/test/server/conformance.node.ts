import { test } from "node:test"
import { register } from "@sessions/conformance"
import { server, sizes } from "./subject.ts"

register(test, server, { sizes })
