// `pnpm test:postgres-crash [--rounds N] [--clients N] [--seed S]`: kills a PostgreSQL server N times, and then N of its clients, during
// appends. Ends with `acknowledged A, lost 0, doubled 0, refused but stored 0`.
import { spawn } from "node:child_process"
import { absentFromSystem, system } from "./lib/debian.mjs"
import { fromSources } from "./lib/from-sources.mjs"
import { startServer } from "./lib/postgres-server.mjs"

const reason = await absentFromSystem(system.postgres, [system.postgres])
if (reason !== undefined) {
  console.error(`The test ${reason}.`)
  process.exit(1)
}
const server = await startServer()
const [program, args] = fromSources("packages/postgres/test/crash/main.ts", ...process.argv.slice(2))
const child = spawn(program, args, {
  env: { ...process.env, POSTGRES_TEST_SERVER: server.url },
  stdio: ["ignore", "inherit", "inherit", "ipc"],
})
child.on("message", () => void crash())
child.once("exit", (code) => process.exit(code ?? 1))

async function crash() {
  await server.crash()
  child.send("running")
}
