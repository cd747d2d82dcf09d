import { test } from "bun:test"
import { register } from "./built.ts"

// Bun's own limit of five seconds a test is little for five processes.
register((name, fn) => test(name, fn, 30_000))
