import { test } from "bun:test"
import { register } from "./built.ts"

// Bun's default limit of five seconds per test is too short for five processes.
register((name, fn) => test(name, fn, 30_000))
