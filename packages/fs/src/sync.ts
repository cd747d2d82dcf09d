/** Making what was written lasting. */
import { dirname, join } from "node:path"
import type { Environment } from "./environment.ts"
import { type OpenLog, pathOf } from "./open-log.ts"
import { syncFile, syncFolder } from "./small-files.ts"

/** The parts, then the names that lead to them. Whoever wrote them: a sync is of the file, not of the descriptor. */
export async function syncSession(env: Environment, session: string): Promise<void> {
  const view = env.view(session)
  if (view === undefined) return
  for (const part of view.parts) await syncFile(env.files, join(view.folder, part.name))
  await syncFolder(env.files, view.folder)
  await syncFolder(env.files, dirname(view.folder))
}

/**
 * After a failed sync nothing since the last good one counts: the system takes the pages for clean, so a later sync proves nothing.
 * So the batch is cut off again, and the cut synced, before this rejects; `corrupt` where that failed, too.
 */
export async function syncBatch(
  env: Environment,
  session: string,
  log: OpenLog,
  before: { readonly size: number; readonly next: number },
): Promise<void> {
  const { files } = env
  try {
    await files.fdatasync(log.fd)
  } catch (error) {
    try {
      files.truncate(log.fd, before.size)
      await files.fdatasync(log.fd)
    } catch (second) {
      const what = "undo an append that could not be synced (open the storage anew to go on)"
      throw env.error(new AggregateError([error, second]), what, session, pathOf(log), "corrupt")
    }
    log.size = before.size
    log.next = before.next
    while ((log.marks.at(-1)?.offset ?? 0) > before.size) log.marks.pop()
    throw env.error(error, "sync the log", session, pathOf(log))
  }
}
