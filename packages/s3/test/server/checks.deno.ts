import { checks } from "./checks.ts"

for (const { name, run } of checks) Deno.test(name, run)
