import { test } from "node:test"
import { checks } from "./checks.ts"

for (const { name, run } of checks) void test(name, run)
