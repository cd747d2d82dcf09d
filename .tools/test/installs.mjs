import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packAll } from "../checks/packed.mjs"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { postgresUrl } from "../lib/postgres-server.mjs"
import { absent } from "../lib/runtimes.mjs"
import { s3Server } from "../lib/s3-server.mjs"
import { root } from "../lib/workspace.mjs"
import { commands, entriesStep } from "./entries.mjs"

let folder

const step = entriesStep("installs", absent.node, 15, () => ({
  files: [join(root, "examples", "readme", "test", "installs", "installs.node.ts")],
  command: commands.node,
  env: async () => {
    const { tarballs, failure } = await packAll()
    if (failure !== undefined) throw new Error(failure)
    const hasDatabase = (await absentFromSystem(system.postgres)) === undefined
    const hasBucket = (await absentFromSystem(system.s3)) === undefined
    return {
      INSTALLS_FOLDER: folder,
      TARBALLS: JSON.stringify(tarballs),
      ...(hasDatabase && { POSTGRES_TEST_SERVER: await postgresUrl() }),
      ...(hasBucket && { S3_TEST_SERVER: JSON.stringify(await s3Server()) }),
    }
  },
}))

/** The install lines of all pages, each in an empty folder, from the packages as npm gets them and from the registry. */
export const installs = {
  ...step,
  async run(options) {
    folder = mkdtempSync(join(tmpdir(), "sessions-installs-"))
    // Also after a signal.
    const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    process.once("exit", remove)
    try {
      return await step.run(options)
    } finally {
      process.off("exit", remove)
      remove()
    }
  },
}
