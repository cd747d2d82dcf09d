/** Hints that a log grew, whoever wrote to it. */
import type { Environment } from "../environment.ts"
import type { SessionPaths } from "../disk/layout.ts"

/** How often to look where the system does not tell; it also catches what a system's notice may leave out. */
export const POLL_MS = 250

/** Rings at a notice of the system or of this storage, until the function that it gives is called. */
export function listen(env: Environment, { session, folder }: SessionPaths, ring: () => void): () => void {
  const watcher = watchFolder(env, folder, ring)
  const remove = env.bells.add(session, ring)
  return () => {
    watcher?.close()
    remove()
  }
}

/** Undefined where the system gives no notices (a network file system, no handles left): looking every {@link POLL_MS} does without. */
function watchFolder(
  env: Environment,
  folder: string,
  ring: () => void,
): ReturnType<Environment["files"]["watch"]> | undefined {
  try {
    return env.files.watch(folder, ring)
  } catch {
    return undefined
  }
}
