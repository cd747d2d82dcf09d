/** Removing what processes that ended left in the folders for new and for deleted ones. */
import { join } from "node:path"
import type { Environment } from "../environment.ts"
import { isMissing } from "../errors.ts"
import { interruptedSwaps } from "./swap.ts"

/** Nothing takes so long to build or to remove, and a clock may be set by hours. */
const LEFT_MS = 24 * 60 * 60 * 1000

/** What is older than a day, but for logs that a swap left aside: those are whole, and theirs to complete who opens the session. */
export async function sweepLeftovers(env: Environment): Promise<void> {
  for (const folder of [env.layout.trash, env.layout.fresh]) {
    const names = namesIn(env, folder)
    const swaps = new Set(interruptedSwaps(names).map((name) => `${name}.swap`))
    for (const name of names) {
      const path = join(folder, name)
      const age = Date.now() - (env.files.lstat(path)?.mtimeMs ?? Date.now())
      if (age > LEFT_MS && !swaps.has(name)) await env.files.remove(path)
    }
  }
}

function namesIn(env: Environment, folder: string): string[] {
  try {
    return env.files.readdir(folder).map((entry) => entry.name)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
