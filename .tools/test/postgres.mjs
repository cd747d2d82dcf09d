import { readdirSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { postgresUrl } from "../lib/postgres-server.mjs"
import { absent } from "../lib/runtimes.mjs"
import { root } from "../lib/workspace.mjs"
import { CALLS_WHOLE } from "./crash.mjs"
import { commands, entriesStep } from "./entries.mjs"
import { search } from "./search.mjs"

const PROGRAM = join(root, ".tools", "postgres-crash.mjs")
const folders = [
  "packages/postgres",
  "packages/cli",
  "packages/ai-sdk",
  "packages/claude-agent",
  "packages/openai-agents",
  "examples/langgraph",
  "examples/readme",
].map((name) => join(root, name, "test", "server"))

/** The tests that need a PostgreSQL server: the entry files of a runtime, all on one server. */
export function onPostgres(runtime, minutes) {
  const server = () => (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres))
  return entriesStep(
    `postgres:${runtime}`,
    async () => (await absent[runtime]()) ?? server(),
    minutes,
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

/** Processes that run tool calls on one server are killed and stopped. */
export const postgresCalls = search({
  name: "postgres:tool-calls",
  absent: async () =>
    (await absent.node()) ?? (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres)),
  amount: { test: 1, deep: 400 },
  minutes: 10,
  whole: CALLS_WHOLE,
  command: (rounds, seed) => [
    process.execPath,
    [join(root, ".tools", "tool-calls-postgres.mjs"), "--rounds", String(rounds), "--seed", String(seed)],
  ],
})

/** A server and its clients are killed during appends, three clients for each kill of the server. */
export const postgresCrash = search({
  name: "postgres:crash",
  absent: async () => (await absent.node()) ?? absentFromSystem(system.postgres),
  amount: { test: 1, deep: 40 },
  minutes: 5,
  whole: /^acknowledged [1-9]\d*, lost 0, doubled 0, refused but stored 0$/m,
  command: (rounds, seed) => [
    process.execPath,
    [PROGRAM, "--rounds", String(rounds), "--clients", String(3 * rounds), "--seed", String(seed)],
  ],
})
