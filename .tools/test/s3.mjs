import { readdirSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { absent } from "../lib/runtimes.mjs"
import { runScript } from "../lib/run.mjs"
import { s3Server } from "../lib/s3-server.mjs"
import { manifest, root } from "../lib/workspace.mjs"
import { commands, entriesStep } from "./entries.mjs"
import { outcomeOf } from "./report.mjs"

const folders = ["packages/s3", "examples/serverless"].map((folder) => join(root, folder, "test", "server"))

/** The tests that need a real S3 server: the entry files of a runtime, all on one server. */
export function onServer(runtime) {
  const reason = async () => (await absent[runtime]()) ?? absentFromSystem(system.s3)
  return entriesStep(`s3:${runtime}`, reason, () => ({
    files: folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(`.${runtime}.ts`))
        .map((name) => join(folder, name)),
    ),
    command: commands[runtime],
    env: async () => ({ S3_TEST_SERVER: JSON.stringify(await s3Server()) }),
  }))
}

/** Each of its two worlds, appends as well as documents and blobs, is one test. */
export const simulation = {
  name: "s3:simulation",
  absent: absent.node,
  async run() {
    const result = await runScript(`${manifest.scripts["test:s3-simulation"]} --seeds 1000`)
    const worlds = [...result.output.matchAll(/^[a-z ]+: acknowledged \d+, indeterminate \d+, violations (\d+)$/gm)]
    const failed = worlds.filter(([, violations]) => violations !== "0").length
    const counted = worlds.length === 0 ? undefined : { passed: worlds.length - failed, failed, skipped: 0 }
    return { ...outcomeOf(counted, result), measured: worlds.map(([line]) => `${line} in 1,000 seeds`) }
  },
}
