// The adapters of `pnpm test:linear`: what each needs of the system, its server, and the command of its run.
import { absentFromSystem, system } from "./debian.mjs"
import { startServer } from "./postgres-server.mjs"
import { fromSources } from "./from-sources.mjs"
import { absent } from "./runtimes.mjs"
import { s3Server } from "./s3-server.mjs"

/**
 * `absent()` returns the reason why an adapter cannot be run here, or undefined. `start()` starts its server and returns the environment of
 * the run, and `crash`, which kills the server and starts it again, if that is possible.
 */
export const linearAdapters = {
  files: { absent: absent.node },
  memory: { absent: absent.node },
  sqlite: { absent: absent.node },
  idb: { absent: async () => (await absent.node()) ?? absentFromSystem(system.chromium) },
  postgres: {
    absent: async () =>
      (await absent.node()) ?? (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres)),
    async start() {
      const given = process.env.SESSIONS_TEST_POSTGRES
      if (given) return { env: { POSTGRES_TEST_SERVER: given } }
      const server = await startServer()
      return { env: { POSTGRES_TEST_SERVER: server.url }, crash: () => server.crash() }
    },
  },
  s3: {
    absent: async () => (await absent.node()) ?? absentFromSystem(system.s3),
    start: async () => ({ env: { S3_TEST_SERVER: JSON.stringify(await s3Server()) } }),
  },
}

/** The command and its arguments. */
export function linearCommand(adapter, args) {
  return fromSources(".tools/runtimes/linear/main.ts", "--adapter", adapter, ...args)
}
