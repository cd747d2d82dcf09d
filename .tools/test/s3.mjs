import { readdirSync } from "node:fs"
import { join } from "node:path"
import { fromSources } from "../lib/from-sources.mjs"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { absent } from "../lib/runtimes.mjs"
import { s3Server } from "../lib/s3-server.mjs"
import { root } from "../lib/workspace.mjs"
import { commands, entriesStep } from "./entries.mjs"
import { search } from "./search.mjs"

const folders = ["packages/s3", "examples/serverless", "examples/readme"].map((folder) =>
  join(root, folder, "test", "server"),
)

/** The tests that need a real S3 server: the entry files of a runtime, all on one server. */
export function onServer(runtime, minutes) {
  const reason = async () => (await absent[runtime]()) ?? absentFromSystem(system.s3)
  return entriesStep(`s3:${runtime}`, reason, minutes, () => ({
    files: folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(`.${runtime}.ts`))
        .map((name) => join(folder, name)),
    ),
    command: commands[runtime],
    env: async () => ({ S3_TEST_SERVER: JSON.stringify(await s3Server()) }),
  }))
}

/** Writers, readers and collectors over a store that loses and delays requests: appends, then documents and blobs. */
export const simulation = search({
  name: "s3:simulation",
  absent: absent.node,
  amount: { test: 200, deep: 10_000 },
  minutes: 12,
  whole: /^documents and blobs: acknowledged [1-9]\d*, indeterminate \d+, violations 0$/m,
  command: (seeds, first) =>
    fromSources("packages/s3/test/simulation/run.node.ts", "--seeds", seeds, "--first-seed", first),
})
