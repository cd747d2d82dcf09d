import { test } from "bun:test"
import { register } from "./built.ts"

register(test)
