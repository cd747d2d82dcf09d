// `pnpm test:fuzz-postgres [--minutes N | --rounds N] [--seed S] [--planted]`: the fuzzer on a PostgreSQL server alone, which it starts
// unless SESSIONS_TEST_POSTGRES names one.
import { spawn } from "node:child_process"
import { absentFromSystem, system } from "./lib/debian.mjs"
import { fromSources } from "./lib/from-sources.mjs"
import { postgresUrl } from "./lib/postgres-server.mjs"

const reason = process.env.SESSIONS_TEST_POSTGRES
  ? undefined
  : await absentFromSystem(system.postgres, [system.postgres])
if (reason !== undefined) {
  console.error(`The test ${reason}.`)
  process.exit(1)
}
const [program, args] = fromSources(".tools/runtimes/fuzz/main.ts", "--store", "postgres", ...process.argv.slice(2))
const child = spawn(program, args, {
  env: { ...process.env, POSTGRES_TEST_SERVER: await postgresUrl() },
  stdio: "inherit",
})
child.once("exit", (code) => process.exit(code ?? 1))
