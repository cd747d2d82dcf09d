// `pnpm test:fuzz-postgres [--minutes N | --rounds N] [--seed S] [--planted]`: the fuzzer on a PostgreSQL server alone, which it starts
// unless SESSIONS_TEST_POSTGRES names one.
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { absentFromSystem, system } from "./lib/debian.mjs"
import { postgresUrl } from "./lib/postgres-server.mjs"
import { newestNode } from "./lib/runtimes.mjs"

const reason = process.env.SESSIONS_TEST_POSTGRES
  ? undefined
  : await absentFromSystem(system.postgres, [system.postgres])
if (reason !== undefined) {
  console.error(`The test ${reason}.`)
  process.exit(1)
}
const flags = ["--conditions=source", "--import", new URL("./typescript.mjs", import.meta.url).href]
const program = fileURLToPath(new URL("./runtimes/fuzz/main.ts", import.meta.url))
const child = spawn(newestNode(), [...flags, program, "--store", "postgres", ...process.argv.slice(2)], {
  env: { ...process.env, POSTGRES_TEST_SERVER: await postgresUrl() },
  stdio: "inherit",
})
child.once("exit", (code) => process.exit(code ?? 1))
