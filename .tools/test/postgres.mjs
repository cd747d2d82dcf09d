import { readdirSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { postgresUrl } from "../lib/postgres-server.mjs"
import { absent } from "../lib/runtimes.mjs"
import { runScript } from "../lib/run.mjs"
import { manifest, root } from "../lib/workspace.mjs"
import { commands, entriesStep } from "./entries.mjs"
import { outcomeOf } from "./report.mjs"

const folders = [
  "packages/postgres",
  "packages/cli",
  "packages/ai-sdk",
  "packages/claude-agent",
  "packages/openai-agents",
  "examples/langgraph",
].map((name) => join(root, name, "test", "server"))

/** The tests that need a PostgreSQL server: the entry files of a runtime, all on one server. */
export function onPostgres(runtime) {
  const server = () => (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres))
  return entriesStep(
    `postgres:${runtime}`,
    async () => (await absent[runtime]()) ?? server(),
    () => ({
      files: folders.flatMap((folder) =>
        readdirSync(folder)
          .filter((name) => name.endsWith(`.${runtime}.ts`))
          .map((name) => join(folder, name)),
      ),
      command: commands[runtime],
      env: async () => ({ POSTGRES_TEST_SERVER: await postgresUrl() }),
    }),
  )
}

/** `pnpm test:postgres-crash` runs more. */
const KILLS = { rounds: 5, clients: 15 }

/** Kills a server and its clients during appends. Each kill is one test. */
export const postgresCrash = {
  name: "postgres:crash",
  absent: async () => (await absent.node()) ?? absentFromSystem(system.postgres),
  async run() {
    const { rounds, clients } = KILLS
    const result = await runScript(`${manifest.scripts["test:postgres-crash"]} --rounds ${rounds} --clients ${clients}`)
    const whole = /^acknowledged [1-9]\d*, lost 0, doubled 0, refused but stored 0$/m.test(result.output)
    const passed = whole ? rounds + clients : 0
    return outcomeOf({ passed, failed: whole ? 0 : 1, skipped: 0 }, result)
  },
}
