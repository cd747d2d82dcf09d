import { readdirSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { postgresUrl } from "../lib/postgres-server.mjs"
import { absent } from "../lib/runtimes.mjs"
import { root } from "../lib/workspace.mjs"
import { commands, entriesStep } from "./entries.mjs"

const folder = join(root, "packages", "postgres", "test", "server")

/** The tests that need a PostgreSQL server: the entry files of a runtime, all on one server. */
export function onPostgres(runtime) {
  const server = () => (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres))
  return entriesStep(
    `postgres:${runtime}`,
    async () => (await absent[runtime]()) ?? server(),
    () => ({
      files: readdirSync(folder)
        .filter((name) => name.endsWith(`.${runtime}.ts`))
        .map((name) => join(folder, name)),
      command: commands[runtime],
      env: async () => ({ POSTGRES_TEST_SERVER: await postgresUrl() }),
    }),
  )
}
