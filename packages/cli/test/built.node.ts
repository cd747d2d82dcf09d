import { test } from "node:test"
import { register } from "./built.ts"

register(test)
