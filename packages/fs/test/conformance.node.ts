import { test } from "node:test"
import { register } from "@sessions/conformance"
import { fileSystem, inParts } from "./subject.ts"

register(test, fileSystem)
register(test, inParts)
