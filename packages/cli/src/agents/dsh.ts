/**
 * deepseek-harness: `sessions/<project>/<id>/session.jsonl.zstd`, and `session.v<n>.jsonl.zstd` for later generations of the log, of which the
 * highest one goes on. Without `.zstd` if the agent does not compress.
 */
import { join } from "node:path"
import { dsh } from "@sessions/formats/dsh"
import type { Agent } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const dshAgent: Agent = {
  format: dsh,
  sessions: ({ env, home }) =>
    sessionFiles(join(env["DSH_HOME"] || join(home, ".dsh"), "sessions"), (path, all) => {
      const [, folder, generation = "0"] = LOG.exec(path) ?? []
      const later = GENERATIONS.filter((other) => other > Number(generation))
      const isThere = (other: number): boolean =>
        ENDINGS.some((ending) => all.has(`${folder}/session.v${other}.${ending}`))
      return folder !== undefined && !later.some(isThere)
    }),
}

/** One more than are known, and some: a log of a later generation is refused, and the one before it is not the session any more. */
const GENERATIONS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9]

const ENDINGS: readonly string[] = ["jsonl.zstd", "jsonl"]

const LOG = /^([^/]+\/[^/]+)\/session(?:\.v(\d+))?\.jsonl(?:\.zstd)?$/
