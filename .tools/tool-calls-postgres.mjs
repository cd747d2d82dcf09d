// `pnpm test:tool-calls-postgres [--rounds N] [--seed S]`: processes that run tool calls on a PostgreSQL server, which it starts unless
// SESSIONS_TEST_POSTGRES names one, are killed and stopped.
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
const given = ["--kinds", "postgres", ...process.argv.slice(2)]
const [program, args] = fromSources("packages/tool-calls/test/crash/main.ts", ...given)
const child = spawn(program, args, {
  env: { ...process.env, POSTGRES_TEST_SERVER: await postgresUrl() },
  stdio: "inherit",
})
child.once("exit", (code) => process.exit(code ?? 1))
