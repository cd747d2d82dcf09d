// The adapters of `pnpm test:linear`: what each needs of the system, the environment of its run, and its command.
import { join } from "node:path"
import { absentFromSystem, system } from "./debian.mjs"
import { postgresUrl } from "./postgres-server.mjs"
import { absent, newestNode } from "./runtimes.mjs"
import { s3Server } from "./s3-server.mjs"
import { root } from "./workspace.mjs"

/** `absent()` returns the reason why an adapter cannot be run here, or undefined. */
export const linearAdapters = {
  files: { absent: absent.node },
  memory: { absent: absent.node },
  sqlite: { absent: absent.node },
  idb: { absent: async () => (await absent.node()) ?? absentFromSystem(system.chromium) },
  postgres: {
    absent: async () =>
      (await absent.node()) ?? (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres)),
    env: async () => ({ POSTGRES_TEST_SERVER: await postgresUrl() }),
  },
  s3: {
    absent: async () => (await absent.node()) ?? absentFromSystem(system.s3),
    env: async () => ({ S3_TEST_SERVER: JSON.stringify(await s3Server()) }),
  },
}

/** The command, its arguments and its environment. */
export async function linearCommand(adapter, args) {
  const program = join(root, ".tools", "runtimes", "linear", "main.ts")
  const flags = ["--conditions=source", "--import", join(root, ".tools", "typescript.mjs")]
  const env = await linearAdapters[adapter].env?.()
  return [newestNode(), [...flags, program, "--adapter", adapter, ...args], env]
}
